//! Read before change.

use harness_fs::{Denial, EditDecision, FileAccess, FileKind, Seen, WriteDecision};

/// What a write needs, after what its owner last saw at the path.
pub(crate) fn write(access: &FileAccess, seen: Option<Seen>) -> WriteDecision {
    match (access.path().kind(), seen) {
        // Whatever was seen there is gone: nothing can be lost, and nothing that appears meanwhile shall be.
        (None, _) => WriteDecision::CreateOnly,
        (Some(FileKind::File), Some(Seen::Present(version))) => WriteDecision::AllowIf(version),
        (Some(FileKind::File), _) => WriteDecision::Deny(Denial::not_observed(access.path().display())),
        // Not a file: the provider says so better.
        (Some(_), _) => WriteDecision::Allow,
    }
}

/// What an edit needs, after what its owner last saw at the path.
pub(crate) fn edit(access: &FileAccess, seen: Option<Seen>) -> EditDecision {
    match (access.path().kind(), seen) {
        (Some(FileKind::File), Some(Seen::Present(version))) => EditDecision::AllowIf(version),
        (Some(FileKind::File), _) => EditDecision::Deny(Denial::not_observed(access.path().display())),
        // Not there, or not a file: the provider says so better.
        _ => EditDecision::Allow,
    }
}
