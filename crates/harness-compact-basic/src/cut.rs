//! Where history is cut: never between a call and its result.
use std::collections::HashSet;
use std::sync::Arc;

use harness_compact::SOURCE;
use harness_llm::{Block, Message, MessageSource};
use harness_session::{Seq, Session};
use harness_token_meter::message_tokens;

/// One event on the surface.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) seq: Seq,
    pub(crate) message: Option<Arc<Message>>,
    /// By estimate.
    pub(crate) tokens: u64,
}

/// The surface, oldest first.
pub(crate) fn nodes(session: &Session) -> Vec<Node> {
    session.with_derivation(|derived| {
        derived
            .entries()
            .map(|(seq, message)| {
                let tokens = message.map_or(0, |message| message_tokens(message));
                Node { seq, message: message.map(Arc::clone), tokens }
            })
            .collect()
    })
}

/// The longest older part that may be replaced: everything before the position. What stays weighs at least `retain`
/// tokens and is never nothing; what goes weighs at most `most`. `None` if there is nothing but an earlier summary.
pub(crate) fn choose(nodes: &[Node], retain: u64, most: u64) -> Option<usize> {
    let total: u64 = nodes.iter().map(|node| node.tokens).sum();
    let mut open: HashSet<&str> = HashSet::new();
    let (mut gone, mut best, mut fresh) = (0, None, false);
    for (at, node) in nodes.iter().enumerate() {
        gone += node.tokens;
        if total - gone < retain || gone > most || at + 1 == nodes.len() {
            break;
        }
        let Some(message) = &node.message else { continue };
        for block in &message.content {
            match block {
                Block::ToolCall(call) => {
                    open.insert(&call.id);
                }
                Block::ToolResult(result) => {
                    open.remove(result.call_id.as_str());
                }
                _ => {}
            }
        }
        fresh |= !is_summary(message);
        if open.is_empty() && fresh {
            best = Some(at + 1);
        }
    }
    best
}

pub(crate) fn is_summary(message: &Message) -> bool {
    matches!(&message.source, MessageSource::Plugin { plugin, .. } if plugin == SOURCE)
}

#[cfg(test)]
mod tests {
    use harness_llm::{ContextForm, ToolCallBlock, ToolResultBlock};

    use super::*;

    fn node(message: Message) -> Node {
        Node { seq: 0, message: Some(Arc::new(message)), tokens: 10 }
    }
    fn user() -> Node {
        node(Message::user("u"))
    }
    fn call(id: &str) -> Node {
        let call = ToolCallBlock { id: id.into(), name: "t".into(), arguments: "{}".into() };
        node(Message::assistant("p", "m", vec![Block::ToolCall(call)]))
    }
    fn result(id: &str) -> Node {
        node(Message::tool_result(ToolResultBlock { call_id: id.into(), content: vec![], is_error: false }))
    }

    #[test]
    fn a_call_stays_with_its_result() {
        let nodes = [user(), call("a"), result("a"), call("b"), result("b"), user()];
        assert_eq!(choose(&nodes, 10, 1000), Some(5));
        assert_eq!(choose(&nodes, 20, 1000), Some(3), "not between b and its result");
        assert_eq!(choose(&nodes, 30, 1000), Some(3));
        assert_eq!(choose(&nodes, 10, 25), Some(1), "not between a and its result");
        assert_eq!(choose(&nodes, 10, 5), None);
        assert_eq!(choose(&nodes, 60, 1000), None);
    }
    #[test]
    fn a_summary_alone_is_not_summarised_again() {
        let summary = node(Message::context(SOURCE, ContextForm::Recall, "s"));
        assert_eq!(choose(&[summary.clone(), user()], 0, 1000), None);
        assert_eq!(choose(&[summary, user(), user()], 0, 1000), Some(2));
    }
    #[test]
    fn something_always_stays() {
        assert_eq!(choose(&[user(), user()], 0, 1000), Some(1));
        assert_eq!(choose(&[user()], 0, 1000), None);
        assert_eq!(choose(&[], 0, 1000), None);
    }
}
