//! Requests, and chunks as short lines.
#![allow(dead_code, clippy::expect_used, reason = "each test file uses its own part")]

use std::sync::Arc;

use harness_llm::{BlockKind, CallConfig, Chunk, FinishReason, Message, ProtocolChecker, Purpose, Request};
use harness_llm_chat_completions::{Compat, StreamDecoder};
use harness_llm_http::Ending;

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

/// A delta event: `{"choices":[{"delta":<delta>}]}`.
pub(crate) fn delta(delta: &str) -> String {
    format!(
        r#"{{"id":"x","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#
    )
}

/// A delta event with one fragment of a tool call.
pub(crate) fn call(fragment: &str) -> String {
    delta(&format!(r#"{{"tool_calls":[{fragment}]}}"#))
}

pub(crate) fn finish(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

/// Decodes whole events and then a clean end; the chunks as lines, checked against the protocol.
pub(crate) fn decode(events: &[String]) -> Vec<String> {
    decode_with(request(Vec::new()), &Compat::default(), events, Ending::Clean)
}

pub(crate) fn decode_with(
    request: Request,
    compat: &Compat,
    events: &[String],
    ending: Ending<'_>,
) -> Vec<String> {
    let mut decoder = StreamDecoder::new(Arc::new(request), compat);
    let mut chunks = Vec::new();
    for event in events {
        decoder.push(event, &mut chunks);
    }
    decoder.end(ending, &mut chunks);
    check(&chunks);
    chunks.iter().map(line).collect()
}

/// Panics unless the chunks keep the protocol and end with a finish.
pub(crate) fn check(chunks: &[Chunk]) {
    let mut checker = ProtocolChecker::default();
    for chunk in chunks {
        checker.check(chunk).unwrap_or_else(|violation| panic!("{violation}: {chunks:?}"));
    }
    assert!(checker.finished(), "no finish: {chunks:?}");
}

pub(crate) fn line(chunk: &Chunk) -> String {
    match chunk {
        Chunk::BlockStart { index, kind } => match kind {
            BlockKind::Text => format!("{index} text"),
            BlockKind::Reasoning => format!("{index} reasoning"),
            BlockKind::ToolCall { id, name } if id.starts_with("call_0") && id.len() == 37 => {
                format!("{index} call {name} minted")
            }
            BlockKind::ToolCall { id, name } => format!("{index} call {name} {id}"),
            BlockKind::Other { name } => format!("{index} {name}"),
        },
        Chunk::TextDelta { index, text } | Chunk::ReasoningDelta { index, text } => {
            format!("{index} + {text}")
        }
        Chunk::ToolCallDelta { index, arguments } => format!("{index} + {arguments}"),
        Chunk::BlockEnd { index, .. } => format!("{index} end"),
        Chunk::Usage(usage) => {
            let part = |name: &str, count: Option<u64>| {
                count.map(|count| format!(" {name} {count}")).unwrap_or_default()
            };
            format!(
                "usage {} {}{}{}",
                usage.input,
                usage.output,
                part("cached", usage.cache_read),
                part("reasoning", usage.reasoning)
            )
        }
        Chunk::Finish(finish) => match &finish.reason {
            FinishReason::Stop => "stop".into(),
            FinishReason::ToolCalls => "tool-calls".into(),
            FinishReason::MaxTokens => "max-tokens".into(),
            other => {
                let failure = other.failure().expect("every other reason has a failure");
                format!("{}: {}", failure.code, failure.message)
            }
        },
    }
}
