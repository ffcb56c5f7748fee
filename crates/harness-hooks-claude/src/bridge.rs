//! From an event of the agent to hooks, and their answers back.
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use harness_agent::{Agent, AgentNotice, InboxPolicy};
use harness_config::project_root;
use harness_hooks::{
    Common, Dispatch, Engine, EventFields, HookEntry, HookEvent, Outcome, Payload, Place, Run, Waiting,
};
use harness_llm::{ContextForm, Message};
use harness_session::AbortCause;
use tokio_util::sync::CancellationToken;

use crate::alias::Aliases;
use crate::discovery::{Discovered, discover};
use crate::log::{HookInvoked, HookResult, Unfinished};
use crate::long_text::bounded;
use crate::settings::HooksConfig;
use crate::state::AgentHooks;
use crate::transcript::Transcript;

/// The name under which hooks speak.
pub(crate) const NAME: &str = "hooks";

/// What all listeners share.
pub(crate) struct Bridge {
    pub(crate) config: HooksConfig,
    pub(crate) engine: Engine,
    pub(crate) aliases: Aliases,
    environment: Vec<(OsString, OsString)>,
    projects: Mutex<HashMap<PathBuf, Arc<Discovered>>>,
}

/// What an event is about, for matchers and the log.
#[derive(Debug, Default)]
pub(crate) struct About {
    /// Names under which matchers may know the subject; none for the payload's own.
    pub(crate) names: Vec<String>,
    /// The tool call.
    pub(crate) call_id: Option<String>,
    /// Further variables.
    pub(crate) env: Vec<(OsString, OsString)>,
}

impl Bridge {
    pub(crate) fn new(config: HooksConfig, engine: Engine) -> Self {
        let aliases = Aliases::new(config.settings.tool_aliases.clone());
        // Telemetry settings of the harness are not for the programs that hooks start.
        let foreign = |name: &OsString| name.to_string_lossy().starts_with("OTEL_");
        let mut environment = config.environment.clone();
        environment.retain(|(name, _)| !foreign(name));
        environment.push(("CLAUDECODE".into(), "1".into()));
        environment.push(("CLAUDE_CODE_CHILD_SESSION".into(), "1".into()));
        Self { config, engine, aliases, environment, projects: Mutex::default() }
    }

    /// The agent's state.
    pub(crate) fn state(agent: &Arc<dyn Agent>) -> Arc<AgentHooks> {
        agent.ctx().state::<AgentHooks>()
    }
    /// Tells the person something.
    pub(crate) fn tell(agent: &Arc<dyn Agent>, text: impl Into<String>) {
        agent.ctx().emit(&AgentNotice { agent: agent.id(), text: text.into() });
    }
    /// The folder of the session's hook files.
    pub(crate) fn folder(&self, agent: &Arc<dyn Agent>) -> PathBuf {
        self.config.data.join(agent.id().to_string())
    }
    pub(crate) fn project(&self, agent: &Arc<dyn Agent>) -> PathBuf {
        let state = Self::state(agent);
        let mut facts = state.facts();
        let found =
            facts.project.get_or_insert_with(|| project_root(&agent.options().cwd, &self.config.paths));
        found.clone()
    }
    /// The hooks of the agent's project as its files are now. What is wrong with them is told when they are read.
    pub(crate) fn hooks(&self, agent: &Arc<dyn Agent>) -> Arc<Discovered> {
        let project = self.project(agent);
        let known =
            self.projects.lock().unwrap_or_else(PoisonError::into_inner).get(&project).map(Arc::clone);
        if let Some(known) = known.filter(|known| !known.stale()) {
            return known;
        }
        let found = Arc::new(discover(&self.config, &project));
        for warning in found.warnings() {
            Self::tell(agent, warning);
        }
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.insert(project, Arc::clone(&found));
        found
    }

