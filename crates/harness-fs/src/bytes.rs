//! Raw content.

use crate::Version;

/// The head of a file as raw bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// At most the asked number of bytes, from the start.
    pub bytes: Vec<u8>,
    /// Whether the file goes on after them.
    pub truncated: bool,
    /// The state that was read.
    pub version: Version,
}
