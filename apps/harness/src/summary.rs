//! What a run came to, read from the log.
use harness_llm::{Failure, Usage};
use harness_session::{Body, LogView, Seq, TurnEndReason};
use serde::Serialize;

use crate::exit::Exit;

/// Facts of the turns since a point of the log.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// Tokens of all requests.
    pub(crate) usage: Usage,
    /// Model requests that were answered.
    pub(crate) steps: u32,
    /// Tool calls that were answered.
    pub(crate) tool_calls: u32,
    /// How the last turn ended; none if no turn ran.
    pub(crate) reason: Option<TurnEndReason>,
    /// Why the end of the session could not be saved.
    #[serde(skip)]
    pub(crate) unsaved: Option<Failure>,
}

impl Summary {
    pub(crate) fn since(view: &LogView, first: Seq) -> Self {
        let mut summary = Self::default();
        for event in view.iter_from(first) {
            match &event.body {
                Body::AssistantMessage(message) => {
                    summary.steps += 1;
                    if let Some(usage) = message.usage {
                        summary.usage += usage;
                    }
                }
                Body::ToolResult(_) => summary.tool_calls += 1,
                Body::TurnEnd(end) => summary.reason = Some(end.reason.clone()),
                _ => {}
            }
        }
        summary
    }
    /// Code and text of what kept the task from being done.
    pub(crate) fn problem(&self) -> Option<(String, String)> {
        let problem = |code: &str, text: String| Some((code.to_owned(), text));
        match self.reason.as_ref() {
            Some(TurnEndReason::Completed) => {
                let unsaved = self.unsaved.as_ref()?;
                problem(unsaved.code.as_str(), unsaved.message.clone())
            }
            Some(TurnEndReason::Error { failure }) => problem(failure.code.as_str(), failure.message.clone()),
            Some(TurnEndReason::Aborted { .. }) => problem("ABORTED", "the turn was cancelled".to_owned()),
            Some(TurnEndReason::Blocked { reason }) => {
                problem("BLOCKED", reason.clone().unwrap_or_else(|| "a policy blocked the prompt".to_owned()))
            }
            Some(TurnEndReason::Stopped { reason }) => problem("STOPPED", reason.clone()),
            Some(TurnEndReason::MaxTokens) => {
                problem("MAX_TOKENS", "the answer was cut off at the model's output limit".to_owned())
            }
            Some(TurnEndReason::Budget { budget, limit }) => problem(
                "BUDGET",
                format!("the turn used up its budget of {limit} {budget}; go on with --continue"),
            ),
            Some(other) => problem("INTERRUPTED", format!("the turn ended early: {other:?}")),
            None => problem("NO_TURN", "no turn was run".to_owned()),
        }
    }
    pub(crate) fn exit(&self) -> Exit {
        match self.reason {
            _ if self.unsaved.is_some() => Exit::Failed,
            Some(TurnEndReason::Completed) => Exit::Done,
            Some(
                TurnEndReason::Blocked { .. }
                | TurnEndReason::Stopped { .. }
                | TurnEndReason::MaxTokens
                | TurnEndReason::Budget { .. },
            ) => Exit::Stopped,
            _ => Exit::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use harness_llm::FailureCode;

    use super::*;

    #[test]
    fn a_turn_that_is_done_but_not_saved_is_no_success() {
        let done = Summary { reason: Some(TurnEndReason::Completed), ..Summary::default() };
        assert_eq!((done.problem(), done.exit()), (None, Exit::Done));
        let unsaved = Some(Failure::new(FailureCode::other("NOT_DURABLE"), "disk full"));
        let unsaved = Summary { unsaved, ..done };
        let problem = Some(("NOT_DURABLE".to_owned(), "disk full".to_owned()));
        assert_eq!((unsaved.problem(), unsaved.exit()), (problem, Exit::Failed));
    }
}
