//! Files that are no files, and paths that change under way.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at the disk behind the provider's back")]

mod sandbox;

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use harness_fs::contract::Fixture;
use harness_fs::{EditRequest, FileSystem, FsError, TextWindow, WriteRequest};
use harness_fs_local::LocalFileSystem;
use sandbox::Sandbox;

/// A guard against hanging, not a measurement.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), work).await.unwrap()
}

async fn everything_is_refused(sandbox: &Sandbox, name: &str, code: &str) {
    let codes = soon(async {
        let path = sandbox.path(name).await;
        [
            sandbox.read(name).await.unwrap_err().code(),
            sandbox.files().read_bytes(&path, 10).await.unwrap_err().code(),
            sandbox.write(name, "x").await.unwrap_err().code(),
            sandbox.edit(name, "a", "x").await.unwrap_err().code(),
        ]
    })
    .await;
    assert_eq!(codes, [code; 4], "{name}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_pipe_is_refused_without_waiting_for_its_other_end() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let sandbox = Sandbox::default();
    mknodat(CWD, sandbox.at("pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    everything_is_refused(&sandbox, "pipe", "FS_NOT_REGULAR").await;
    let stat = sandbox.files().stat(&sandbox.path("pipe").await).await.unwrap();
    assert_eq!(stat.kind, harness_fs::FileKind::Other);
}

#[tokio::test]
async fn devices_and_sockets_are_refused() {
    let sandbox = Sandbox::default();
    let _socket = std::os::unix::net::UnixListener::bind(sandbox.at("socket")).unwrap();
    everything_is_refused(&sandbox, "socket", "FS_NOT_REGULAR").await;
    symlink("/dev/zero", sandbox.at("zero")).unwrap();
    everything_is_refused(&sandbox, "zero", "FS_NOT_REGULAR").await;
    everything_is_refused(&sandbox, "/dev/null", "FS_NOT_REGULAR").await;
    everything_is_refused(&sandbox, "/", "FS_IS_DIRECTORY").await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn files_that_the_kernel_makes_up_are_read_or_refused() {
    let sandbox = Sandbox::default();
    let status = soon(sandbox.read("/proc/self/status")).await.unwrap();
    assert!(status.slice.lines[0].text.starts_with("Name:"), "{status:?}");
    // Standard input by its name in /proc: a link that is none of the file system's.
    let input = soon(sandbox.files().resolve(&sandbox.root(), "/proc/self/fd/../fd")).await.unwrap();
    assert_eq!(input.kind(), Some(harness_fs::FileKind::Directory));
    assert_eq!(soon(sandbox.read("/proc/self/mem")).await.unwrap_err().code(), "FS_IO");
    if let Err(error) = soon(sandbox.read("/proc/kmsg")).await {
        assert!(["FS_IO", "FS_NOT_FOUND"].contains(&error.code()), "{error}");
    }
}

#[tokio::test]
async fn a_link_put_in_place_of_the_file_is_not_followed() {
    let sandbox = Sandbox::default();
    sandbox.plant("file", b"inside").await;
    sandbox.plant("outside", b"outside").await;
    let path = sandbox.path("file").await;
    fs::remove_file(sandbox.at("file")).unwrap();
    symlink("outside", sandbox.at("file")).unwrap();
    let files = sandbox.files();
    for error in [
        files.write_text(WriteRequest::new(path.clone(), "x")).await.unwrap_err(),
        files.edit_text(EditRequest::new(path.clone(), "outside", "x")).await.unwrap_err(),
        files.read_text(&path, TextWindow::default()).await.unwrap_err(),
        files.read_bytes(&path, 9).await.unwrap_err(),
        files.stat(&path).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), "FS_PATH_CHANGED", "{error}");
    }
    assert_eq!(fs::read(sandbox.at("outside")).unwrap(), b"outside");
}

#[tokio::test]
async fn a_link_put_in_place_of_a_directory_is_not_followed() {
    let sandbox = Sandbox::default();
    sandbox.plant("dir/sub/file", b"inside").await;
    sandbox.plant("outside/sub/file", b"outside").await;
    let (file, new) = (sandbox.path("dir/sub/file").await, sandbox.path("dir/sub/deep/new").await);
    let sub = sandbox.path("dir/sub").await;
    fs::rename(sandbox.at("dir"), sandbox.at("moved")).unwrap();
    symlink("outside", sandbox.at("dir")).unwrap();
    let files = sandbox.files();
    for error in [
        files.write_text(WriteRequest::new(file.clone(), "x")).await.unwrap_err(),
        files.write_text(WriteRequest::new(new, "x")).await.unwrap_err(),
        files.edit_text(EditRequest::new(file.clone(), "outside", "x")).await.unwrap_err(),
        files.read_text(&file, TextWindow::default()).await.unwrap_err(),
        files.list_dir(&sub, 9).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), "FS_PATH_CHANGED", "{error}");
    }
    assert_eq!(fs::read(sandbox.at("outside/sub/file")).unwrap(), b"outside");
    assert_eq!(sandbox::names(&sandbox.at("outside")), ["file", "sub"]);
}

