//! Drives one life after the other and compares.
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use harness_agent::{AgentError, AgentFactory, AgentOptions, AgentStatus, CreateAgent, SessionStartSource};
use harness_kernel::{Ctx, Service};
use harness_llm::{CallConfig, Llm, ToolSpec};
use harness_session::{Body, Event, Grammar, Seq, SessionHeader, Sessions, SessionsError, UnpackError};
use harness_session_persistence::close_open_turn;
use harness_tools::Tools;

use crate::adapter::Recorded;
use crate::life::{lives, made_by_the_loop};
use crate::outline::{Item, key, keys, outline};
use crate::report::{Difference, Report};
use crate::script::Script;
use crate::tool::RecordedTool;
use crate::{listeners, tool_listeners};

/// Why a session could not be replayed at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The program around it lacks a part.
    #[error("a replay needs the service `{0}`; start the plugin that provides it")]
    Missing(&'static str),
    /// Recorded chunks cannot be read.
    #[error("recorded chunks cannot be read: {0}")]
    Chunks(#[from] UnpackError),
    /// The session could not be opened.
    #[error(transparent)]
    Session(#[from] SessionsError),
    /// The loop refused to start.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A part of the replay could not be set up.
    #[error("the replay could not be set up: {0}")]
    SetUp(String),
}
impl ReplayError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "REPLAY_SERVICE_MISSING",
            Self::Chunks(_) => "REPLAY_CHUNKS",
            Self::Session(_) => "REPLAY_SESSION",
            Self::Agent(_) => "REPLAY_AGENT",
            Self::SetUp(_) => "REPLAY_SET_UP",
        }
    }
}

/// Drives the loop that `ctx` provides through a recorded session, and compares what comes out with what is recorded.
/// Nothing is asked of a network, no tool runs, nothing is stored: `ctx` should have the seams, the loop and an argument
/// validator, and no other plugins.
///
/// # Errors
/// If a service is missing or the record cannot be read. A replay that differs is no error: the report says so.
pub async fn replay(ctx: &Ctx, header: &SessionHeader, events: &[Arc<Event>]) -> Result<Report, ReplayError> {
    let facts = Facts::of(events);
    let mut report = Report::default();
    let mut done: Vec<Arc<Event>> = Vec::new();
    let mut inherited = 0;
    for life in lives(header, events)? {
        if life.forked && inherited == 0 {
            inherited = done.len() as Seq;
        }
        report.lives += 1;
        let closers = life.closers.clone();
        let recorded = life.events.clone();
        let script = Arc::new(Script::new(life, Arc::clone(&facts.surface), Arc::clone(&facts.windows)));
        let header = SessionHeader { inherited, ..header.clone() };
        let made = run(ctx, header.clone(), &done, &script, &facts).await?;
        report.add(&script);
        let kept = if script.life.crashed() { cut(&recorded, made) } else { made };
        done.extend(kept.iter().map(Arc::clone));
        report.compare(&outline(&recorded), &outline(&kept));
        if let Some((seq, replayed)) = script.fault() {
            let difference = Difference { seq, recorded: None, replayed: Some(replayed) };
            report.difference.get_or_insert(difference);
        }
        if report.difference.is_none() && !closers.is_empty() {
            let closed = close(&header, &done);
            report.compare(&outline(&closers), &outline(&closed));
            done.extend(closed);
        }
        if report.difference.is_some() {
            break;
        }
    }
    Ok(report)
}

/// What holds for all lives.
struct Facts {
    surface: Arc<HashMap<Seq, usize>>,
    windows: Arc<HashMap<(String, String), Option<u64>>>,
    tools: BTreeMap<String, ToolSpec>,
    config: CallConfig,
}
impl Facts {
    fn of(events: &[Arc<Event>]) -> Self {
        let on_surface = events.iter().filter(|event| event.surface.is_some());
        let surface = on_surface.enumerate().map(|(nth, event)| (event.seq, nth)).collect();
        let (mut windows, mut tools, mut config) = (HashMap::new(), BTreeMap::new(), None);
        for event in events {
            match &event.body {
                Body::RequestContext(context) => {
                    windows.insert((context.provider.clone(), context.model.clone()), context.context_window);
                }
                Body::RequestHeader(header) => {
                    windows
                        .entry((header.config.provider.clone(), header.config.model.clone()))
                        .or_insert(None);
                    tools.extend(header.tools.iter().map(|tool| (tool.name.clone(), tool.clone())));
                    config.get_or_insert_with(|| header.config.clone());
                }
                _ => {}
            }
        }
        // A session that never asked a model has no route. Its failure to ask is replayed through this one.
        let unnamed = || CallConfig { provider: "recorded".to_owned(), ..CallConfig::default() };
        let config = config.unwrap_or_else(unnamed);
        windows.entry((config.provider.clone(), config.model.clone())).or_insert(None);
        Self { surface: Arc::new(surface), windows: Arc::new(windows), tools, config }
    }
}

