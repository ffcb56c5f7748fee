//! The history as messages that alternate.
use harness_llm::{Message, Request, Role};
use harness_llm_http::Fragments;

use super::block;

/// Said before an assistant message that nothing stands before.
const OPENING: &[u8] = br#"{"role":"user","content":[{"type":"text","text":"(the conversation goes on)"}]},"#;

/// Finished JSON of messages in use: tool results, and everything else.
#[derive(Default)]
pub(super) struct History {
    results: Fragments<Message>,
    rest: Fragments<Message>,
}

/// The wire message that is being written.
#[derive(Clone, Copy)]
struct Open {
    role: &'static str,
    /// Where further results go: they must stand before everything else of their message.
    results_end: usize,
}

impl History {
    /// Appends the messages of `request` without the brackets around them.
    ///
    /// Neighbours of one role become one message. A message that says nothing to a model adds nothing.
    pub(super) fn write(&mut self, request: &Request, body: &mut Vec<u8>) -> serde_json::Result<()> {
        let start = body.len();
        let mut open: Option<Open> = None;
        let mut blocks = Vec::new();
        for message in &request.messages {
            let role = if message.role == Role::Assistant { "assistant" } else { "user" };
            for is_results in [true, false] {
                blocks.clear();
                if is_results {
                    self.results.append(message, &mut blocks, block::write_results)?;
                } else {
                    let write = |message: &Message, out: &mut Vec<u8>| {
                        block::write_rest(message, &request.config, out)
                    };
                    self.rest.append(message, &mut blocks, write)?;
                }
                if blocks.is_empty() {
                    continue;
                }
                let mut at = match open {
                    Some(at) if at.role == role => at,
                    before => {
                        if before.is_some() {
                            close(body);
                        } else if role == "assistant" {
                            body.extend_from_slice(OPENING);
                        }
                        body.extend_from_slice(format!("{{\"role\":\"{role}\",\"content\":[").as_bytes());
                        Open { role, results_end: body.len() }
                    }
                };
                if is_results {
                    body.splice(at.results_end..at.results_end, blocks.iter().copied());
                    at.results_end += blocks.len();
                } else {
                    body.extend_from_slice(&blocks);
                }
                open = Some(at);
            }
        }
        if open.is_some() {
            close(body);
        }
        if body.len() > start {
            body.pop();
        }
        Ok(())
    }
}

/// Ends a message whose last block is followed by a comma.
fn close(body: &mut Vec<u8>) {
    body.pop();
    body.extend_from_slice(b"]},");
}
