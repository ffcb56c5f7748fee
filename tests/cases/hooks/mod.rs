//! H17, H18 and the checks of existing hooks: real files of Claude Code's format, real programs, a scripted model.
mod answers;
mod around_turn;
mod before_tool;
mod cli;
mod files;
mod processes;

use harness_llm_mock::{Reply, txt};
use harness_testkit::{Finished, Rig};
use serde_json::{Value, json};

use crate::{call, rig};

/// A world whose person has these hooks.
pub(crate) fn hooked(replies: impl IntoIterator<Item = Reply>, hooks: &Value) -> Rig {
    let rig = rig(replies);
    settings(&rig, &json!({ "hooks": hooks }));
    rig
}

/// Writes the person's settings file.
pub(crate) fn settings(rig: &Rig, value: &Value) {
    let folder = rig.home().join(".claude");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), value.to_string()).unwrap();
}

/// One command hook for everything.
pub(crate) fn hook(command: &str) -> Value {
    json!([{ "hooks": [{ "type": "command", "command": command }] }])
}

/// A command hook that prints this.
pub(crate) fn says(value: &Value) -> Value {
    hook(&prints(value))
}
pub(crate) fn prints(value: &Value) -> String {
    format!("cat > /dev/null; echo '{value}'")
}

/// A model that runs one shell command and is done.
pub(crate) fn one_command(command: &str) -> [Reply; 2] {
    [call("c1", "bash", json!({ "command": command })), txt("done")]
}

pub(crate) fn done(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

/// Texts of all messages of a request.
pub(crate) fn texts(rig: &Rig, n: usize) -> String {
    let request = rig.request(n);
    let messages = request["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].to_string() + "\n").collect::<Vec<_>>().concat()
}

/// The events of a plugin type, as JSON.
pub(crate) fn logged(rig: &Rig, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(rig.log_file()).unwrap();
    let lines = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == name).collect()
}
