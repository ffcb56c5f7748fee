//! From log to model history: a pure fold, incremental and from scratch alike.
use std::collections::HashMap;
use std::sync::Arc;

use harness_llm::{Block, Message, sanitize_message};

use crate::body::{Body, RequestHeader};
use crate::call_ids::CallIds;
use crate::event::{Event, EventClass, Seq, SurfaceOp};

/// Why a surface operation is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// A surface event without an operation, or an operation on another event.
    #[error("a surface operation belongs on surface events and only there")]
    Misplaced,
    /// The replaced node is not on the surface.
    #[error("event {0} is not on the surface")]
    NotOnSurface(Seq),
    /// The range runs backwards.
    #[error("the replaced range {0}..={1} runs backwards on the surface")]
    Backwards(Seq, Seq),
    /// A shadowed node is not cited.
    #[error("the replacement does not cite event {0}, which it shadows")]
    Uncited(Seq),
    /// A call would lose its result, or a result its call.
    #[error("the replaced range {0}..={1} separates a tool call from its result")]
    Unbalanced(Seq, Seq),
    /// A tool result may only be replaced by one for the same call.
    #[error("a tool result may replace only the one result of the same call")]
    ResultMismatch,
}

#[derive(Debug, Clone)]
struct Node {
    seq: Seq,
    /// `None` for an assistant message without content: it stays in the log but says nothing.
    message: Option<Arc<Message>>,
}

/// The surface, the derived messages and the request header in force.
#[derive(Debug, Clone, Default)]
pub struct Derivation {
    nodes: Vec<Node>,
    /// Where the newest assistant message with calls stands, to put the arguments that ran into it.
    calls: Option<usize>,
    /// What its calls are named in the derived messages, where the model's own ids do not tell them apart.
    ids: CallIds,
    header: Option<Arc<RequestHeader>>,
    generation: u64,
}

