//! Prints the CPU time of decoding one small event and of encoding one step of a long session:
//! `cargo run --release -p harness-llm-chat-completions --example decode_cost`.
#![expect(clippy::print_stdout, reason = "an example that reports a measurement")]

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use harness_llm::{Block, CallConfig, LlmError, Message, Purpose, Request, ToolCallBlock, ToolResultBlock};
use harness_llm_chat_completions::{Compat, Encoder, StreamDecoder};
use harness_llm_http::{BodyFault, chunks};
use tokio_util::sync::CancellationToken;

const EVENTS: u32 = 200_000;
const STEPS: u32 = 500;

fn main() -> Result<(), LlmError> {
    let mut request = Request {
        config: CallConfig { provider: "p".into(), model: "m".into(), ..CallConfig::default() },
        system: Some("You help. ".repeat(400).into()),
        tools: [].into(),
        messages: Vec::new(),
        session: None,
        purpose: Purpose::Step,
    };
    let event = r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}"#;

    let mut decoder = StreamDecoder::new(Arc::new(request.clone()), &Compat::default());
    let mut out = Vec::new();
    let started = Instant::now();
    for _ in 0..EVENTS {
        out.clear();
        decoder.push(event, &mut out);
    }
    println!("decode: {} ns an event", (started.elapsed() / EVENTS).as_nanos());

    let wire = Bytes::from(format!("data: {event}\n\n").repeat(EVENTS as usize));
    let body = stream::iter([Ok::<_, BodyFault>(wire)]);
    let decoder = Box::new(StreamDecoder::new(Arc::new(request.clone()), &Compat::default()));
    let started = Instant::now();
    let count = chunks(body, decoder, CancellationToken::new()).count().now_or_never();
    println!("body to chunks: {} ns an event ({count:?} chunks)", (started.elapsed() / EVENTS).as_nanos());

    let encoder = Encoder::new(Compat::default());
    for step in 0..STEPS {
        let id = format!("call_{step}");
        let call =
            ToolCallBlock { id: id.clone(), name: "bash".into(), arguments: r#"{"command":"ls"}"#.into() };
        let result =
            ToolResultBlock { call_id: id, content: vec![Block::text("x".repeat(500))], is_error: false };
        request.messages.push(Arc::new(Message::assistant("p", "m", vec![Block::ToolCall(call)])));
        request.messages.push(Arc::new(Message::tool_result(result)));
        let started = Instant::now();
        let body = encoder.encode(&request)?;
        if step == 0 || step % 100 == 99 {
            println!("encode step {}: {:?}, {} bytes", step + 1, started.elapsed(), body.len());
        }
    }
    Ok(())
}
