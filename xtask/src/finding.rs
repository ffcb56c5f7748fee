//! What a check found wrong, and where.
use std::fmt;

/// One thing to mend.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    /// About a line, counted from 1.
    pub(crate) fn at(path: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line, message: message.into() }
    }
    /// About a whole file or folder.
    pub(crate) fn whole(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(path, 0, message)
    }
}
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// Asserts that each expected text is part of some finding, and that there are no others.
#[cfg(test)]
#[track_caller]
pub(crate) fn assert_findings(found: &[Finding], expected: &[&str]) {
    let shown: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), expected.len(), "found {shown:#?}");
    for text in expected {
        assert!(shown.iter().any(|line| line.contains(text)), "no finding has {text:?} in {shown:#?}");
    }
}
