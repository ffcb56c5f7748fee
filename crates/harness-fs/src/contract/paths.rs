//! Resolution.

use std::path::Path;

use super::Fixture;
use super::fixture::refused;
use crate::FileKind;

/// Kind and existence are those of the moment; a missing file resolves to the place where it would be.
pub async fn existing_and_absent_are_told_apart(fixture: &dyn Fixture) {
    fixture.plant("dir/file", b"x").await;
    let root = fixture.path(".").await.real().to_owned();
    let file = fixture.path("dir/file").await;
    assert_eq!(
        (file.kind(), file.real(), file.display()),
        (Some(FileKind::File), &*root.join("dir/file"), "dir/file")
    );
    assert_eq!(fixture.path("dir").await.kind(), Some(FileKind::Directory));
    let absent = fixture.path("dir/./new/deep").await;
    assert_eq!((absent.exists(), absent.real()), (false, &*root.join("dir/new/deep")));
    let absolute = root.join("dir/file");
    assert_eq!(fixture.path(absolute.to_str().unwrap()).await.real(), absolute);
}

/// What no file can be named is refused before anything is touched.
pub async fn unusable_paths_are_refused(fixture: &dyn Fixture) {
    fixture.plant("file", b"x").await;
    let (files, root) = (fixture.files(), fixture.root());
    refused(files.resolve(&root, "").await, "FS_INVALID_PATH");
    refused(files.resolve(&root, "a\0b").await, "FS_INVALID_PATH");
    refused(files.resolve(Path::new("relative"), "a").await, "FS_INVALID_PATH");
    refused(files.resolve(&root, "file/below").await, "FS_NOT_DIRECTORY");
    refused(files.resolve(&root, "file/..").await, "FS_NOT_DIRECTORY");
    refused(files.resolve(&root, "missing/../file").await, "FS_NOT_FOUND");
}

/// The real path has no link in it, wherever the links are and whether their target exists.
pub async fn links_are_followed(fixture: &dyn Fixture) {
    fixture.plant("real/file", b"x").await;
    if !fixture.plant_link("real/link", "file").await {
        return;
    }
    fixture.plant_link("directory", "real").await;
    fixture.plant_link("dangling", "real/new").await;
    fixture.plant_link("loop", "loop").await;
    let root = fixture.path(".").await.real().to_owned();
    let through_both = fixture.path("directory/link").await;
    assert_eq!((through_both.real(), through_both.kind()), (&*root.join("real/file"), Some(FileKind::File)));
    assert_eq!(through_both.display(), "directory/link");
    let dangling = fixture.path("dangling").await;
    assert_eq!((dangling.real(), dangling.exists()), (&*root.join("real/new"), false));
    refused(fixture.files().resolve(&fixture.root(), "loop").await, "FS_IO");
}

/// `link/..` is the parent of where the link leads, as for the operating system, not the directory of the link.
pub async fn dot_dot_is_that_of_the_real_directory(fixture: &dyn Fixture) {
    fixture.plant("a/b/file", b"x").await;
    let root = fixture.path(".").await.real().to_owned();
    assert_eq!(fixture.path("a/b/../file").await.real(), root.join("a/file"));
    if fixture.plant_link("link", "a/b").await {
        assert_eq!(fixture.path("link/../file").await.real(), root.join("a/file"));
    }
}

/// A path that ends in a slash names a directory or nothing.
pub async fn a_trailing_slash_means_a_directory(fixture: &dyn Fixture) {
    fixture.plant("dir/file", b"x").await;
    assert_eq!(fixture.path("dir/").await.kind(), Some(FileKind::Directory));
    refused(fixture.files().resolve(&fixture.root(), "dir/file/").await, "FS_NOT_DIRECTORY");
    refused(fixture.files().resolve(&fixture.root(), "dir/new/").await, "FS_INVALID_PATH");
}