    /// The hooks as they were read last: for the second half of what has begun, without a look at the disk.
    pub(crate) fn known(&self, agent: &Arc<dyn Agent>) -> Arc<Discovered> {
        let project = self.project(agent);
        let known =
            self.projects.lock().unwrap_or_else(PoisonError::into_inner).get(&project).map(Arc::clone);
        known.unwrap_or_else(|| self.hooks(agent))
    }

    /// Runs the hooks of an event; `None` if there are none. Warnings, messages and a halt are dealt with here.
    pub(crate) async fn fire(
        self: &Arc<Self>,
        agent: &Arc<dyn Agent>,
        hooks: &Arc<Discovered>,
        fields: EventFields,
        about: About,
        cancel: &CancellationToken,
    ) -> Option<Outcome> {
        let (mut dispatch, event) = self.dispatch(agent, hooks, fields, &about)?;
        self.equip(agent, &mut dispatch, about.env);
        let profile = self.engine.reading.profile;
        let found = hooks.set.matching(&dispatch.events, &dispatch.subjects(), dispatch.tool(), profile);
        for (entry, event) in &found {
            Self::log_start(agent, entry, *event, &dispatch, about.call_id.as_deref());
        }
        let unfinished = Unfinished::new(agent, &found);
        let report = self.engine.dispatch(&hooks.set, &dispatch, cancel).await;
        unfinished.finish();
        for run in &report.runs {
            Self::log_end(agent, run);
        }
        for (entry, event) in report.background {
            self.in_background(agent, hooks, entry, event, dispatch.clone());
        }
        let mut outcome = report.outcome;
        let folder = self.folder(agent);
        outcome.contexts.iter_mut().for_each(|text| *text = bounded(text, &folder));
        for message in &outcome.messages {
            Self::tell(agent, format!("hook: {}", bounded(message, &folder)));
        }
        if outcome.stop {
            let reason = outcome.stop_reason.clone();
            let reason = reason.unwrap_or_else(|| format!("a {} hook ended it", event.name()));
            agent.cancel(AbortCause::Hook { reason }, InboxPolicy::Keep);
        }
        Some(outcome)
    }

    /// The dispatch of an event that has hooks, without what only a run needs.
    fn dispatch(
        &self,
        agent: &Arc<dyn Agent>,
        hooks: &Discovered,
        fields: EventFields,
        about: &About,
    ) -> Option<(Dispatch, HookEvent)> {
        let event = fields.event();
        let names: Vec<&str> = about.names.iter().map(String::as_str).collect();
        if !hooks.set.may_match(event, &names) {
            return None;
        }
        let options = agent.options();
        let modeless = matches!(
            fields,
            EventFields::SessionStart { .. }
                | EventFields::SessionEnd { .. }
                | EventFields::Notification { .. }
                | EventFields::PreCompact { .. }
                | EventFields::PostCompact { .. }
        );
        let common = Common {
            session_id: agent.id().to_string(),
            cwd: options.cwd.to_string_lossy().into_owned(),
            prompt_id: Self::state(agent).facts().prompt.clone(),
            permission_mode: (!modeless).then(|| "default".to_owned()),
            ..Common::default()
        };
        let payload = Payload { common, event: fields };
        let place = Place {
            cwd: options.cwd,
            project: self.project(agent),
            home: self.config.home(),
            env: Vec::new(),
        };
        let mut dispatch = Dispatch::new(event, payload.to_object(), place);
        if !about.names.is_empty() {
            dispatch.subjects.clone_from(&about.names);
        }
        let profile = self.engine.reading.profile;
        let found = hooks.set.matching(&dispatch.events, &dispatch.subjects(), dispatch.tool(), profile);
        (!found.is_empty()).then_some((dispatch, event))
    }

