//! The first and the last line of `--json`; between them stand the session's events as logged.
use harness_session::SessionId;
use harness_token_meter::Cost;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::exit::Exit;
use crate::summary::Summary;

/// Version of the `--json` output. Raised when a field changes its meaning or goes away.
pub(crate) const VERSION: u32 = 1;

/// One envelope line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type")]
#[expect(clippy::large_enum_variant, reason = "there are two of them in a run")]
pub(crate) enum Envelope {
    /// First line, unless the run failed before it had a session.
    #[serde(rename = "run/start")]
    Start {
        /// Version of this output.
        version: u32,
        /// The session.
        session: String,
        /// Provider route.
        provider: String,
        /// Model name.
        model: String,
        /// Working folder.
        cwd: String,
    },
    /// Last line, always.
    #[serde(rename = "run/end")]
    End {
        /// Version of this output.
        version: u32,
        /// The session, if the run got that far.
        session: Option<String>,
        /// How the turn ended, as in `turn/end`.
        reason: Option<Value>,
        /// Tokens of all requests of the run.
        usage: Option<Value>,
        /// What the run cost.
        cost: Option<Spent>,
        /// Tokens of all requests of the session.
        session_usage: Option<Value>,
        /// What the session cost.
        session_cost: Option<Spent>,
        /// Model requests that were answered.
        steps: u32,
        /// Tool calls that were answered.
        tool_calls: u32,
        /// What went wrong, if anything did.
        error: Option<Problem>,
        /// The exit code.
        exit_code: u8,
    },
}

/// What was spent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Spent {
    /// US dollars; null if not known.
    pub(crate) usd: Option<f64>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown: Option<String>,
}
impl From<&Cost> for Spent {
    fn from(cost: &Cost) -> Self {
        Self { usd: cost.usd(), unknown: cost.unknown_because() }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// Stable code.
    pub(crate) code: String,
    /// For people.
    pub(crate) message: String,
}

impl Envelope {
    pub(crate) fn end(
        session: Option<SessionId>,
        summary: Option<&Summary>,
        error: Option<Problem>,
        exit: Exit,
    ) -> Self {
        let value =
            |value: &Summary| serde_json::to_value(&value.reason).ok().filter(|value| !value.is_null());
        Self::End {
            version: VERSION,
            session: session.map(|id| id.to_string()),
            reason: summary.and_then(value),
            usage: summary.and_then(|summary| serde_json::to_value(summary.usage).ok()),
            cost: summary.map(|summary| Spent::from(&summary.cost)),
            session_usage: summary.and_then(|summary| serde_json::to_value(summary.session.usage).ok()),
            session_cost: summary.map(|summary| Spent::from(&summary.session.cost)),
            steps: summary.map_or(0, |summary| summary.steps),
            tool_calls: summary.map_or(0, |summary| summary.tool_calls),
            error,
            exit_code: exit.code(),
        }
    }
    pub(crate) fn line(&self) -> String {
        // Only strings, numbers and plain values: nothing here can fail to be JSON.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published schema is the one of this build. `HARNESS_UPDATE=1 cargo test -p harness` writes it anew.
    #[test]
    fn the_published_schema_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json-output.schema.json");
        let schema = schemars::schema_for!(Envelope);
        let fresh = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("HARNESS_UPDATE").is_some() {
            std::fs::write(path, &fresh).unwrap();
        }
        let published = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(published, fresh, "docs/json-output.schema.json is stale: run with HARNESS_UPDATE=1");
    }
}
