//! Extended attributes that follow the content to its new file.

use std::fs::File;

use rustix::io::Errno;

/// Access lists, and what users attach to files themselves. Labels of the system are set by the system.
fn is_kept(name: &[u8]) -> bool {
    name == b"system.posix_acl_access" || name.starts_with(b"user.")
}

/// Copies access list and user attributes; a file system without them has nothing to copy.
pub(crate) fn copy(from: &File, to: &File) -> Result<(), Errno> {
    let Some(names) = all(|buffer| rustix::fs::flistxattr(from, buffer))? else { return Ok(()) };
    for name in names.split(|byte| *byte == 0).filter(|name| is_kept(name)) {
        let Some(value) = all(|buffer| rustix::fs::fgetxattr(from, name, buffer))? else { continue };
        rustix::fs::fsetxattr(to, name, &value, rustix::fs::XattrFlags::empty())?;
    }
    Ok(())
}

/// Calls until the buffer is large enough; `None` where there is nothing.
fn all(mut get: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Option<Vec<u8>>, Errno> {
    let mut buffer = vec![0; 256];
    loop {
        match get(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(Some(buffer));
            }
            Err(Errno::RANGE) => buffer.resize(buffer.len() * 4, 0),
            Err(Errno::NOTSUP | Errno::NOSYS | Errno::NODATA) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}
