//! What a model is shown of blocks in formats that carry text.
use std::borrow::Cow;

use harness_llm::{Block, BlockKind};

/// The blocks that are text or have a text to stand for them, one below the other. Reasoning, calls and results have
/// places of their own. A picture or a block of a type unknown to this build becomes a note, always the same for the
/// same block.
pub fn plain_text(blocks: &[Block]) -> Cow<'_, str> {
    joined(blocks.iter().filter_map(shown), "\n")
}

/// The reasoning of a message.
pub fn reasoning_text(blocks: &[Block]) -> Cow<'_, str> {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Reasoning { text, .. } => Some(text.into()),
        _ => None,
    });
    joined(texts, "")
}

fn shown(block: &Block) -> Option<Cow<'_, str>> {
    match block {
        Block::Text { text } => Some(text.into()),
        Block::Image(image) => Some(
            format!("[image not shown: {}, {} bytes, {}]", image.media_type, image.bytes, image.content_id)
                .into(),
        ),
        Block::Reasoning { .. } | Block::ToolCall(_) | Block::ToolResult(_) => None,
        other => Some(match other.kind() {
            BlockKind::Other { name } => format!("[{name} content not shown]").into(),
            _ => "[content not shown]".into(),
        }),
    }
}

fn joined<'a>(mut pieces: impl Iterator<Item = Cow<'a, str>>, separator: &str) -> Cow<'a, str> {
    let Some(mut text) = pieces.next() else { return Cow::Borrowed("") };
    for piece in pieces {
        let text = text.to_mut();
        text.push_str(separator);
        text.push_str(&piece);
    }
    text
}