    /// What only a run needs: the environment and the transcript.
    fn equip(&self, agent: &Arc<dyn Agent>, dispatch: &mut Dispatch, more: Vec<(OsString, OsString)>) {
        let env = &mut dispatch.place.env;
        env.clone_from(&self.environment);
        env.push(("CLAUDE_CODE_SESSION_ID".into(), agent.id().to_string().into()));
        if let Some(effort) = agent.options().config.reasoning_effort {
            env.push(("CLAUDE_EFFORT".into(), effort.into()));
        }
        env.extend(more);
        match self.write_transcript(agent, &dispatch.place.cwd) {
            Ok(path) => {
                let path = path.to_string_lossy().into_owned();
                dispatch.payload.insert("transcript_path".to_owned(), path.into());
            }
            Err(error) => {
                Self::tell(agent, format!("the transcript for hooks could not be written: {error}"));
            }
        }
    }
    fn write_transcript(&self, agent: &Arc<dyn Agent>, cwd: &Path) -> std::io::Result<PathBuf> {
        let folder = self.folder(agent);
        let state = Self::state(agent);
        let mut facts = state.facts();
        let transcript = facts.transcript.get_or_insert_with(|| Transcript::new(&folder));
        transcript.flush(agent.session(), &self.aliases, cwd)?;
        Ok(transcript.path().to_owned())
    }

    /// Runs a hook beside the work. What it says reaches the model with its next request; with `asyncRewake`, exit 2
    /// wakes it.
    fn in_background(
        self: &Arc<Self>,
        agent: &Arc<dyn Agent>,
        hooks: &Arc<Discovered>,
        entry: HookEntry,
        event: HookEvent,
        dispatch: Dispatch,
    ) {
        let (bridge, agent, hooks, state) =
            (Arc::clone(self), Arc::clone(agent), Arc::clone(hooks), Self::state(agent));
        let task = state.background.clone();
        task.spawn(async move {
            let run = bridge.engine.run_one(&hooks.set, &entry, event, &dispatch, &state.ended).await;
            if state.ended.is_cancelled() {
                return;
            }
            Self::log_end(&agent, &run);
            let folder = bridge.folder(&agent);
            let answer = &run.outcome.answer;
            for message in &answer.messages {
                Self::tell(&agent, format!("hook: {}", bounded(message, &folder)));
            }
            let contexts = answer.contexts.iter().map(|text| context(event, &bounded(text, &folder)));
            for message in contexts {
                Self::deliver(&agent, agent.inject(message));
            }
            if entry.waiting == Waiting::Rewake && run.outcome.exit_code == Some(2) {
                let stdout = run.outcome.stdout.trim();
                let said = answer.reason.as_deref().filter(|_| !run.outcome.stderr.trim().is_empty());
                let text = said.unwrap_or(stdout);
                let message = context(event, &bounded(text, &folder));
                Self::deliver(&agent, agent.steer(message));
            }
        });
    }

    /// Reports a message that could not be delivered.
    pub(crate) fn deliver<T>(agent: &Arc<dyn Agent>, sent: Result<T, harness_agent::AgentError>) {
        if let Err(error) = sent {
            Self::tell(agent, format!("what a hook said could not be delivered: {error}"));
        }
    }

    fn log_start(
        agent: &Arc<dyn Agent>,
        entry: &HookEntry,
        event: HookEvent,
        dispatch: &Dispatch,
        call_id: Option<&str>,
    ) {
        let invoked = HookInvoked {
            hook: entry.reference(),
            event: event.name().to_owned(),
            subject: dispatch.subjects.first().cloned(),
            call_id: call_id.map(str::to_owned),
        };
        if let Err(error) = agent.session().append_plugin(&invoked) {
            Self::tell(agent, format!("a hook could not be logged: {error}"));
        }
    }
    fn log_end(agent: &Arc<dyn Agent>, run: &Run) {
        if let Err(error) = agent.session().append_plugin(&HookResult::of(run)) {
            Self::tell(agent, format!("a hook's result could not be logged: {error}"));
        }
        for warning in &run.warnings {
            Self::tell(agent, warning.clone());
        }
    }
}

/// What a hook tells the model.
pub(crate) fn context(event: HookEvent, text: &str) -> Message {
    let text = format!("Context from a {} hook:\n{text}", event.name());
    Message::context(NAME, ContextForm::Notice, text)
}
