//! Which files count, in which order.
use std::path::Path;

use harness_config::Paths;
use harness_hooks::{HookEvent, Scope};
use harness_hooks_claude::{Firing, HooksConfig, HooksSettings, candidates, discover, firing};
use harness_http::HttpConfig;

pub(crate) fn config(root: &Path) -> HooksConfig {
    HooksConfig {
        settings: HooksSettings { managed_folder: root.join("managed"), ..HooksSettings::default() },
        environment: vec![
            ("HOME".into(), root.join("home").into()),
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ],
        paths: Paths::under(&root.join("state")),
        data: root.join("data"),
        http: HttpConfig::default(),
    }
}
fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn files_come_in_the_order_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    put(&root.join("managed/managed-settings.d/20-b.json"), "{}");
    put(&root.join("managed/managed-settings.d/10-a.json"), "{}");
    let mut config = config(root);
    config.settings.files = vec!["extra.json".into()];
    config.settings.plugins = vec![root.join("plugin")];
    let files = candidates(&config, &root.join("project"));
    let names: Vec<String> =
        files.iter().map(|origin| origin.file.strip_prefix(root).unwrap().display().to_string()).collect();
    insta::assert_snapshot!(names.join("\n"));
}

#[test]
fn hooks_of_all_dialects_add_up_and_a_change_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let hook = |key: &str, event: &str| {
        format!(r#"{{"{key}":{{"{event}":[{{"hooks":[{{"type":"command","command":"{event}"}}]}}]}}}}"#)
    };
    put(&root.join("home/.claude/settings.json"), &hook("hooks", "PreToolUse"));
    put(&root.join("home/.codex/hooks.json"), &hook("hooks", "Stop"));
    put(&root.join("home/.config/opencode/opencode.json"), &hook("hooks", "chat.message"));
    put(&root.join("home/.config/hooks-adapter/hooks.json"), &hook("events", "tool:after"));
    put(&root.join("project/opencode.json"), &hook("hooks", "session.idle"));
    let config = config(root);
    let found = discover(&config, &root.join("project"));
    let spelled: Vec<&str> = found.set.entries().iter().map(|entry| entry.spelling.as_str()).collect();
    assert_eq!(spelled, ["PreToolUse", "Stop", "chat.message", "tool:after"]);
    assert_eq!(found.untrusted, [root.join("project/opencode.json")]);
    assert!(!found.stale());
    put(&root.join("project/.claude/settings.local.json"), "{}");
    assert!(found.stale(), "a new file counts as a change");
    let trusted = harness_hooks_claude::trust_hooks(&config, &root.join("project")).unwrap();
    assert_eq!(trusted, [root.join("project/opencode.json")]);
    let found = discover(&config, &root.join("project"));
    assert_eq!(found.set.entries().last().unwrap().origin.scope, Scope::Project);
}

#[test]
fn every_event_says_whether_it_fires() {
    let counted =
        |wanted: fn(&Firing) -> bool| HookEvent::ALL.iter().filter(|event| wanted(&firing(**event))).count();
    assert_eq!(counted(|firing| *firing == Firing::Fires), 13);
    assert_eq!(counted(|firing| matches!(firing, Firing::Waits(_))), 2);
    assert_eq!(counted(|firing| *firing == Firing::Never), 19);
}
