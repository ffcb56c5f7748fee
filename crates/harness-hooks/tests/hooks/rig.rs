//! A folder, a few hooks, a dispatch.
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use harness_hooks::{Dispatch, Engine, HookEvent, HookFile, HookSet, Origin, Place, Profile, Report, Scope};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) struct Rig {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) engine: Engine,
}

pub(crate) fn set_of(hooks: &Value) -> HookSet {
    HookSet::merge([HookFile::parse(
        Origin::of("settings.json", Scope::User),
        &json!({ "hooks": hooks }).to_string(),
    )])
}

/// One group for every subject of an event.
pub(crate) fn on(event: HookEvent, handlers: &Value) -> HookSet {
    set_of(&json!({ event.name(): [{ "hooks": handlers }] }))
}

pub(crate) fn command(text: &str) -> Value {
    json!({ "type": "command", "command": text })
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

impl Rig {
    pub(crate) fn new(profile: Profile) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), engine: Engine::new(profile) }
    }
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
    pub(crate) fn place(&self) -> Place {
        let path: (OsString, OsString) = ("PATH".into(), std::env::var_os("PATH").unwrap());
        let folder: PathBuf = self.path().into();
        Place { cwd: folder.clone(), project: folder, home: None, env: vec![path] }
    }
    pub(crate) fn dispatch_of(&self, event: HookEvent, payload: Value) -> Dispatch {
        Dispatch::new(event, object(payload), self.place())
    }
    pub(crate) async fn fire(&self, set: &HookSet, event: HookEvent, payload: Value) -> Report {
        self.engine.dispatch(set, &self.dispatch_of(event, payload), &CancellationToken::new()).await
    }
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }
    pub(crate) fn script(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }
}

pub(crate) fn bash(command: &str) -> Value {
    json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "toolu_1" })
}

/// Whether a process with this mark in its command line is alive.
pub(crate) fn alive(mark: &str) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else { return false };
    entries.flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    })
}