/// One life: from its first input to its last event. Returns what was logged.
async fn run(
    ctx: &Ctx,
    header: SessionHeader,
    before: &[Arc<Event>],
    script: &Arc<Script>,
    facts: &Facts,
) -> Result<Vec<Arc<Event>>, ReplayError> {
    let scope = ctx.scope("replay");
    let cwd = PathBuf::from(header.cwd.clone().unwrap_or_default());
    let sessions = service::<Sessions>(ctx)?;
    let session = sessions.create(&scope, header, before.to_vec())?;
    set_up(&scope, script, facts)?;
    let source = if before.is_empty() { SessionStartSource::Startup } else { SessionStartSource::Resume };
    let options = AgentOptions::new(facts.config.clone(), cwd);
    let create = CreateAgent { session: Arc::clone(&session), options, source };
    let agent = service::<dyn AgentFactory>(ctx)?.create(create).await?;
    // Nobody else has set it.
    let _ = script.agent.set(agent);
    drive(script).await;
    script.released.cancel();
    if let Err(error) = scope.dispose().await {
        return Err(ReplayError::SetUp(format!("it could not be taken down: {error}")));
    }
    Ok(session.view().iter_from(before.len() as Seq).collect())
}

fn service<S: Service + ?Sized>(ctx: &Ctx) -> Result<Arc<S>, ReplayError> {
    ctx.service::<S>().ok_or(ReplayError::Missing(S::NAME))
}

fn set_up(scope: &Ctx, script: &Arc<Script>, facts: &Facts) -> Result<(), ReplayError> {
    let text = |error: &dyn std::fmt::Display| ReplayError::SetUp(error.to_string());
    listeners::register(scope, script);
    tool_listeners::register(scope, script);
    let (llm, tools) = (service::<Llm>(scope)?, service::<Tools>(scope)?);
    let mut providers: Vec<&String> = facts.windows.keys().map(|(provider, _)| provider).collect();
    providers.sort();
    providers.dedup();
    for provider in providers {
        let adapter = Arc::new(Recorded(Arc::clone(script)));
        llm.register(scope, provider.as_str(), adapter).map_err(|error| text(&error))?;
    }
    for spec in facts.tools.values() {
        let tool = RecordedTool { spec: spec.clone(), script: Arc::clone(script) };
        tools.register_any(scope, Arc::new(tool)).map_err(|error| text(&error))?;
    }
    Ok(())
}

/// Gives what came while nothing ran, and lets the loop work, until the record ends.
async fn drive(script: &Script) {
    let Some(agent) = script.agent.get() else { return };
    let turn = script.life.turns.keys().next().copied().unwrap_or_default();
    script.prepare_turn(turn);
    loop {
        let next = script.life.next_made(script.given());
        script.give(next);
        if next == script.life.events.len() {
            return;
        }
        if agent.status() == AgentStatus::Idle {
            // Whatever comes next, nothing makes it come: the comparison will say what is missing.
            return;
        }
        tokio::select! {
            () = agent.when_idle() => {}
            () = script.frozen.cancelled() => return,
        }
        // What the turn made is behind us.
        let made = script.life.events.iter().rposition(|event| {
            made_by_the_loop(event) && agent.session().view().iter().any(|ours| key(&ours) == key(event))
        });
        script.give(made.map_or(next, |at| at + 1));
        if script.life.next_made(script.given()) == next {
            return;
        }
    }
}

/// The process ended: nothing is left of what the loop did after the record ends.
fn cut(recorded: &[Arc<Event>], made: Vec<Arc<Event>>) -> Vec<Arc<Event>> {
    let mut left = keys(recorded);
    let mut kept = made;
    let end = kept.iter().position(|event| {
        let made = made_by_the_loop(event);
        made && match left.get_mut(&key(event)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        }
    });
    kept.truncate(end.unwrap_or(kept.len()));
    kept
}

/// What the next load appends.
fn close(header: &SessionHeader, events: &[Arc<Event>]) -> Vec<Arc<Event>> {
    let grammar = Grammar::of(events.iter().map(AsRef::as_ref)).unwrap_or_default();
    close_open_turn(header.id, events, grammar.open_turn())
}

impl Report {
    fn add(&mut self, script: &Script) {
        let steps = || script.life.turns.values().flat_map(|turn| turn.steps.values());
        self.turns += script.life.turns.len();
        self.requests += steps().map(|step| step.attempts.len()).sum::<usize>();
        self.calls += steps().map(|step| step.calls.len()).sum::<usize>();
        for (what, count) in script.tally() {
            *self.taken.entry(what).or_default() += count;
        }
    }
    /// Keeps the first difference.
    fn compare(&mut self, recorded: &[Item], made: &[Item]) {
        for nth in 0..recorded.len().max(made.len()) {
            let (old, new) = (recorded.get(nth), made.get(nth));
            let same = |(old, new): (&Item, &Item)| old.key == new.key && old.value == new.value;
            if old.zip(new).is_some_and(same) {
                self.compared += 1;
                continue;
            }
            let shown = |item: &Item| format!("{} {}", item.key.0, item.value);
            let seq = old.or(recorded.last()).map_or(0, |item| item.seq);
            let (recorded, replayed) = (old.map(shown), new.map(shown));
            self.difference.get_or_insert(Difference { seq, recorded, replayed });
            return;
        }
    }
}
