//! What a run came to, read from the log.
use harness_llm::{Failure, Usage};
use harness_session::{AbortCause, Body, LogView, Seq, TurnEndReason};
use harness_token_meter::{Cost, Prices, Tally};

use crate::exit::Exit;

/// Facts of the turns since a point of the log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Summary {
    /// Tokens of all requests.
    pub(crate) usage: Usage,
    /// What the run cost.
    pub(crate) cost: Cost,
    /// Tokens and cost of the whole session.
    pub(crate) session: Tally,
    /// Model requests that were answered.
    pub(crate) steps: u32,
    /// Tool calls that were answered.
    pub(crate) tool_calls: u32,
    /// How the last turn ended; none if no turn ran.
    pub(crate) reason: Option<TurnEndReason>,
    /// Why the end of the session could not be saved.
    pub(crate) unsaved: Option<Failure>,
}

impl Summary {
    pub(crate) fn since(view: &LogView, first: Seq, prices: Option<&dyn Prices>) -> Self {
        let run = Tally::since(view, first, prices);
        let session = Tally::since(view, 0, prices);
        let mut summary = Self { usage: run.usage, cost: run.cost, session, ..Self::default() };
        for event in view.iter_from(first) {
            match &event.body {
                Body::AssistantMessage(_) => summary.steps += 1,
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
            Some(TurnEndReason::Aborted { cause: AbortCause::Hook { reason } }) => {
                problem("STOPPED", format!("a hook stopped the turn: {reason}"))
            }
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
                format!("the turn used up its budget of {}; go on with --continue", amount(budget, *limit)),
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
                | TurnEndReason::Budget { .. }
                | TurnEndReason::Aborted { cause: AbortCause::Hook { .. } },
            ) => Exit::Stopped,
            _ => Exit::Failed,
        }
    }
}

/// A budget for people: dollars where it is a cost, which the log keeps in millionths.
pub(crate) fn amount(budget: &str, limit: u64) -> String {
    if budget != harness_budget::COST {
        return format!("{limit} {budget}");
    }
    let (whole, micros) = (limit / 1_000_000, limit % 1_000_000);
    let fraction = format!("{micros:06}");
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { format!("${whole}") } else { format!("${whole}.{fraction:0<2}") }
}

/// A cost for people, or that and why it is not known.
pub(crate) fn money(cost: &Cost) -> String {
    match (cost.usd(), cost.unknown_because()) {
        (Some(usd), _) => format!("${usd:.4}"),
        (None, Some(why)) => format!("cost unknown: {why}"),
        (None, None) => "cost unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use harness_llm::FailureCode;

    use super::*;

    #[test]
    fn budgets_and_costs_are_told_in_dollars() {
        assert_eq!(amount("steps", 2), "2 steps");
        assert_eq!(amount("cost", 500_000), "$0.50");
        assert_eq!(amount("cost", 3_000_000), "$3");
        assert_eq!(amount("cost", 1), "$0.000001");
        let mut cost = Cost::default();
        assert_eq!(money(&cost), "$0.0000");
        cost.add("p/m", &Usage::default(), None);
        assert_eq!(money(&cost), "cost unknown: no price is known for p/m");
    }
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
