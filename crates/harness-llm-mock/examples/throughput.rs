//! Prints what a reply costs: `cargo run --release -p harness-llm-mock --example throughput`.
//!
//! Client and server share one thread, so the wall time is the CPU time of both together; the client
//! only reads and discards.
#![expect(clippy::print_stdout, reason = "an example that reports a measurement")]

use std::time::Instant;

use harness_llm_mock::{MockServer, Options, Recording, Reply, Script, Step, ToolCall, WhenExhausted};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let call = Reply::new().call(ToolCall::new("bash", json!({ "command": "true" })));
    let words = Reply::new().step(Step::Words(20_000));
    for (name, reply, body, requests) in [
        ("tool call, 1 KiB request", &call, 1 << 10, 5000),
        ("tool call, 256 KiB request", &call, 256 << 10, 1000),
        ("20 000 words", &words, 1 << 10, 100),
    ] {
        let script = Script::new([reply.clone()]).when_exhausted(WhenExhausted::RepeatLast);
        let options = Options { recording: Recording::Last(1), ..Options::default() };
        let server = MockServer::start(script, options).await?;
        let mut stream = TcpStream::connect(server.address()).await?;
        let body = format!("{{\"stream\":true,\"pad\":\"{}\"}}", "x".repeat(body));
        let request =
            format!("POST /chat/completions HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let mut received = vec![0; 1 << 20];
        let (mut bytes, started) = (0, Instant::now());
        for _ in 0..requests {
            stream.write_all(request.as_bytes()).await?;
            let mut length = 0;
            while !received[..length].ends_with(b"0\r\n\r\n") {
                length = stream.read(&mut received).await?;
                bytes += length;
            }
        }
        let each = started.elapsed() / requests;
        println!("{name}: {each:?} each, {} bytes each", bytes / requests as usize);
        server.shutdown().await;
    }
    Ok(())
}
