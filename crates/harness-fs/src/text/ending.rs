//! Line endings.

use std::borrow::Cow;

/// The byte order mark that some editors put in front of UTF-8 text.
pub(crate) const BOM: char = '\u{feff}';

/// How a line ends. A lone carriage return is an ordinary character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineEnding {
    /// `\n`.
    Lf,
    /// `\r\n`.
    CrLf,
}

impl LineEnding {
    /// The bytes of this ending.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// How many lines of a text end in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineEndings {
    /// Lines that end in `\n` alone.
    pub lf: u64,
    /// Lines that end in `\r\n`.
    pub crlf: u64,
}

impl LineEndings {
    /// Counts the endings of `text`.
    pub fn of(text: &str) -> Self {
        let mut endings = Self::default();
        for at in memchr::memchr_iter(b'\n', text.as_bytes()) {
            endings.count(at > 0 && text.as_bytes()[at - 1] == b'\r');
        }
        endings
    }

    pub(crate) fn count(&mut self, crlf: bool) {
        if crlf {
            self.crlf += 1;
        } else {
            self.lf += 1;
        }
    }

    /// The more frequent ending; LF when both are equally frequent, nothing for a text of one line.
    pub fn dominant(self) -> Option<LineEnding> {
        match (self.lf, self.crlf) {
            (0, 0) => None,
            (lf, crlf) if crlf > lf => Some(LineEnding::CrLf),
            _ => Some(LineEnding::Lf),
        }
    }

    /// The ending that all lines share, if they do.
    pub fn only(self) -> Option<LineEnding> {
        self.dominant().filter(|_| self.lf == 0 || self.crlf == 0)
    }
}

/// `text` with every `\r\n` as `\n`.
pub(crate) fn to_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// `text` with every `\n` as `\r\n`; an ending that is CRLF already stays.
pub(crate) fn to_crlf(text: &str) -> String {
    to_lf(text).replace('\n', "\r\n")
}
