//! Prints the CPU time per small event: `cargo run --release -p harness-sse --example sse_cost`.
#![expect(clippy::print_stdout, reason = "an example that reports a measurement")]

use std::time::Instant;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use harness_sse::SseStream;

const EVENTS: usize = 200_000;

fn main() {
    let token = "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
                 \"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"finish_reason\":null}]}";
    for (name, data) in [("15-byte event", "word w"), ("chat-completion chunk", token)] {
        let event = format!("data: {data}\n\n");
        let input = Bytes::from(event.repeat(EVENTS));
        for chunk in [event.len(), 1460, 16 * 1024, input.len()] {
            let chunks: Vec<Bytes> = (0..input.len())
                .step_by(chunk)
                .map(|start| input.slice(start..input.len().min(start + chunk)))
                .collect();
            let source = stream::iter(chunks.into_iter().map(Ok::<_, std::convert::Infallible>));
            let started = Instant::now();
            let count = SseStream::new(source).count().now_or_never().unwrap_or_default();
            let each = started.elapsed().as_nanos() / count.max(1) as u128;
            println!("{name} ({} bytes) in chunks of {chunk}: {count} events, {each} ns each", event.len());
        }
    }
}
