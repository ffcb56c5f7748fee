#![doc = include_str!("../README.md")]

mod bytes;
#[cfg(feature = "contract")]
pub mod contract;
mod directory;
mod edit;
mod error;
mod path;
mod policy;
mod service;
mod text;
mod version;
mod write;

pub use bytes::FileBytes;
pub use directory::{DirectoryEntry, DirectoryList};
pub use edit::{
    Changes, DiffLine, EditOutcome, EditRefusal, EditRequest, Edited, Hunk, MAX_EDIT_BYTES,
    MAX_REPORTED_LINES, NearMiss, apply_edit,
};
pub use error::FsError;
pub use path::{FileKind, FileStat, ResolvedPath};
pub use policy::{
    Denial, EditDecision, EditIntent, FileAccess, Observed, Owner, ReadDecision, ReadIntent, Seen, Workspace,
    WriteDecision, WriteIntent,
};
pub use service::FileSystem;
pub use text::{
    BINARY_PROBE_BYTES, LineEnding, LineEndings, NotText, ScanError, TextLine, TextPage, TextSlice,
    TextWindow, decode_text, scan_text,
};
pub use version::Version;
pub use write::{Format, MAX_PREVIOUS_BYTES, Precondition, WriteOutcome, WriteRequest, keep_format};
