//! The middle of long tool results goes first: that needs no model.
use std::sync::Arc;

use harness_compact::{CompactError, CompactPruned, Trigger};
use harness_llm::{Block, Message, ToolResultBlock};
use harness_session::{Body, Draft, Session, ToolResult};
use harness_token_meter::measure;

use crate::config::CompactConfig;
use crate::cut::nodes;

/// Shortens the tool results of the history, except those among the newest `protect` tokens. Returns how many.
pub(crate) fn prune(
    session: &Session,
    config: &CompactConfig,
    trigger: Trigger,
    protect: u64,
) -> Result<u32, CompactError> {
    let before = measure(session).tokens;
    let view = session.view();
    let nodes = nodes(session);
    let mut left: u64 = nodes.iter().map(|node| node.tokens).sum();
    let mut results = 0;
    for node in &nodes {
        if left < protect {
            break;
        }
        left -= node.tokens;
        let Some(Body::ToolResult(result)) = view.get(node.seq).map(|event| event.body.clone()) else {
            continue;
        };
        // The derived message, not the logged one: it is what the model sees.
        let Some(shorter) = node.message.as_ref().and_then(|message| shortened(message, config)) else {
            continue;
        };
        let body = Body::ToolResult(ToolResult { message: Arc::new(shorter), ..result });
        session.append(Draft::new(body).replacing(node.seq, node.seq).citing(vec![node.seq]))?;
        results += 1;
    }
    if results > 0 {
        let after = measure(session).tokens;
        session.append_plugin(&CompactPruned { trigger, results, before, after })?;
    }
    Ok(results)
}

fn shortened(message: &Message, config: &CompactConfig) -> Option<Message> {
    let [Block::ToolResult(result)] = message.content.as_slice() else { return None };
    let mut changed = false;
    let content =
        result.content.iter().map(|block| match block.as_text().and_then(|text| middle_out(text, config)) {
            Some(text) => {
                changed = true;
                Block::text(text)
            }
            None => block.clone(),
        });
    let content = content.collect();
    let block = ToolResultBlock { call_id: result.call_id.clone(), content, is_error: result.is_error };
    changed.then(|| Message::tool_result(block))
}

/// Beginning and end of a long text; `None` if it is not long.
fn middle_out(text: &str, config: &CompactConfig) -> Option<String> {
    if text.len() <= config.prune_over_chars {
        return None;
    }
    let chars = text.chars().count();
    if chars <= config.prune_over_chars {
        return None;
    }
    let at = |nth: usize| text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (at(config.prune_head_chars), at(chars - config.prune_tail_chars));
    let gone = chars - config.prune_head_chars - config.prune_tail_chars;
    Some(format!(
        "{}\n[… {gone} characters of this older result were taken out to save space …]\n{}",
        &text[..head],
        &text[tail..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_stay_and_a_short_text_stays_whole() {
        let config = CompactConfig {
            prune_over_chars: 10,
            prune_head_chars: 3,
            prune_tail_chars: 2,
            ..CompactConfig::default()
        };
        assert_eq!(middle_out("0123456789", &config), None);
        assert_eq!(middle_out("ääääääääää", &config), None, "characters count, not bytes");
        let text = middle_out("äöü3456789xyz", &config).unwrap();
        assert!(text.starts_with("äöü\n[… 8 characters") && text.ends_with("]\nyz"), "{text}");
    }
}
