//! Whole-file writes.

use super::Fixture;
use super::fixture::refused;
use crate::{Format, Precondition};

/// Missing directories on the way are made.
pub async fn a_file_is_created_with_its_directories(fixture: &dyn Fixture) {
    let outcome = fixture.write("a/b/new", "text\n", |write| write).await.unwrap();
    assert_eq!((outcome.created, outcome.previous, outcome.size), (true, None, 5));
    fixture.holds("a/b/new", "text\n").await;
    assert_eq!(outcome.version, fixture.version("a/b/new").await);
}

/// The old text comes back, if it was text.
pub async fn a_file_is_replaced_and_the_old_text_returned(fixture: &dyn Fixture) {
    fixture.plant("file", b"old\r\n").await;
    let outcome = fixture.write("file", "new\n", |write| write).await.unwrap();
    assert_eq!((outcome.created, outcome.previous.as_deref()), (false, Some("old\r\n")));
    assert_eq!(outcome.version, fixture.version("file").await);
    fixture.holds("file", "new\n").await;
    fixture.plant("binary", b"\0").await;
    assert_eq!(fixture.write("binary", "text", |write| write).await.unwrap().previous, None);
    fixture.holds("binary", "text").await;
    fixture.write("file", "", |write| write).await.unwrap();
    fixture.holds("file", "").await;
}

/// Create-only makes a new file and never touches an old one, even one that appeared after resolution.
pub async fn create_only_spares_what_exists(fixture: &dyn Fixture) {
    let create = |write: crate::WriteRequest| write.with_precondition(Precondition::CreateOnly);
    let path = fixture.path("file").await;
    assert!(fixture.write("file", "one", create).await.unwrap().created);
    let error = refused(fixture.write("file", "two", create).await, "FS_ALREADY_EXISTS");
    assert!(error.to_string().contains("read it first"), "{error}");
    let late = fixture.files().write_text(create(crate::WriteRequest::new(path, "three"))).await;
    refused(late, "FS_ALREADY_EXISTS");
    fixture.holds("file", "one").await;
}

/// A guarded write happens over the very state it names, and over nothing else.
pub async fn a_guarded_write_needs_the_same_state(fixture: &dyn Fixture) {
    fixture.plant("file", b"one").await;
    let first = fixture.version("file").await;
    let guard = Precondition::ReplaceVersion(first);
    let guarded = |write: crate::WriteRequest| write.with_precondition(guard.clone());
    assert!(!fixture.write("file", "two", guarded).await.unwrap().created);
    let error = refused(fixture.write("file", "three", guarded).await, "FS_STALE");
    assert!(error.to_string().contains("read it again"), "{error}");
    fixture.holds("file", "two").await;
    refused(fixture.write("absent", "x", guarded).await, "FS_STALE");
    assert_eq!(fixture.peek("absent").await, None);
}

/// The same state has the same version, another state another.
pub async fn versions_follow_the_content(fixture: &dyn Fixture) {
    fixture.plant("file", b"one").await;
    let first = fixture.version("file").await;
    assert_eq!(fixture.version("file").await, first);
    fixture.files().read_bytes(&fixture.path("file").await, 9).await.unwrap();
    assert_eq!(fixture.version("file").await, first);
    fixture.plant("file", b"two").await;
    let second = fixture.version("file").await;
    assert_ne!(second, first);
    let third = fixture.write("file", "six", |write| write).await.unwrap().version;
    assert_ne!(third, second);
    assert_eq!(fixture.version("file").await, third);
}

/// With `Format::Keep`, a CRLF file with a byte order mark stays one; without, content is verbatim.
pub async fn the_format_is_kept_on_demand(fixture: &dyn Fixture) {
    let keep = |write: crate::WriteRequest| write.with_format(Format::Keep);
    fixture.plant("file", "\u{feff}a\r\nb\r\n".as_bytes()).await;
    assert!(fixture.write("file", "x\ny\n", keep).await.unwrap().format_kept);
    fixture.holds("file", "\u{feff}x\r\ny\r\n").await;
    assert!(!fixture.write("file", "x\n", |write| write).await.unwrap().format_kept);
    fixture.holds("file", "x\n").await;
    assert!(!fixture.write("new", "x\n", keep).await.unwrap().format_kept);
    fixture.holds("new", "x\n").await;
}

/// A directory is no target, nor is what lies below a file.
pub async fn wrong_targets_are_refused_and_unchanged(fixture: &dyn Fixture) {
    fixture.plant("dir/file", b"x").await;
    refused(fixture.write("dir", "y", |write| write).await, "FS_IS_DIRECTORY");
    let below = fixture.path("absent/below").await;
    fixture.plant("absent", b"x").await;
    let write = fixture.files().write_text(crate::WriteRequest::new(below, "y")).await;
    refused(write, "FS_NOT_DIRECTORY");
    fixture.holds("dir/file", "x").await;
    fixture.holds("absent", "x").await;
}

/// Writing through a link changes its target and leaves the link one; a dangling link gets its target.
pub async fn a_write_goes_through_a_link(fixture: &dyn Fixture) {
    fixture.plant("real/file", b"old").await;
    if !fixture.plant_link("link", "real/file").await {
        return;
    }
    fixture.plant_link("dangling", "real/new").await;
    fixture.write("link", "new", |write| write).await.unwrap();
    fixture.edit("link", "new", "edited", |edit| edit).await.unwrap();
    fixture.holds("real/file", "edited").await;
    assert!(fixture.write("dangling", "made", |write| write).await.unwrap().created);
    fixture.holds("real/new", "made").await;
    let list = fixture.files().list_dir(&fixture.path(".").await, 9).await.unwrap();
    let links = list.entries.iter().filter(|entry| entry.kind == crate::FileKind::Symlink).count();
    assert_eq!(links, 2);
}
