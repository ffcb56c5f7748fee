//! K10: an idle agent is woken by a hook in the background.
use std::sync::{Arc, Mutex};

use harness_agent::{
    AgentNotice, AgentPlugin, AgentStatus, InboxInserted, SessionStart, SessionStartSource, TurnStopping,
};
use harness_hooks_claude::HooksClaude;
use harness_kernel::App;
use harness_session::SessionPlugin;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::discovery::config;
use super::still::Still;

#[tokio::test]
async fn k10_exit_2_in_the_background_wakes_an_idle_agent() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("home/.claude/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let hooks = r#"{"hooks":{"Stop":[{"hooks":[
        {"type":"command","asyncRewake":true,"command":"cat >/dev/null; echo 'the build is red' >&2; exit 2"},
        {"type":"command","async":true,"command":"echo '{\"systemMessage\":\"seen\",\"decision\":\"block\"}'"}
    ]}],"SessionStart":[{"hooks":[{"type":"command","command":"echo hello"}]}]}}"#;
    std::fs::write(&settings, hooks).unwrap();
    let app = App::default()
        .with(SessionPlugin::default())
        .with(AgentPlugin)
        .with(HooksClaude { config: config(folder.path()) })
        .start()
        .await
        .unwrap();
    let agent = Still::start(app.ctx(), folder.path());
    let ctx = agent.ctx().clone();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (sender, mut inserted) = unbounded_channel();
    let notices = Arc::clone(&told);
    ctx.on::<AgentNotice>(move |notice| notices.lock().unwrap().push(notice.text.clone()));
    ctx.on::<InboxInserted>(move |message| drop(sender.send(message.message.text())));

    let start = SessionStart { agent: Arc::clone(&agent), source: SessionStartSource::Startup };
    assert!(ctx.parallel(start).await.is_empty());
    assert!(inserted.try_recv().unwrap().ends_with("hello"), "the start is awaited");
    assert_eq!(agent.status(), AgentStatus::Idle);

    let stopping = TurnStopping { agent: Arc::clone(&agent), turn: 1, cancel: CancellationToken::new() };
    ctx.serial(stopping).await.unwrap();
    let woken = inserted.recv().await.unwrap();
    assert!(woken.contains("the build is red"), "{woken}");
    assert_eq!(agent.status(), AgentStatus::Running, "a waking message came");
    let names: Vec<String> =
        agent.session().view().iter().map(|event| event.body.type_name().to_owned()).collect();
    assert_eq!(names.iter().filter(|name| *name == "hook/invoked").count(), 3);
    agent.dispose().await;
    assert!(!told.lock().unwrap().iter().any(|text| text.contains("failed")), "{told:?}");
    app.shutdown().await.unwrap();
}
