//! New content beside its target, until it takes the target's name.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RawMode, RenameFlags, Uid};
use rustix::io::Errno;

use crate::attributes;
use crate::directory::Directory;
use crate::state::State;

/// Readable by all and writable by the owner, before the process's umask.
const NEW_FILE_MODE: RawMode = 0o644;
/// While the content of an existing file is being written, nobody else may read it.
const PRIVATE_MODE: RawMode = 0o600;
const ATTEMPTS: usize = 16;

/// A temporary file; it is removed unless it takes its target's name.
pub(crate) struct Staged<'a> {
    directory: &'a Directory,
    name: String,
    file: File,
    published: bool,
}

impl<'a> Staged<'a> {
    /// Makes a file that nobody else can have opened before.
    pub(crate) fn create(directory: &'a Directory, existing: Option<&State>) -> Result<Self, Errno> {
        let mode = Mode::from_raw_mode(if existing.is_some() { PRIVATE_MODE } else { NEW_FILE_MODE });
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut attempts = 0;
        loop {
            // Each state is keyed at random: its hash of nothing is a random number.
            let name = format!(".harness-{:016x}.tmp", RandomState::new().build_hasher().finish());
            match rustix::fs::openat(directory.fd(), &name, flags, mode) {
                Err(Errno::EXIST) if attempts < ATTEMPTS => attempts += 1,
                Err(error) => return Err(error),
                Ok(fd) => return Ok(Self { directory, name, file: File::from(fd), published: false }),
            }
        }
    }

    pub(crate) fn write(&mut self, content: &[u8]) -> Result<(), Errno> {
        self.file.write_all(content).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }

    /// Takes over owner, mode and attributes of the file that will be replaced. Giving files away is a privilege:
    /// without it, the file changes hands, and loses what it would have let others do in the name of its owner.
    pub(crate) fn dress_like(&self, existing: &State, old: Option<&File>) -> Result<(), Errno> {
        let own = rustix::fs::fstat(&self.file)?;
        let (uid, gid) = (existing.0.st_uid, existing.0.st_gid);
        let mut mode = Mode::from_raw_mode(existing.0.st_mode) & Mode::from_raw_mode(0o7777);
        if (own.st_uid, own.st_gid) != (uid, gid) {
            let given = rustix::fs::fchown(&self.file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
            if given.is_err() {
                let group = rustix::fs::fchown(&self.file, None, Some(Gid::from_raw(gid)));
                mode &= !(Mode::SUID | Mode::SGID);
                if group.is_err() {
                    // Its group is another one now, which gets no more than everybody.
                    let everybody = (mode & Mode::RWXO).as_raw_mode();
                    mode &= Mode::RWXU | Mode::RWXO | Mode::SVTX | Mode::from_raw_mode(everybody << 3);
                }
            }
        }
        rustix::fs::fchmod(&self.file, mode)?;
        if let Some(old) = old { attributes::copy(old, &self.file) } else { Ok(()) }
    }

    pub(crate) fn sync(&self) -> Result<(), Errno> {
        rustix::fs::fsync(&self.file)
    }

    /// Takes the name, whoever has it.
    pub(crate) fn rename_over(&mut self, name: &OsStr) -> Result<(), Errno> {
        rustix::fs::renameat(self.directory.fd(), &self.name, self.directory.fd(), name)?;
        self.published = true;
        Ok(())
    }

    /// Takes the name if nobody has it, else `EXIST`.
    pub(crate) fn rename_if_absent(&mut self, name: &OsStr) -> Result<(), Errno> {
        let directory = self.directory.fd();
        match rustix::fs::renameat_with(directory, &self.name, directory, name, RenameFlags::NOREPLACE) {
            // Not every file system can.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.link_if_absent(name),
            result => {
                result?;
                self.published = true;
                Ok(())
            }
        }
    }

    /// The same by a second name, which is never given twice; the first one goes when this value does.
    fn link_if_absent(&mut self, name: &OsStr) -> Result<(), Errno> {
        let directory = self.directory.fd();
        rustix::fs::linkat(directory, &self.name, directory, name, AtFlags::empty())
    }

    /// The state under whatever name it has now.
    pub(crate) fn state(&mut self) -> Result<State, Errno> {
        self.remove()?;
        Ok(State(rustix::fs::fstat(&self.file)?))
    }

    fn remove(&mut self) -> Result<(), Errno> {
        if !std::mem::replace(&mut self.published, true) {
            rustix::fs::unlinkat(self.directory.fd(), &self.name, AtFlags::empty())?;
        }
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // The failure that leads here has been reported already; a second one would hide it.
        let _ = self.remove();
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the disk themselves")]
mod tests {
    use std::ffi::OsStr;
    use std::fs;

    use rustix::io::Errno;

    use super::Staged;
    use crate::directory::Directory;

    type Publish = fn(&mut Staged<'_>, &OsStr) -> Result<(), Errno>;

    #[test]
    fn a_name_that_is_taken_is_never_replaced_and_nothing_is_left() {
        let ways: [Publish; 2] =
            [|staged, name| staged.rename_if_absent(name), |staged, name| staged.link_if_absent(name)];
        for publish in ways {
            let root = tempfile::tempdir().unwrap();
            let directory = Directory::open(&fs::canonicalize(root.path()).unwrap(), false).unwrap();
            for (content, expected) in [("one", Ok(())), ("two", Err(Errno::EXIST))] {
                let mut staged = Staged::create(&directory, None).unwrap();
                staged.write(content.as_bytes()).unwrap();
                assert_eq!(publish(&mut staged, OsStr::new("file")), expected);
                let state = staged.state().unwrap();
                assert_eq!((state.size(), state.is_hard_linked()), (3, false));
            }
            assert_eq!(fs::read(root.path().join("file")).unwrap(), b"one");
            assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
        }
    }
}
