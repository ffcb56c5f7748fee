//! A request that has arrived whole.

use bytes::Bytes;

/// A request as parsed; header values that are not UTF-8 are made so with replacement characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query as sent.
    pub(crate) target: String,
    /// HTTP/1.1, not 1.0.
    pub(crate) is_http11: bool,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

impl Request {
    /// The first header of this name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// True if a comma-separated header lists this word.
    pub(crate) fn header_lists(&self, name: &str, word: &str) -> bool {
        let values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        values.flat_map(|(_, value)| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case(word))
    }

    /// The path without the query.
    pub(crate) fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// True if the client wants to use the connection again.
    pub(crate) fn keeps_alive(&self) -> bool {
        self.is_http11 && !self.header_lists("connection", "close")
    }
}
