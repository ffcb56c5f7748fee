//! `harness sessions export` through the binary. That a browser shows the page is a matter of tests/external.
use std::os::unix::fs::PermissionsExt as _;

use harness_llm_mock::txt;
use serde_json::json;

use crate::{call, rig};

#[test]
fn a_session_becomes_a_document() {
    let edit = json!({ "file_path": "a.txt", "old_string": "one", "new_string": "two" });
    let rig = rig([
        call("c1", "read", json!({ "file_path": "a.txt" })),
        call("c2", "edit", edit),
        txt("It is **done**."),
    ]);
    rig.file("a.txt", "one\n");
    assert_eq!(rig.run("change <it>").code, Some(0));
    let id = rig.session();
    let export = |args: &[&str]| rig.command(["sessions", "export", &id]).args(args).run();

    let text = export(&[]);
    assert_eq!((text.code, &*text.stderr), (Some(0), ""));
    for part in [
        "# change &lt;it>",
        "change <it>",
        "-one\n+two",
        "It is **done**.",
        "openai/mock-model",
        "Turn 1 completed",
    ] {
        assert!(text.stdout.contains(part), "{part} is not in\n{}", text.stdout);
    }
    let page = export(&["--format", "html", "--output", "-"]);
    assert!(page.stdout.starts_with("<!doctype html>") && page.stdout.contains("change &lt;it&gt;"));

    // The name of the file says what it holds.
    assert_eq!(export(&["--output", "out.html"]).code, Some(0));
    assert_eq!(rig.bytes("out.html"), page.stdout.as_bytes());
    let path = rig.workspace().join("out.html");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    // What is there stays, unless the person says otherwise.
    rig.file("out.html", "mine");
    let refused = export(&["--output", "out.html"]);
    assert_eq!((refused.code, &*refused.stdout), (Some(1), ""));
    assert!(
        refused.stderr.contains("out.html exists already") && refused.stderr.contains("--force"),
        "{}",
        refused.stderr
    );
    assert_eq!(rig.bytes("out.html"), b"mine");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(export(&["--output", "out.html", "--force"]).code, Some(0));
    assert_eq!(rig.bytes("out.html"), page.stdout.as_bytes());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);

    let nowhere = export(&["--output", "no/such/folder/x.md"]);
    assert!(nowhere.code == Some(1) && nowhere.stderr.contains("no/such/folder/x.md"), "{}", nowhere.stderr);
    let folder = export(&["--output", ".", "--force"]);
    assert!(folder.code == Some(1) && folder.stderr.contains(". is a folder"), "{}", folder.stderr);
    assert_eq!(std::fs::read_dir(rig.workspace()).unwrap().count(), 2, "nothing else is left behind");
    let unknown = rig.command(["sessions", "export", "01900000-0000-7000-8000-000000000000"]).run();
    assert!(unknown.code == Some(1) && unknown.stderr.contains("01900000-"), "{}", unknown.stderr);
}
