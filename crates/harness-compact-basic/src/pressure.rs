//! Before a step whose request would come close to the window.
use harness_agent::{AgentFailed, PreStep, PreStepDecision};
use harness_compact::{CompactError, Compactor, Trigger};
use harness_llm::{Failure, FailureCode};
use harness_token_meter::{measure, message_tokens};

use crate::config::part;
use crate::engine::Engine;
use crate::prune::prune;

/// Most compactions before one step, and most recoveries of one.
pub(crate) const ATTEMPTS: u32 = 2;

/// Makes room. Returns a decision only if the step must not open.
pub(crate) async fn relieve(engine: &Engine, event: &PreStep) -> Option<PreStepDecision> {
    let session = event.agent.session();
    let window = engine.window(session)?;
    let limit = part(window, engine.config.threshold);
    let entering: u64 = event.messages.iter().map(|message| message_tokens(message)).sum();
    let load = || measure(session).tokens.saturating_add(entering);
    if load() <= limit {
        return None;
    }
    let mut problem = None;
    match prune(session, &engine.config, Trigger::Pressure, part(window, engine.config.retain)) {
        Ok(_) if load() <= limit => return None,
        Ok(_) => {}
        Err(error) => problem = Some(error),
    }
    for _ in 0..ATTEMPTS {
        match engine.compact(&event.agent, Trigger::Pressure, event.cancel.clone()).await {
            Ok(_) if load() <= limit => return None,
            Ok(_) => problem = None,
            // What a plugin decided, or what cannot be helped here. A provider that then refuses is heard.
            Err(
                CompactError::Nothing
                | CompactError::Rejected(_)
                | CompactError::Cancelled
                | CompactError::Busy,
            ) => return None,
            Err(error) => problem = Some(error),
        }
    }
    match problem {
        // It shrank; that is not as much as was hoped for, but it fits.
        None if load() < window => None,
        Some(problem @ CompactError::Model(_)) if load() < window => {
            let text = format!("{problem}; the turn goes on with {} of {window} tokens", load());
            let failure = Failure::new(FailureCode::other(problem.code()), text);
            event.agent.ctx().emit(&AgentFailed { agent: event.agent.id(), turn: None, failure });
            None
        }
        problem => Some(PreStepDecision::Fail(not_compacted(load(), window, problem.as_ref()))),
    }
}

/// The loud stop.
pub(crate) fn not_compacted(load: u64, window: u64, problem: Option<&CompactError>) -> Failure {
    let why = problem.map_or_else(|| "the summaries did not save enough".to_owned(), ToString::to_string);
    let text = format!(
        "the history could not be brought within the model's context window: about {load} of {window} tokens, and {why}; \
         go on in a new session, or with a model that has a larger window"
    );
    Failure::new(FailureCode::other("CONTEXT_NOT_COMPACTED"), text)
}
