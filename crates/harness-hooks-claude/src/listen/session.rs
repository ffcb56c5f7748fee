//! `SessionStart` before the first request, `SessionEnd` before the agent's scope is gone.
use std::sync::Arc;
use std::time::Duration;

use harness_agent::{Agent, AgentCreated, SessionStart, SessionStartSource};
use harness_bash::SetupFiles;
use harness_hooks::{EventFields, HookEvent};
use harness_kernel::Ctx;
use tokio_util::sync::CancellationToken;

use crate::bridge::{About, Bridge, context};

/// How long the end waits for hooks that only tell somebody something.
const TELLING_PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn listen(ctx: &Ctx, bridge: &Arc<Bridge>) {
    let starting = Arc::clone(bridge);
    ctx.on_parallel::<SessionStart, _>(move |start| {
        let bridge = Arc::clone(&starting);
        async move {
            let source = match start.source {
                SessionStartSource::Resume => "resume",
                _ => "startup",
            };
            started(&bridge, &start.agent, source).await;
            Ok(())
        }
    });
    let ending = Arc::clone(bridge);
    ctx.on::<AgentCreated>(move |created| {
        let (bridge, agent) = (Arc::clone(&ending), Arc::clone(&created.agent));
        // Newest first: this runs before the agent's driver is stopped.
        created.agent.ctx().on_dispose(move || async move { ended(&bridge, &agent).await });
    });
}

/// Runs the `SessionStart` hooks of a source.
pub(super) async fn started(bridge: &Arc<Bridge>, agent: &Arc<dyn Agent>, source: &str) {
    // Read here at the latest, so that what is wrong with the files is told before anything runs.
    let hooks = bridge.hooks(agent);
    if !hooks.set.has(HookEvent::SessionStart) {
        return;
    }
    let file = bridge.folder(agent).join("env.sh");
    // A session that goes on keeps what its hooks exported.
    if source != "compact"
        && let Err(error) = fresh(&file)
    {
        Bridge::tell(agent, format!("the environment file for hooks could not be made: {error}"));
    }
    let fields =
        EventFields::SessionStart { source: source.to_owned(), model: Some(agent.options().config.model) };
    let about = About { env: vec![("CLAUDE_ENV_FILE".into(), file.clone().into())], ..About::default() };
    let cancel = Bridge::state(agent).ended.clone();
    let Some(outcome) = bridge.fire(agent, &hooks, fields, about, &cancel).await else { return };
    agent.ctx().state::<SetupFiles>().add(file);
    for text in &outcome.contexts {
        Bridge::deliver(agent, agent.inject(context(HookEvent::SessionStart, text)));
    }
}

/// An empty file: what an earlier process exported is gone.
fn fresh(file: &std::path::Path) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, "")
}

async fn ended(bridge: &Arc<Bridge>, agent: &Arc<dyn Agent>) {
    let state = Bridge::state(agent);
    let hooks = bridge.known(agent);
    let fields = EventFields::SessionEnd { reason: "other".to_owned() };
    bridge.fire(agent, &hooks, fields, About::default(), &CancellationToken::new()).await;
    state.telling.close();
    if tokio::time::timeout(TELLING_PATIENCE, state.telling.wait()).await.is_err() {
        Bridge::tell(agent, "hooks that only notify were still running at the end and are stopped");
    }
    state.ended.cancel();
    state.background.close();
    state.background.wait().await;
    state.telling.wait().await;
}