impl Derivation {
    /// Folds a whole log.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, SurfaceError> {
        let mut derivation = Self::default();
        for event in events {
            let span = derivation.plan(&event.body, event.surface, event.sources.as_deref())?;
            derivation.commit(event, span);
        }
        Ok(derivation)
    }

    /// Takes the next event of a log that is read, or says what its surface operation breaks; then nothing changes.
    pub fn accept(&mut self, event: &Event) -> Result<(), SurfaceError> {
        let span = self.plan(&event.body, event.surface, event.sources.as_deref())?;
        self.commit(event, span);
        Ok(())
    }

    /// Checks an event against the surface before it is committed and finds the positions that it replaces.
    pub(crate) fn plan(
        &self,
        body: &Body,
        surface: Option<SurfaceOp>,
        sources: Option<&[Seq]>,
    ) -> Result<Option<(usize, usize)>, SurfaceError> {
        let on_surface = body.class() == EventClass::Surface;
        match surface {
            Some(_) if !on_surface => Err(SurfaceError::Misplaced),
            None if on_surface => Err(SurfaceError::Misplaced),
            None | Some(SurfaceOp::Append) => Ok(None),
            Some(SurfaceOp::Replace(first, last)) => {
                let find = |seq| {
                    let at = self.nodes.iter().position(|node| node.seq == seq);
                    at.ok_or(SurfaceError::NotOnSurface(seq))
                };
                let (start, end) = (find(first)?, find(last)?);
                if start > end {
                    return Err(SurfaceError::Backwards(first, last));
                }
                let cited = sources.unwrap_or_default();
                if let Some(node) = self.nodes[start..=end].iter().find(|node| !cited.contains(&node.seq)) {
                    return Err(SurfaceError::Uncited(node.seq));
                }
                if let Body::ToolResult(result) = body {
                    let shadowed = self.nodes[start].message.as_ref();
                    let same = shadowed.is_some_and(|old| old.source == result.message.source);
                    if start != end || !same {
                        return Err(SurfaceError::ResultMismatch);
                    }
                } else if !balanced(&self.nodes[start..=end], body) {
                    return Err(SurfaceError::Unbalanced(first, last));
                }
                Ok(Some((start, end)))
            }
        }
    }

    /// Applies a committed event whose operation was planned.
    pub(crate) fn commit(&mut self, event: &Event, span: Option<(usize, usize)>) {
        let message = match &event.body {
            Body::UserMessage(user) => Some(sanitize_message(&user.message)),
            Body::AssistantMessage(assistant) => {
                let says = !assistant.message.content.is_empty();
                self.ids = CallIds::of(&assistant.message);
                says.then(|| self.ids.in_message(sanitize_message(&assistant.message)))
            }
            Body::ToolResult(result) if span.is_some() => Some(sanitize_message(&result.message)),
            Body::ToolResult(result) => {
                Some(self.ids.in_result(result.position, sanitize_message(&result.message)))
            }
            Body::ToolCall(call) => {
                if !call.rewritten_by.is_empty() {
                    let id = self.ids.at(call.position).unwrap_or(&call.call_id).to_owned();
                    self.rewrite(&id, &call.arguments);
                }
                return;
            }
            Body::RequestHeader(header) => {
                self.header = Some(Arc::clone(header));
                return;
            }
            _ => return,
        };
        let calls = message.as_ref().is_some_and(|message| message.tool_calls().next().is_some());
        let node = Node { seq: event.seq, message };
        if let Some((start, end)) = span {
            self.nodes.splice(start..=end, [node]);
            self.generation += 1;
            self.calls = self.calls.and_then(|at| match at {
                at if at < start => Some(at),
                at if at > end => Some(at - (end - start)),
                _ => None,
            });
        } else {
            if calls {
                self.calls = Some(self.nodes.len());
            }
            self.nodes.push(node);
        }
    }

    /// Puts the arguments that ran in the place of those that the model sent.
    fn rewrite(&mut self, call_id: &str, arguments: &str) {
        let Some(message) = self.calls.and_then(|at| self.nodes.get_mut(at)).and_then(|n| n.message.as_mut())
        else {
            return;
        };
        let changed = Arc::make_mut(message);
        for block in &mut changed.content {
            if let Block::ToolCall(call) = block
                && call.id == call_id
            {
                arguments.clone_into(&mut call.arguments);
            }
        }
    }

    /// The history as the model sees it.
    pub fn messages(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.nodes.iter().filter_map(|node| node.message.as_ref())
    }
    /// The surface: sequence numbers and what they say to the model, if anything.
    pub fn entries(
        &self,
    ) -> impl ExactSizeIterator<Item = (Seq, Option<&Arc<Message>>)> + DoubleEndedIterator {
        self.nodes.iter().map(|node| (node.seq, node.message.as_ref()))
    }
    /// Sequence numbers on the surface, in surface order.
    pub fn surface(&self) -> impl Iterator<Item = Seq> + '_ {
        self.nodes.iter().map(|node| node.seq)
    }
    /// The request header in force.
    pub fn header(&self) -> Option<&Arc<RequestHeader>> {
        self.header.as_ref()
    }
    /// How many replacements there were; a change means that earlier history was rewritten.
    pub fn generation(&self) -> u64 {
        self.generation
    }
    /// What the surface shows, by sequence number: for displays and tests.
    pub fn by_seq(&self) -> HashMap<Seq, Arc<Message>> {
        self.nodes.iter().filter_map(|node| Some((node.seq, Arc::clone(node.message.as_ref()?)))).collect()
    }
}

/// Whether a replacement asks for the same results, and gives none to calls outside, as what it replaces.
fn balanced(range: &[Node], replacement: &Body) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for message in range.iter().filter_map(|node| node.message.as_ref()) {
        for block in &message.content {
            match block {
                Block::ToolCall(call) => open.push(&call.id),
                Block::ToolResult(result) => match open.iter().position(|id| *id == result.call_id) {
                    Some(at) => drop(open.remove(at)),
                    None => return false,
                },
                _ => {}
            }
        }
    }
    let asked: Vec<&str> = match replacement {
        Body::AssistantMessage(answer) => answer.message.tool_calls().map(|call| call.id.as_str()).collect(),
        _ => Vec::new(),
    };
    open == asked
}
