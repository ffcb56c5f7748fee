//! What the composer supplies for handlers that need a model.
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// A question to a model or a task for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The text, the payload filled in.
    pub prompt: String,
    /// The model, if the hook names one.
    pub model: Option<String>,
    /// How long the answer may take; the engine gives up then by itself.
    pub timeout: Duration,
}

/// Asks a model one question and gives back its words. The answer should be one JSON object such as
/// `{"ok": false, "reason": "…"}`; reading it is the engine's job.
#[async_trait]
pub trait Oracle: Send + Sync {
    /// Asks. An error is told to the person and follows the hook's `onError`.
    async fn ask(&self, question: Question, cancel: CancellationToken) -> Result<String, String>;
}

/// Has an agent look into something and gives back its last words, in the form that an [`Oracle`] answers in.
#[async_trait]
pub trait Proxy: Send + Sync {
    /// Runs the agent. An error is told to the person and follows the hook's `onError`.
    async fn look(&self, task: Question, cancel: CancellationToken) -> Result<String, String>;
}
