//! Finds the shell.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use harness_bash::{BashError, Shell, ShellKind};
use rustix::fs::Access;

/// Searched after `PATH`: a program may be started with next to no environment.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// bash if there is one, else sh. Relative entries of `PATH` are passed over: they would make the working directory
/// decide what runs.
pub(crate) fn find_shell(environment: &[(OsString, OsString)]) -> Result<Shell, BashError> {
    let path = environment.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    find_in(path.unwrap_or_default(), USUAL)
}

fn find_in(path: &OsStr, usual: &str) -> Result<Shell, BashError> {
    let folders = || folders(path).chain(folders(OsStr::new(usual)));
    let find = |kind: ShellKind| {
        let candidates = folders().map(|folder| folder.join(kind.to_string()));
        candidates.into_iter().find(|path| is_executable(path)).map(|path| Shell { kind, path })
    };
    find(ShellKind::Bash).or_else(|| find(ShellKind::Sh)).ok_or_else(|| {
        let searched: Vec<String> = folders().map(|folder| folder.display().to_string()).collect();
        BashError::ShellNotFound { searched: searched.join(":") }
    })
}

fn folders(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    let entries =
        path.as_bytes().split(|byte| *byte == b':').map(|entry| PathBuf::from(OsStr::from_bytes(entry)));
    entries.filter(|folder| folder.is_absolute())
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files")]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn found(folders: &[&Path]) -> Option<Shell> {
        let path: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        find_in(OsStr::new(&path.join(":")), "").ok()
    }

    #[test]
    fn bash_anywhere_comes_before_sh_and_earlier_folders_before_later_ones() {
        let root = tempfile::tempdir().unwrap();
        let [only_sh, both, later] = ["a", "b", "c"].map(|name| root.path().join(name));
        for folder in [&only_sh, &both, &later] {
            std::fs::create_dir_all(folder).unwrap();
            symlink("/bin/sh", folder.join("sh")).unwrap();
        }
        assert_eq!(found(&[&only_sh]), Some(Shell { kind: ShellKind::Sh, path: only_sh.join("sh") }));
        symlink("/bin/sh", both.join("bash")).unwrap();
        symlink("/bin/sh", later.join("bash")).unwrap();
        let bash = Shell { kind: ShellKind::Bash, path: both.join("bash") };
        assert_eq!(found(&[&only_sh, &both, &later]), Some(bash));
    }

    #[test]
    fn what_cannot_be_run_is_no_shell_and_the_error_says_where_was_searched() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("bash"), "").unwrap();
        std::fs::set_permissions(root.path().join("bash"), std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::create_dir_all(root.path().join("sh")).unwrap();
        let path = format!("relative::{}", root.path().display());
        let error = find_in(OsStr::new(&path), "").unwrap_err();
        let expected = format!(
            "no shell found: neither bash nor sh is in {}; install one or correct PATH",
            root.path().display()
        );
        assert_eq!((error.code(), error.to_string()), ("BASH_SHELL_NOT_FOUND", expected));
    }
}
