//! What the server answers, as bytes.
use std::fmt::Write as _;

use serde_json::{Value, json};

/// What the model does over one run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Script {
    /// One answer of so many one-word chunks.
    Words(usize),
    /// So many steps with one command each, then a short answer.
    Steps(usize),
}

/// Four bytes each, so that the size of a text is easy to tell.
const WORDS: [&str; 8] = ["the ", "cat ", "sat ", "and ", "saw ", "two ", "big ", "rat "];
/// Bytes of one chunk of text.
pub(crate) const WORD_BYTES: usize = 4;

impl Script {
    /// The stream that answers the request, counted from 0.
    pub(crate) fn answer(self, request: usize) -> String {
        match self {
            Self::Words(count) => words(count),
            Self::Steps(count) if request < count => call(request),
            Self::Steps(_) => words(3),
        }
    }
    /// How many requests one run makes.
    pub(crate) fn requests(self) -> usize {
        match self {
            Self::Words(_) => 1,
            Self::Steps(count) => count + 1,
        }
    }
}

fn words(count: usize) -> String {
    let mut stream = String::new();
    event(&mut stream, &json!({ "role": "assistant", "content": "" }), None);
    for word in WORDS.iter().cycle().take(count) {
        event(&mut stream, &json!({ "content": word }), None);
    }
    event(&mut stream, &json!({}), Some("stop"));
    end(stream)
}

fn call(request: usize) -> String {
    let mut stream = String::new();
    let id = format!("call_{request}");
    let open =
        json!({ "index": 0, "id": id, "type": "function", "function": { "name": "bash", "arguments": "" } });
    event(&mut stream, &json!({ "role": "assistant", "content": null, "tool_calls": [open] }), None);
    for part in [r#"{"command":"#, r#""true"}"#] {
        event(
            &mut stream,
            &json!({ "tool_calls": [{ "index": 0, "function": { "arguments": part } }] }),
            None,
        );
    }
    event(&mut stream, &json!({}), Some("tool_calls"));
    end(stream)
}

fn event(stream: &mut String, delta: &Value, finish: Option<&str>) {
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }]
    });
    let _ = write!(stream, "data: {chunk}\n\n");
}

fn end(mut stream: String) -> String {
    let usage = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [],
        "usage": { "prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20 }
    });
    let _ = write!(stream, "data: {usage}\n\ndata: [DONE]\n\n");
    stream
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_ends_with_an_answer() {
        let script = Script::Steps(2);
        assert_eq!(script.requests(), 3);
        assert!(script.answer(1).contains("call_1") && !script.answer(2).contains("call_"));
        assert!(WORDS.iter().all(|word| word.len() == WORD_BYTES));
        let events = Script::Words(20).answer(0).matches("data: ").count();
        assert_eq!(events, 20 + 4);
    }
}
