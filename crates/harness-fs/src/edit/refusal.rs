//! Why an edit does not apply.

use super::NearMiss;

/// Why an edit does not apply to a text. The text is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditRefusal {
    /// There is nothing to look for.
    #[error("the text to replace is empty; give the exact text, or write the whole file")]
    EmptyOldString,
    /// Nothing would change.
    #[error("the replacement equals the text that it replaces (line endings aside: a file keeps its own)")]
    NoChange,
    /// The text does not occur.
    #[error("the text to replace was not found{}", near.as_ref().map(|near| format!("; {near}")).unwrap_or_default())]
    NoMatch {
        /// The place that comes closest, if one does.
        near: Option<NearMiss>,
    },
    /// The text occurs more than once and one occurrence was meant.
    #[error(
        "the text to replace occurs {count} times, at lines {}; \
         add surrounding lines until it is unique, or replace all occurrences",
        list(lines, *count)
    )]
    AmbiguousMatch {
        /// How often.
        count: usize,
        /// Lines, counted from one, at which the first [`MAX_REPORTED_LINES`](super::MAX_REPORTED_LINES) occurrences
        /// start.
        lines: Vec<u64>,
    },
}

impl EditRefusal {
    /// A stable identifier, as [`FsError::code`](crate::FsError::code) passes it on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EmptyOldString => "FS_EMPTY_OLD_STRING",
            Self::NoChange => "FS_NO_CHANGE",
            Self::NoMatch { .. } => "FS_NO_MATCH",
            Self::AmbiguousMatch { .. } => "FS_AMBIGUOUS_MATCH",
        }
    }
}

fn list(lines: &[u64], count: usize) -> String {
    let mut text = lines.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    if count > lines.len() {
        text += ", …";
    }
    text
}