#[tokio::test]
async fn a_huge_file_is_read_by_the_window_and_never_edited() {
    let sandbox = Sandbox::default();
    sandbox.plant("huge", "line\n".repeat(10_000).as_bytes()).await;
    // Ten gibibytes, nearly all of it a hole.
    fs::OpenOptions::new().write(true).open(sandbox.at("huge")).unwrap().set_len(10 << 30).unwrap();
    let path = sandbox.path("huge").await;
    let window = TextWindow { first_line: 9_000, max_lines: 2, ..TextWindow::default() };
    let page = soon(sandbox.files().read_text(&path, window)).await.unwrap();
    assert_eq!((page.slice.lines.len(), page.slice.next_line, page.size), (2, Some(9_002), 10 << 30));
    assert_eq!(soon(sandbox.files().read_bytes(&path, 4)).await.unwrap().bytes, b"line");
    let error = soon(sandbox.edit("huge", "line", "x")).await.unwrap_err();
    assert!(matches!(error, FsError::TooLarge { size, .. } if size == 10 << 30), "{error}");
    let outcome = soon(sandbox.write("huge", "small")).await.unwrap();
    assert_eq!((outcome.previous, outcome.created), (None, false));
}

#[tokio::test]
async fn a_write_goes_on_when_its_caller_stops_waiting() {
    let sandbox = Sandbox::default();
    let content = "x".repeat(1 << 22);
    let files = sandbox.files();
    let write = files.write_text(WriteRequest::new(sandbox.path("file").await, content.clone()));
    assert!(futures_util::FutureExt::now_or_never(write).is_none());
    // The next writer of the same file waits for the abandoned one.
    let outcome = soon(sandbox.write("file", "second")).await.unwrap();
    assert_eq!(outcome.previous.as_ref(), Some(&content));
    assert_eq!(sandbox.names(), ["file"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_of_one_file_wait_for_each_other() {
    let sandbox = Sandbox::default();
    let lines: Vec<String> = (10..60).map(|number| format!("<{number}>")).collect();
    sandbox.plant("file", lines.join("\n").as_bytes()).await;
    let edits = lines.iter().map(|line| sandbox.edit("file", line, "done"));
    for outcome in soon(futures_util::future::join_all(edits)).await {
        outcome.unwrap();
    }
    assert_eq!(fs::read_to_string(sandbox.at("file")).unwrap(), vec!["done"; 50].join("\n"));
}

#[tokio::test]
async fn the_plugin_provides_the_service() {
    let app = harness_kernel::App::default().with(harness_fs_local::FsLocal).start().await.unwrap();
    let files = app.ctx().service::<dyn FileSystem>().unwrap();
    assert!(files.resolve(std::path::Path::new("/"), ".").await.unwrap().exists());
    app.shutdown().await.unwrap();
    let _: LocalFileSystem = LocalFileSystem::default();
}
