//! Transcripts as snapshots: the whole session as it was logged, and as it is shown.
use harness_llm_mock::{Reply, ToolCall, txt};
use serde_json::json;

use crate::{call, rig};

fn snapshot(name: &str, text: &str, root: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    // Folders, identities and dates differ from run to run.
    settings.add_filter(&regex_of(root), "[root]");
    settings.add_filter("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]");
    settings.add_filter("Date: [0-9-]{10}", "Date: [date]");
    settings.add_filter("Platform: [a-z0-9_ ]+", "Platform: [platform]");
    settings.bind(|| insta::assert_snapshot!(name, text));
}
fn regex_of(path: &str) -> String {
    path.replace('.', "\\.")
}

#[test]
fn a_session_with_tools_a_denial_and_a_failure() {
    let rig = rig([
        Reply::new()
            .pieces(["Let me ", "look."])
            .call(ToolCall::new("read", json!({ "file_path": "a.txt" }).to_string()).id("c1"))
            .call(ToolCall::new("bash", json!({ "command": "exit 4" }).to_string()).id("c2")),
        call("c3", "edit", json!({ "file_path": "a.txt", "old_string": "one", "new_string": "two" })),
        call("c4", "write", json!({ "file_path": "b.txt", "content": "x" })),
        txt("Done."),
        Reply::error(500, "boom"),
    ]);
    rig.file("a.txt", "one\n");
    rig.file("b.txt", "never read\n");
    assert_eq!(rig.run("change it").code, Some(0));
    assert_eq!(rig.resume("more").code, Some(1));
    let root = rig.root().display().to_string();
    snapshot("session-log", &rig.story(), &root);
    let shown = rig.command(["sessions", "show", &rig.session()]).run();
    snapshot("session-shown", &shown.stdout, &root);
}
