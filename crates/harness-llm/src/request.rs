//! What is asked of a model.
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::Message;

/// The part of a request that is configuration: route, model and sampling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallConfig {
    /// Provider route: which adapter serves the call.
    pub provider: String,
    /// Model name, as the provider knows it.
    pub model: String,
    /// Effort word such as `low` or `high`; what is legal is the adapter's matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Most answer tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Texts at which the model stops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
}

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Name the model calls it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: serde_json::Value,
}

/// Why a request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Purpose {
    /// A step of a turn: the gate compares it with the log.
    Step,
    /// A summary of older history.
    Compaction,
    /// A title for the session.
    Title,
    /// A question of a hook.
    Hook,
}

/// A complete request. Immutable: listeners around the stream see it but cannot change it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Route, model and sampling.
    pub config: CallConfig,
    /// System prompt.
    pub system: Option<Arc<str>>,
    /// Tools, in a stable order.
    pub tools: Arc<[ToolSpec]>,
    /// History, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// Session that asks; for provider-side affinity and diagnostics.
    pub session: Option<String>,
    /// Why it is made.
    pub purpose: Purpose,
}

/// Why the gate refused a request: what differs from the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the request differs from the session log: {0}")]
pub struct GateRefusal(pub String);

/// Checked at the one place where a request leaves, after every listener.
///
/// ```
/// use harness_llm::{GateRefusal, Request, RequestGate};
///
/// struct AtMost(usize);
/// impl RequestGate for AtMost {
///     fn check(&self, request: &Request) -> Result<(), GateRefusal> {
///         match request.messages.len() {
///             count if count > self.0 => Err(GateRefusal(format!("{count} messages, the log has {}", self.0))),
///             _ => Ok(()),
///         }
///     }
/// }
/// ```
pub trait RequestGate: Send + Sync {
    /// Compares the request with what the log derives.
    fn check(&self, request: &Request) -> Result<(), GateRefusal>;
}
