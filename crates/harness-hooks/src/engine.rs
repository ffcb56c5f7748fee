//! Runs the hooks of an event and folds what they say.
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use harness_http::HttpConfig;
use reqwest::Client;
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::codec::{Reading, refusal};
use crate::dispatch::{Dispatch, Report, Run, RunOutcome};
use crate::entry::HookEntry;
use crate::fault::{Fault, FaultKind};
use crate::fold::fold;
use crate::handler::{Handler, OnError, OracleHandler, ProxyHandler, Waiting, WebhookHandler};
use crate::models::{Oracle, Proxy, Question};
use crate::run::{self, Attempt, Job};
use crate::set::HookSet;
use crate::{HookEvent, Profile};

/// Most characters of a stream that a report keeps.
const KEPT: usize = 500;
/// The most that a hook may ask for when the session ends.
const SESSION_END_MOST: Duration = Duration::from_mins(1);

/// How hooks are run.
#[derive(Clone, Default)]
pub struct Engine {
    /// The contract, and what doubtful answers mean.
    pub reading: Reading,
    /// What a failure means where the hook does not say.
    pub on_error: OnError,
    /// How long a hook may take where it does not say; by kind and event if `None`.
    pub timeout: Option<Duration>,
    /// How webhooks connect.
    pub http: HttpConfig,
    /// Answers oracle handlers.
    pub oracle: Option<Arc<dyn Oracle>>,
    /// Answers proxy handlers without a runner of their own.
    pub proxy: Option<Arc<dyn Proxy>>,
    /// The runner program of proxy handlers, where no agent is there.
    pub proxy_command: Option<String>,
    client: OnceLock<Result<Client, String>>,
}

impl Engine {
    /// An engine of a profile.
    pub fn new(profile: Profile) -> Self {
        Self { reading: Reading { profile, ..Reading::default() }, ..Self::default() }
    }

