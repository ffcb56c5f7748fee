//! Times, amounts and reasons in words.
use harness_llm::{FinishReason, Usage};
use harness_session::{AbortCause, TurnEndReason};

use crate::change::ChangeKind;
use crate::transcript::Tone;

/// A moment, in UTC, so that the same log gives the same document everywhere.
pub(crate) fn moment(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(
        |_| "an unknown time".to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

/// A moment for programs.
pub(crate) fn stamp(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |time| time.to_string())
}

/// A duration. A clock that was set back gives none.
pub(crate) fn duration(ms: i64) -> String {
    match ms.max(0) {
        ms @ ..1000 => format!("{ms} ms"),
        ms @ ..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        ms @ ..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
        ms => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// A number with its thousands apart.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things.
pub(crate) fn count(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {one}s", number(n)) }
}

/// Token counts.
pub(crate) fn tokens(usage: &Usage) -> String {
    let mut text = format!("{} in", number(usage.input));
    let part = |name: &str, n: Option<u64>| {
        n.filter(|n| *n > 0).map_or_else(String::new, |n| format!(" + {} {name}", number(n)))
    };
    text.push_str(&part("cached", usage.cache_read));
    text.push_str(&part("cache written", usage.cache_write));
    text.push_str(&format!(", {} out", number(usage.output)));
    if let Some(reasoning) = usage.reasoning.filter(|n| *n > 0) {
        text.push_str(&format!(" ({} of it reasoning)", number(reasoning)));
    }
    text
}

/// What happened to a file.
pub(crate) fn changed_how(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Created => "New file",
        ChangeKind::Replaced => "Rewritten file, compared with what the session last saw:",
        ChangeKind::Overwritten => "Rewritten file; its old content is not in the log:",
        ChangeKind::Edited => "Edited",
    }
}

/// US dollars.
pub(crate) fn dollars(usd: f64) -> String {
    format!("${usd:.4}")
}

/// Why a turn ended, and how serious that is.
pub(crate) fn ending(reason: &TurnEndReason) -> (String, Tone) {
    match reason {
        TurnEndReason::Completed => ("completed".to_owned(), Tone::Plain),
        TurnEndReason::Aborted { cause } => (format!("cancelled {}", cancelled(cause)), Tone::Warning),
        TurnEndReason::Blocked { reason } => {
            let why = reason.as_deref().unwrap_or("by a policy");
            (format!("blocked: {why}"), Tone::Warning)
        }
        TurnEndReason::Stopped { reason } => (format!("stopped: {reason}"), Tone::Warning),
        TurnEndReason::Error { failure } => (format!("failed: {failure}"), Tone::Failure),
        TurnEndReason::MaxTokens => ("cut off at the output limit".to_owned(), Tone::Warning),
        TurnEndReason::Budget { budget, limit } if budget == "cost" => {
            let (whole, micros) = (limit / 1_000_000, limit % 1_000_000);
            (format!("its budget of ${whole}.{:04} was used up", micros / 100), Tone::Warning)
        }
        TurnEndReason::Budget { budget, limit } => {
            (format!("its budget of {} {budget} was used up", number(*limit)), Tone::Warning)
        }
        TurnEndReason::Interrupted => {
            ("interrupted: the process ended in the middle of it".to_owned(), Tone::Failure)
        }
        other => (format!("{other:?}"), Tone::Warning),
    }
}

fn cancelled(cause: &AbortCause) -> String {
    match cause {
        AbortCause::User => "by the person".to_owned(),
        AbortCause::Parent => "by the agent that it worked for".to_owned(),
        AbortCause::Disposed => "because the program ended".to_owned(),
        AbortCause::Hook { reason } => format!("by a hook: {reason}"),
        AbortCause::Signal { signal } => format!("by {signal}"),
        other => format!("({other:?})"),
    }
}

/// How an answer ended, where that is worth telling.
pub(crate) fn finish(reason: Option<&FinishReason>) -> Option<String> {
    match reason? {
        FinishReason::Stop | FinishReason::ToolCalls => None,
        FinishReason::MaxTokens => Some("cut off at the output limit".to_owned()),
        FinishReason::Aborted { failure } | FinishReason::Error { failure } => Some(failure.to_string()),
        other => Some(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_times_read_well() {
        assert_eq!(moment(1_764_580_000_123), "2025-12-01 09:06:40 UTC");
        assert_eq!(moment(i64::MAX), "an unknown time");
        let durations = [-5, 999, 2140, 61_000, 3_660_000].map(duration);
        assert_eq!(durations, ["0 ms", "999 ms", "2.1 s", "1 min 1 s", "1 h 1 min"]);
        assert_eq!([0, 999, 1000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
        let usage = Usage {
            input: 1200,
            output: 30,
            cache_read: Some(4000),
            cache_write: Some(0),
            reasoning: Some(9),
        };
        assert_eq!(tokens(&usage), "1,200 in + 4,000 cached, 30 out (9 of it reasoning)");
        let budget = TurnEndReason::Budget { budget: "cost".into(), limit: 500_000 };
        assert_eq!(ending(&budget).0, "its budget of $0.5000 was used up");
    }
}
