//! Ids for calls that share one: providers refuse a request in which two calls have the same.
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use harness_llm::{Block, Message, MessageSource};

/// New ids by position, for those calls of one message whose own ids are taken by earlier ones. A pure function of the
/// message, so that the history derives the same each time.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallIds(BTreeMap<u32, String>);

impl CallIds {
    pub(crate) fn of(message: &Message) -> Self {
        let mut taken: HashSet<String> = HashSet::new();
        let mut given = BTreeMap::new();
        // Own ids first: a new one must not collide with any of them.
        let all: HashSet<&str> = message.tool_calls().map(|call| call.id.as_str()).collect();
        for (position, call) in (0u32..).zip(message.tool_calls()) {
            if taken.insert(call.id.clone()) {
                continue;
            }
            let mut id = format!("{}-{position}", call.id);
            while all.contains(id.as_str()) || !taken.insert(id.clone()) {
                id.push('x');
            }
            given.insert(position, id);
        }
        Self(given)
    }
    /// The new id of the call at a position, if it has one.
    pub(crate) fn at(&self, position: u32) -> Option<&str> {
        self.0.get(&position).map(String::as_str)
    }
    /// The model's message with the new ids.
    pub(crate) fn in_message(&self, message: Arc<Message>) -> Arc<Message> {
        if self.0.is_empty() {
            return message;
        }
        let mut message = Arc::unwrap_or_clone(message);
        let calls = message.content.iter_mut().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        });
        for (position, call) in (0u32..).zip(calls) {
            if let Some(id) = self.at(position) {
                id.clone_into(&mut call.id);
            }
        }
        Arc::new(message)
    }
    /// The result of the call at a position, with the id that the call has now.
    pub(crate) fn in_result(&self, position: u32, message: Arc<Message>) -> Arc<Message> {
        let Some(id) = self.at(position) else { return message };
        let mut message = Arc::unwrap_or_clone(message);
        message.source = MessageSource::Tool { call_id: id.to_owned() };
        for block in &mut message.content {
            if let Block::ToolResult(result) = block {
                id.clone_into(&mut result.call_id);
            }
        }
        Arc::new(message)
    }
}
