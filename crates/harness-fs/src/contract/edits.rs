//! Literal edits.

use futures_util::future::join_all;

use super::Fixture;
use super::fixture::refused;
use crate::{EditRefusal, EditRequest, FsError};

/// Two occurrences: an error with count and lines, or both changed on demand.
pub async fn an_ambiguous_edit_changes_nothing(fixture: &dyn Fixture) {
    let source = "def dev():\n    debug = True\n\ndef prod():\n    debug = True\n";
    fixture.plant("m.py", source.as_bytes()).await;
    let result = fixture.edit("m.py", "    debug = True", "    debug = False", |edit| edit).await;
    match refused(result, "FS_AMBIGUOUS_MATCH") {
        FsError::Edit { refusal: EditRefusal::AmbiguousMatch { count, lines }, path } => {
            assert_eq!((count, lines, path.as_str()), (2, vec![2, 5], "m.py"));
        }
        other => panic!("{other:?}"),
    }
    fixture.holds("m.py", source).await;
    let all = |edit: EditRequest| edit.replacing_all(true);
    let outcome = fixture.edit("m.py", "    debug = True", "    debug = False", all).await.unwrap();
    assert_eq!((outcome.changes.replacements, outcome.changes.lines), (2, vec![2, 5]));
    fixture.holds("m.py", source.replace("True", "False")).await;
}

/// Line endings and the byte order mark are those of the file.
pub async fn crlf_and_mark_survive(fixture: &dyn Fixture) {
    fixture.plant("file", "\u{feff}one\r\ntwo\r\nthree\r\n".as_bytes()).await;
    fixture.edit("file", "one\ntwo", "ONE\nTWO\nextra", |edit| edit).await.unwrap();
    fixture.holds("file", "\u{feff}ONE\r\nTWO\r\nextra\r\nthree\r\n").await;
    fixture.plant("mixed", b"one\r\ntwo\nthree\r\n").await;
    fixture.edit("mixed", "one\ntwo\nthree", "1\n2\n3", |edit| edit).await.unwrap();
    fixture.holds("mixed", "1\r\n2\n3\r\n").await;
}

/// A stale guard is told, whether or not the text would match.
pub async fn the_guard_comes_before_the_match(fixture: &dyn Fixture) {
    fixture.plant("file", b"one").await;
    let guard = Some(fixture.version("file").await);
    fixture.plant("file", b"two").await;
    for old in ["two", "absent", ""] {
        let edit = fixture.edit("file", old, "x", |edit| edit.expecting(guard.clone())).await;
        refused(edit, "FS_STALE");
    }
    fixture.holds("file", "two").await;
}

/// Each wrong edit has its code and leaves every byte.
pub async fn wrong_edits_are_refused_and_change_nothing(fixture: &dyn Fixture) {
    fixture.plant("file", b"one\n").await;
    fixture.plant("binary", b"one\0").await;
    fixture.plant("dir/file", b"").await;
    let before = fixture.version("file").await;
    for (name, old, new, code) in [
        ("file", "", "x", "FS_EMPTY_OLD_STRING"),
        ("file", "one", "one", "FS_NO_CHANGE"),
        ("file", "two", "x", "FS_NO_MATCH"),
        ("absent", "one", "x", "FS_NOT_FOUND"),
        ("binary", "one", "x", "FS_NOT_TEXT"),
        ("dir", "one", "x", "FS_IS_DIRECTORY"),
    ] {
        let error = refused(fixture.edit(name, old, new, |edit| edit).await, code);
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(fixture.version("file").await, before);
    assert_eq!(fixture.peek("absent").await, None);
    fixture.holds("binary", b"one\0").await;
}

/// The version of one edit guards the next.
pub async fn a_chain_of_edits_carries_its_version(fixture: &dyn Fixture) {
    fixture.plant("file", b"0").await;
    let mut version = fixture.version("file").await;
    for step in 0..5_u32 {
        let guard = Some(version);
        let outcome = fixture
            .edit("file", &step.to_string(), &(step + 1).to_string(), |edit| edit.expecting(guard.clone()))
            .await
            .unwrap();
        version = outcome.version;
    }
    assert_eq!(version, fixture.version("file").await);
    fixture.holds("file", "5").await;
}

/// Edits of one file at one time: each is in the file, or was refused as stale.
pub async fn concurrent_edits_lose_nothing(fixture: &dyn Fixture) {
    let names: Vec<String> = (10..26).map(|number| format!("<{number}>")).collect();
    fixture.plant("file", names.join("\n").as_bytes()).await;
    let edits = names.iter().map(|name| async move {
        match fixture.edit("file", name, &format!("{name}!"), |edit| edit).await {
            Ok(_) => format!("{name}!"),
            Err(FsError::Stale { .. }) => name.clone(),
            Err(other) => panic!("{other}"),
        }
    });
    let expected = join_all(edits).await;
    fixture.holds("file", expected.join("\n")).await;
    assert!(expected.iter().any(|line| line.ends_with('!')));
}
