//! Tokens by rule of thumb, where no provider has counted yet.
use harness_llm::{Block, Message};
use harness_session::RequestHeader;

/// What a block and a message cost beyond their text.
const FRAME: u64 = 4;
/// What a picture costs, by and large.
const IMAGE: u64 = 1000;

/// Tokens of a text: four ASCII characters are one, and so is any other character.
pub fn text_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // Bytes that go on with a character are not its first.
    let other = text.bytes().filter(|byte| *byte >= 0xc0).count();
    (ascii.div_ceil(4) + other) as u64
}

/// Tokens of a message.
pub fn message_tokens(message: &Message) -> u64 {
    FRAME + message.content.iter().map(block_tokens).sum::<u64>()
}

fn block_tokens(block: &Block) -> u64 {
    FRAME
        + match block {
            Block::Text { text } | Block::Reasoning { text, .. } => text_tokens(text),
            Block::ToolCall(call) => text_tokens(&call.name) + text_tokens(&call.arguments),
            Block::ToolResult(result) => result.content.iter().map(block_tokens).sum(),
            Block::Image(_) => IMAGE,
            Block::Other(other) => serde_json::to_string(other.fields()).map_or(0, |text| text_tokens(&text)),
            _ => 0,
        }
}

/// Tokens of the part of a request outside its messages: system prompt and tools.
pub fn header_tokens(header: &RequestHeader) -> u64 {
    let system = header.system.as_deref().map_or(0, text_tokens);
    let tools = header.tools.iter().map(|tool| {
        let schema = tool.parameters.to_string();
        FRAME + text_tokens(&tool.name) + text_tokens(&tool.description) + text_tokens(&schema)
    });
    system + tools.sum::<u64>()
}