    /// Runs the hooks of `set` that fit: all at once in the claude profile, one after another in the native one. The
    /// answers are folded in the order of the configuration either way, and every hook runs even after a refusal.
    pub async fn dispatch(&self, set: &HookSet, dispatch: &Dispatch, cancel: &CancellationToken) -> Report {
        let profile = self.reading.profile;
        let found = set.matching(&dispatch.events, &dispatch.subjects(), dispatch.tool(), profile);
        let (awaited, background): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(entry, _)| entry.waiting == Waiting::Awaited);
        let runs = match profile {
            Profile::Claude => {
                join_all(
                    awaited.iter().map(|(entry, event)| self.run_one(set, entry, *event, dispatch, cancel)),
                )
                .await
            }
            Profile::Native => {
                let mut runs = Vec::with_capacity(awaited.len());
                for (entry, event) in &awaited {
                    runs.push(self.run_one(set, entry, *event, dispatch, cancel).await);
                }
                runs
            }
        };
        let answers: Vec<Answer> = runs.iter().map(|run| run.outcome.answer.clone()).collect();
        let background = background.into_iter().map(|(entry, event)| (entry.clone(), event)).collect();
        Report { outcome: fold(dispatch.event(), profile, &answers), runs, background }
    }

    /// Runs one hook to its end. Its failure is in the report; under `onError: block` it is a refusal.
    pub async fn run_one(
        &self,
        set: &HookSet,
        entry: &HookEntry,
        event: HookEvent,
        dispatch: &Dispatch,
        cancel: &CancellationToken,
    ) -> Run {
        let begun = Instant::now();
        let text = dispatch.text_for(entry, event);
        let (reading, place) = (self.reading, &dispatch.place);
        let limit = self.limit(entry, event);
        let job = Job { entry, event, reading, place, text: &text, limit, cancel };
        let attempt = match &entry.handler {
            Handler::Command(handler) => run::command(job, handler).await,
            Handler::Webhook(handler) => self.webhook(job, set, handler).await,
            Handler::Oracle(handler) => self.oracle(job, handler).await,
            Handler::Proxy(handler) => self.proxy(job, dispatch, handler).await,
        };
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.report(entry, event, attempt, duration_ms)
    }

    async fn webhook(&self, job: Job<'_>, set: &HookSet, handler: &WebhookHandler) -> Attempt {
        let allowed = run::Allowed { urls: set.allowed_urls(), env: set.allowed_env() };
        match self.client() {
            Ok(client) => run::webhook(job, client, handler, allowed).await,
            Err(message) => Attempt::of(Err(Fault::new(FaultKind::Http, message))),
        }
    }
    async fn oracle(&self, job: Job<'_>, handler: &OracleHandler) -> Attempt {
        let Some(oracle) = &self.oracle else { return unavailable("model") };
        let prompt = run::prompt_with(&handler.prompt, job.text);
        let question = Question { prompt, model: handler.model.clone(), timeout: job.limit };
        let said = run::ask(oracle.ask(question, job.cancel.clone()), job.limit, job.cancel).await;
        judged(job, said, handler.continue_on_block)
    }
    async fn proxy(&self, job: Job<'_>, dispatch: &Dispatch, handler: &ProxyHandler) -> Attempt {
        let prompt = run::prompt_with(&handler.prompt, job.text);
        if let Some(proxy) = self.proxy.as_ref().filter(|_| handler.command.is_none()) {
            let task = Question { prompt, model: handler.model.clone(), timeout: job.limit };
            let said = run::ask(proxy.look(task, job.cancel.clone()), job.limit, job.cancel).await;
            return judged(job, said, true);
        }
        let Some(command) = handler.command.as_ref().or(self.proxy_command.as_ref()) else {
            return unavailable("agent");
        };
        let mut payload = dispatch.payload.clone();
        payload.insert("prompt".to_owned(), prompt.clone().into());
        let text = Dispatch { payload, ..dispatch.clone() }.text_for(job.entry, job.event);
        run::run_as_proxy(Job { text: &text, ..job }, command, &prompt).await
    }

    fn limit(&self, entry: &HookEntry, event: HookEvent) -> Duration {
        let limit = entry.timeout.or(self.timeout);
        let limit = limit.unwrap_or_else(|| entry.handler.kind().default_timeout(event));
        if event == HookEvent::SessionEnd { limit.min(SESSION_END_MOST) } else { limit }
    }
    fn client(&self) -> Result<&Client, String> {
        let made =
            self.client.get_or_init(|| harness_http::client(&self.http).map_err(|error| error.to_string()));
        made.as_ref().map_err(Clone::clone)
    }

    fn report(&self, entry: &HookEntry, event: HookEvent, attempt: Attempt, duration_ms: u64) -> Run {
        let hook = entry.reference();
        let mut warnings = Vec::new();
        let (answer, error) = match attempt.result {
            Ok(answer) => {
                warnings.extend(answer.remarks.iter().map(|remark| format!("hook {}: {remark}", hook.id)));
                (answer, None)
            }
            Err(fault) => {
                let on_error = entry.on_error.unwrap_or(self.on_error);
                let told = format!("hook {} failed: {fault}", hook.id);
                let blocks = on_error == OnError::Block && self.failure_blocks(entry, event, &fault);
                if on_error != OnError::Ignore && fault.kind != FaultKind::Cancelled {
                    let effect = if blocks { "it blocks" } else { "it is ignored" };
                    warnings.push(format!("{told}; {effect}"));
                }
                (if blocks { refusal(told) } else { Answer::default() }, Some(fault))
            }
        };
        if self.reading.profile == Profile::Native {
            if answer.update_input.is_some() {
                warnings.push(format!("hook {}: a new input is not applied in this contract", hook.id));
            }
            if entry.condition.is_some() {
                warnings.push(format!("hook {}: `if` is not looked at in this contract", hook.id));
            }
        }
        let outcome = RunOutcome {
            exit_code: attempt.exit_code,
            stderr: cut(&attempt.stderr),
            stdout: cut(&attempt.stdout),
            answer,
            left_behind: attempt.left_behind,
        };
        Run { hook, event, outcome, duration_ms, error, warnings }
    }
    /// A broken hook must not keep a turn from ending, nor refuse what has happened already.
    fn failure_blocks(&self, entry: &HookEntry, event: HookEvent, fault: &Fault) -> bool {
        let stops = event.is_stop() && self.reading.profile == Profile::Claude;
        let possible = event.blocks_in(self.reading.profile) && entry.waiting == Waiting::Awaited;
        possible && !stops && fault.kind != FaultKind::Cancelled
    }
}

fn unavailable(what: &str) -> Attempt {
    let message = format!("no {what} is there that could answer it");
    Attempt::of(Err(Fault::new(FaultKind::Unavailable, message)))
}

fn judged(job: Job<'_>, said: Result<String, Fault>, goes_on: bool) -> Attempt {
    match said {
        Err(fault) => Attempt::of(Err(fault)),
        Ok(text) => {
            let result = run::judge(job.event, job.reading, &text, goes_on);
            Attempt { stdout: text, ..Attempt::of(result) }
        }
    }
}

fn cut(text: &str) -> String {
    let end = text.char_indices().nth(KEPT).map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}
