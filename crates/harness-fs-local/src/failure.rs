//! From the system's error numbers to errors of the seam.

use harness_fs::{FsError, ResolvedPath};
use rustix::io::Errno;

/// What an error number means for an operation on the file or directory that `path` names.
pub(crate) fn failure(path: &ResolvedPath, operation: &'static str, errno: Errno) -> FsError {
    let path = path.display().to_owned();
    match errno {
        Errno::NOENT => FsError::NotFound { path },
        Errno::ISDIR => FsError::IsDirectory { path },
        Errno::NOTDIR => FsError::NotDirectory { path },
        // Only from a link that stands where resolution found none: links are never followed here.
        Errno::LOOP => FsError::PathChanged { path },
        errno => FsError::Io { path, operation, source: errno.into() },
    }
}
