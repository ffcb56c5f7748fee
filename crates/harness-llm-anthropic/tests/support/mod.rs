//! Requests, and chunks as short lines.
#![allow(dead_code, clippy::expect_used, reason = "each test file uses its own part")]

pub(crate) mod scenarios;

use std::sync::Arc;

use harness_llm::{BlockKind, CallConfig, Chunk, FinishReason, Message, ProtocolChecker, Purpose, Request};
use harness_llm_anthropic::StreamDecoder;
use harness_llm_http::{Decoder, Ending};

pub(crate) fn request(messages: Vec<Message>) -> Request {
    Request {
        config: CallConfig { provider: "p".into(), model: "m".into(), ..CallConfig::default() },
        system: None,
        tools: [].into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        session: None,
        purpose: Purpose::Step,
    }
}

/// Decodes whole events and then a clean end.
pub(crate) fn decode(events: &[String]) -> Vec<Chunk> {
    let mut decoder = StreamDecoder::new(Arc::new(request(Vec::new())));
    let mut chunks = Vec::new();
    for event in events {
        decoder.push("message", event, &mut chunks);
    }
    decoder.end(Ending::Clean, &mut chunks);
    let mut checker = ProtocolChecker::default();
    for chunk in &chunks {
        checker.check(chunk).expect("a broken rule");
    }
    assert!(checker.finished(), "no finish");
    chunks
}

/// As [`decode`], one line for each chunk.
pub(crate) fn lines(events: &[String]) -> Vec<String> {
    decode(events).iter().map(line).collect()
}

fn line(chunk: &Chunk) -> String {
    match chunk {
        Chunk::BlockStart { index, kind: BlockKind::Text } => format!("{index} text"),
        Chunk::BlockStart { index, kind: BlockKind::Reasoning } => format!("{index} reasoning"),
        Chunk::BlockStart { index, kind: BlockKind::ToolCall { id, name } } => {
            format!("{index} call {name} {id}")
        }
        Chunk::BlockStart { index, kind } => format!("{index} {kind:?}"),
        Chunk::TextDelta { index, text } | Chunk::ReasoningDelta { index, text } => {
            format!("{index} + {text}")
        }
        Chunk::ToolCallDelta { index, arguments } => format!("{index} + {arguments}"),
        Chunk::BlockEnd { index, block: None } => format!("{index} end"),
        Chunk::BlockEnd { index, block: Some(block) } => {
            format!("{index} end {}", serde_json::to_string(block).expect("a block is JSON"))
        }
        Chunk::Usage(usage) => format!("usage {} {}", usage.input, usage.output),
        Chunk::Finish(finish) => match &finish.reason {
            FinishReason::Stop => "stop".to_owned(),
            FinishReason::ToolCalls => "tool-calls".to_owned(),
            FinishReason::MaxTokens => "max-tokens".to_owned(),
            FinishReason::Aborted { failure } | FinishReason::Error { failure } => {
                format!("{}: {}", failure.code, failure.message)
            }
            other => format!("{other:?}"),
        },
    }
}
