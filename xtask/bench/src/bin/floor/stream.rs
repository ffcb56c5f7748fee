//! A streamed answer.
use std::borrow::Cow;
use std::io::Write as _;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// What the model said.
#[derive(Default)]
pub(crate) struct Answer {
    /// Its text.
    pub(crate) text: String,
    /// What it wants to run.
    pub(crate) calls: Vec<Call>,
}
/// One tool call.
#[derive(Default)]
pub(crate) struct Call {
    /// Identity, given by the server.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// JSON text.
    pub(crate) arguments: String,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}
#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Delta<'a>,
}
#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(default)]
    tool_calls: Vec<CallDelta>,
}
#[derive(Deserialize)]
struct CallDelta {
    index: usize,
    id: Option<String>,
    function: FunctionDelta,
}
#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

/// Reads to the end of the stream and prints the text as it comes.
pub(crate) async fn read(mut response: reqwest::Response) -> Result<Answer> {
    let (mut answer, mut buffer, mut done) = (Answer::default(), Vec::new(), false);
    while let Some(bytes) = response.chunk().await? {
        buffer.extend_from_slice(&bytes);
        let mut start = 0;
        while let Some(length) = buffer[start..].iter().position(|byte| *byte == b'\n') {
            let line = &buffer[start..start + length];
            start += length + 1;
            match line.strip_prefix(b"data: ") {
                Some(b"[DONE]") => done = true,
                Some(data) => take(&mut answer, data)?,
                None => {}
            }
        }
        buffer.drain(..start);
    }
    if !done {
        bail!("the stream ended early");
    }
    Ok(answer)
}

fn take(answer: &mut Answer, data: &[u8]) -> Result<()> {
    let chunk: Chunk<'_> = serde_json::from_slice(data).context("a chunk is not as expected")?;
    for delta in chunk.choices.into_iter().map(|choice| choice.delta) {
        if let Some(text) = delta.content {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes())?;
            out.flush()?;
            answer.text.push_str(&text);
        }
        for part in delta.tool_calls {
            if part.index == answer.calls.len() {
                answer.calls.push(Call::default());
            }
            let call = answer.calls.get_mut(part.index).context("tool calls are out of order")?;
            call.id.push_str(&part.id.unwrap_or_default());
            call.name.push_str(&part.function.name.unwrap_or_default());
            call.arguments.push_str(&part.function.arguments.unwrap_or_default());
        }
    }
    Ok(())
}
