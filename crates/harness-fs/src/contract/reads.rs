//! Reading.

use super::Fixture;
use super::fixture::refused;
use crate::{FileKind, TextWindow};

/// Text comes in lines without their endings, with what is needed to read on and to guard a later change.
pub async fn a_window_is_read_with_its_version(fixture: &dyn Fixture) {
    fixture.plant("file", "\u{feff}one\r\ntwo\r\nthree".as_bytes()).await;
    let path = fixture.path("file").await;
    let window = TextWindow { max_lines: 2, ..TextWindow::default() };
    let page = fixture.files().read_text(&path, window).await.unwrap();
    let texts: Vec<_> = page.slice.lines.iter().map(|line| (line.number, line.text.as_str())).collect();
    assert_eq!((texts, page.slice.next_line), (vec![(1, "one"), (2, "two")], Some(3)));
    assert_eq!(
        (page.size, page.version, page.slice.byte_order_mark),
        (18, fixture.version("file").await, true)
    );
    let rest = fixture.files().read_text(&path, TextWindow::starting_at(3)).await.unwrap().slice;
    assert_eq!((rest.lines[0].text.as_str(), rest.total_lines, rest.next_line), ("three", Some(3), None));
    fixture.plant("empty", b"").await;
    let empty = fixture.files().read_text(&fixture.path("empty").await, TextWindow::default()).await.unwrap();
    assert_eq!((empty.slice.lines.len(), empty.slice.total_lines, empty.size), (0, Some(0), 0));
}

/// Nothing at all, and a directory, each have their code.
pub async fn missing_and_wrong_kinds_are_refused(fixture: &dyn Fixture) {
    fixture.plant("dir/file", b"x").await;
    let (files, absent, dir) = (fixture.files(), fixture.path("absent").await, fixture.path("dir").await);
    let error = refused(files.read_text(&absent, TextWindow::default()).await, "FS_NOT_FOUND");
    assert!(error.to_string().contains("absent"), "{error}");
    refused(files.read_bytes(&absent, 9).await, "FS_NOT_FOUND");
    refused(files.stat(&absent).await, "FS_NOT_FOUND");
    refused(files.list_dir(&absent, 9).await, "FS_NOT_FOUND");
    refused(files.read_text(&dir, TextWindow::default()).await, "FS_IS_DIRECTORY");
    refused(files.read_bytes(&dir, 9).await, "FS_IS_DIRECTORY");
    refused(files.list_dir(&fixture.path("dir/file").await, 9).await, "FS_NOT_DIRECTORY");
    let deep = fixture.path("no/such/dir").await;
    refused(files.read_text(&deep, TextWindow::default()).await, "FS_NOT_FOUND");
}

/// A NUL near the start, and invalid UTF-8 in the window.
pub async fn binary_files_are_refused(fixture: &dyn Fixture) {
    fixture.plant("nul", b"a\0b").await;
    fixture.plant("latin", b"caf\xe9\n").await;
    for name in ["nul", "latin"] {
        let path = fixture.path(name).await;
        refused(fixture.files().read_text(&path, TextWindow::default()).await, "FS_NOT_TEXT");
    }
    let bytes = fixture.files().read_bytes(&fixture.path("nul").await, 9).await.unwrap();
    assert_eq!(bytes.bytes, b"a\0b");
}

/// Bytes come as they are, and say whether there are more.
pub async fn bytes_are_read_up_to_the_limit(fixture: &dyn Fixture) {
    fixture.plant("file", b"\xff\0ab").await;
    let path = fixture.path("file").await;
    for (limit, expected, truncated) in [(0, &b""[..], true), (3, b"\xff\0a", true), (4, b"\xff\0ab", false)]
    {
        let read = fixture.files().read_bytes(&path, limit).await.unwrap();
        assert_eq!((&*read.bytes, read.truncated), (expected, truncated), "limit {limit}");
        assert_eq!(read.version, fixture.version("file").await);
    }
}

/// Names come sorted; a limit keeps the first ones and the count.
pub async fn directories_are_listed_in_order(fixture: &dyn Fixture) {
    for name in ["dir/b", "dir/a", "dir/C", "dir/sub/x", "dir/ä"] {
        fixture.plant(name, b"").await;
    }
    let path = fixture.path("dir").await;
    let list = fixture.files().list_dir(&path, 100).await.unwrap();
    let names: Vec<_> = list.entries.iter().map(|entry| entry.name.to_str().unwrap()).collect();
    assert_eq!((names, list.total), (vec!["C", "a", "b", "sub", "ä"], 5));
    assert_eq!((list.entries[2].kind, list.entries[3].kind), (FileKind::File, FileKind::Directory));
    let list = fixture.files().list_dir(&path, 2).await.unwrap();
    let names: Vec<_> = list.entries.iter().map(|entry| entry.name.to_str().unwrap()).collect();
    assert_eq!((names, list.total), (vec!["C", "a"], 5));
}
