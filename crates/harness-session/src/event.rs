//! The event envelope.
use std::sync::Arc;

use harness_llm::Message;
use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::plugin_event::{PluginData, PluginEvent};

/// Position in the log, counted from 0 without gaps.
pub type Seq = u64;

/// Where an event may stand and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventClass {
    /// Becomes part of the model's history.
    Surface,
    /// Records work: must sit inside the open turn and step that it names.
    Execution,
    /// May stand anywhere.
    Standalone,
}

/// How a surface event changes the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceOp {
    /// Goes to the end.
    Append,
    /// Takes the place of the nodes from the first to the second sequence number, both included, in surface order.
    Replace(Seq, Seq),
}

/// One committed event. Immutable.
#[derive(Debug, Clone)]
pub struct Event {
    /// Position in the log.
    pub seq: Seq,
    /// Commit time, milliseconds since the Unix epoch.
    pub time: i64,
    /// What happened.
    pub body: Body,
    /// Present exactly on surface events.
    pub surface: Option<SurfaceOp>,
    /// Earlier events that this one was made from; `None` means unknown.
    pub sources: Option<Vec<Seq>>,
}

/// An event about to be committed.
#[derive(Debug, Clone)]
pub struct Draft {
    pub(crate) body: Body,
    pub(crate) surface: Option<SurfaceOp>,
    pub(crate) sources: Option<Vec<Seq>>,
}

impl Draft {
    /// An event at the end of the log; a surface event goes to the end of the surface.
    pub fn new(body: Body) -> Self {
        let surface = (body.class() == EventClass::Surface).then_some(SurfaceOp::Append);
        Self { body, surface, sources: None }
    }
    /// A surface event that takes the place of earlier nodes; cite them as sources.
    #[must_use]
    pub fn replacing(mut self, first: Seq, last: Seq) -> Self {
        self.surface = Some(SurfaceOp::Replace(first, last));
        self
    }
    /// Names the earlier events that this one was made from.
    #[must_use]
    pub fn citing(mut self, sources: Vec<Seq>) -> Self {
        self.sources = Some(sources);
        self
    }
    /// The message of a surface event.
    pub fn message(&self) -> Option<&Arc<Message>> {
        match &self.body {
            Body::UserMessage(user) => Some(&user.message),
            Body::AssistantMessage(assistant) => Some(&assistant.message),
            Body::ToolResult(result) => Some(&result.message),
            _ => None,
        }
    }
    /// A plugin's own event.
    pub fn plugin<E: PluginEvent>(event: &E) -> Result<Self, serde_json::Error> {
        Ok(Self::new(Body::Plugin(PluginData::of(event)?)))
    }
}
impl From<Body> for Draft {
    fn from(body: Body) -> Self {
        Self::new(body)
    }
}
