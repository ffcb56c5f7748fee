//! Failures that need a process of their own: limits, another user, another umask.
//!
//! A test whose name starts with `child_` does nothing by itself: the test before it runs it in a child process.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the disk behind the provider's back and start children"
)]

mod sandbox;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness_fs::contract::Fixture;
use harness_fs::{EditRequest, FileSystem, FsError, WriteRequest};
use harness_fs_local::LocalFileSystem;
use sandbox::Sandbox;

const DIRECTORY: &str = "HARNESS_FS_LOCAL_TEST_DIRECTORY";
const NOBODY: u32 = 65_534;

/// Runs one test of this binary in a child, after the shell has done `setup`. `None` if that user cannot run it.
#[track_caller]
fn run_child(test: &str, setup: &str, user: Option<u32>, directory: &Path) -> Option<()> {
    let mut command = Command::new("sh");
    let script = format!("{setup}; exec \"$0\" --exact {test} --nocapture");
    command.args(["-c", &script]).arg(std::env::current_exe().unwrap()).env(DIRECTORY, directory);
    if let Some(user) = user {
        command.uid(user).gid(user).current_dir("/");
        let probe =
            Command::new("test").arg("-x").arg(std::env::current_exe().unwrap()).uid(user).gid(user).status();
        if !probe.is_ok_and(|status| status.success()) {
            return None;
        }
    }
    let output = command.output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && report.contains("1 passed"), "{report}");
    Some(())
}

/// The directory that the parent has prepared; `None` outside a child.
fn prepared() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY).map(PathBuf::from)
}

async fn write(directory: &Path, name: &str, content: &str) -> Result<(), FsError> {
    let files = LocalFileSystem::default();
    let path = files.resolve(directory, name).await.unwrap();
    files.write_text(WriteRequest::new(path, content)).await.map(drop)
}

async fn edit(directory: &Path, name: &str, old: &str, new: &str) -> Result<(), FsError> {
    let files = LocalFileSystem::default();
    let path = files.resolve(directory, name).await.unwrap();
    files.edit_text(EditRequest::new(path, old, new)).await.map(drop)
}

#[tokio::test]
async fn a_full_disk_leaves_the_old_bytes() {
    let sandbox = Sandbox::default();
    for name in ["file", "h0"] {
        sandbox.plant(name, b"old").await;
    }
    fs::hard_link(sandbox.at("h0"), sandbox.at("hl")).unwrap();
    // 8 blocks of 512 or 1,024 bytes, by the shell's taste. The signal is ignored, so that the write itself fails.
    run_child("child_at_its_file_size_limit", "trap '' XFSZ; ulimit -f 8", None, &sandbox.root()).unwrap();
    for name in ["file", "h0", "hl"] {
        assert_eq!(fs::read(sandbox.at(name)).unwrap(), b"old", "{name}");
    }
    assert_eq!(sandbox.names(), ["file", "h0", "hl"]);
}

#[tokio::test]
async fn child_at_its_file_size_limit() {
    let Some(directory) = prepared() else { return };
    let large = "x".repeat(100_000);
    for error in [
        write(&directory, "file", &large).await.unwrap_err(),
        edit(&directory, "file", "old", &large).await.unwrap_err(),
        write(&directory, "new", &large).await.unwrap_err(),
        write(&directory, "h0", &large).await.unwrap_err(),
        edit(&directory, "hl", "old", &large).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), "FS_IO", "{error}");
        let text = error.to_string();
        assert!(["file", "new", "h0", "hl"].iter().any(|name| text.contains(&format!(" {name}:"))), "{text}");
    }
    write(&directory, "file", "old").await.unwrap();
}

#[tokio::test]
async fn the_umask_narrows_a_new_file() {
    let sandbox = Sandbox::default();
    run_child("child_writes_new_files", "umask 022", None, &sandbox.root()).unwrap();
    fs::create_dir(sandbox.at("narrow")).unwrap();
    run_child("child_writes_new_files", "umask 077", None, &sandbox.at("narrow")).unwrap();
    let mode = |name: &str| fs::metadata(sandbox.at(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("new"), mode("dir"), mode("dir/new")), (0o644, 0o755, 0o644));
    assert_eq!((mode("narrow/new"), mode("narrow/dir"), mode("narrow/dir/new")), (0o600, 0o700, 0o600));
}

#[tokio::test]
async fn child_writes_new_files() {
    let Some(directory) = prepared() else { return };
    write(&directory, "new", "x").await.unwrap();
    write(&directory, "dir/new", "x").await.unwrap();
}

/// Permission bits bind everybody but root: the tests run as root often enough, so the child is somebody else.
#[tokio::test]
async fn permissions_are_respected() {
    let sandbox = Sandbox::default();
    sandbox.plant("closed/writable", b"old").await;
    for name in ["readonly", "unreadable", "open", "anyone"] {
        sandbox.plant(name, b"old").await;
    }
    sandbox.plant("secret/file", b"old").await;
    for (name, mode) in [
        ("closed/writable", 0o666),
        ("closed", 0o555),
        ("readonly", 0o444),
        ("unreadable", 0o222),
        ("open", 0o6664),
        ("anyone", 0o676),
        ("secret", 0o700),
    ] {
        fs::set_permissions(sandbox.at(name), Permissions::from_mode(mode)).unwrap();
    }
    if chown(sandbox.at("open"), None, Some(NOBODY)).is_err() {
        eprintln!("skipped: only root can become somebody else");
        return;
    }
    fs::set_permissions(sandbox.at("open"), Permissions::from_mode(0o6664)).unwrap();
    fs::set_permissions(sandbox.root(), Permissions::from_mode(0o777)).unwrap();
    if run_child("child_without_privileges", "umask 022", Some(NOBODY), &sandbox.root()).is_none() {
        eprintln!("skipped: another user cannot run this test's binary");
        return;
    }
    let text = |name: &str| fs::read_to_string(sandbox.at(name)).unwrap();
    // A directory that takes no new file: written in place.
    assert_eq!(text("closed/writable"), "a longer new text");
    assert_eq!((text("readonly").as_str(), text("unreadable").as_str()), ("old", "new"));
    // It has changed hands, so it lets nobody act in its owner's name any more.
    assert_eq!(text("open"), "new");
    let mode = |name: &str| fs::metadata(sandbox.at(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("open"), 0o664);
    // Its group is another one now, and may no more than everybody.
    assert_eq!((text("anyone").as_str(), mode("anyone")), ("new", 0o666));
    assert_eq!(
        sandbox.names(),
        ["anyone", "closed", "file", "open", "readonly", "secret", "unreadable", "writable"],
    );
}

#[tokio::test]
async fn child_without_privileges() {
    let Some(directory) = prepared() else { return };
    edit(&directory, "closed/writable", "old", "a longer new text").await.unwrap();
    for error in [
        write(&directory, "closed/new", "x").await.unwrap_err(),
        write(&directory, "readonly", "x").await.unwrap_err(),
        edit(&directory, "readonly", "old", "x").await.unwrap_err(),
        edit(&directory, "unreadable", "old", "x").await.unwrap_err(),
    ] {
        assert_eq!(error.code(), "FS_IO", "{error}");
        assert!(error.to_string().contains("denied"), "{error}");
    }
    let hidden = LocalFileSystem::default().resolve(&directory, "secret/file").await.unwrap_err();
    assert_eq!(hidden.code(), "FS_IO", "{hidden}");
    write(&directory, "unreadable", "new").await.unwrap();
    write(&directory, "open", "new").await.unwrap();
    write(&directory, "anyone", "new").await.unwrap();
}
