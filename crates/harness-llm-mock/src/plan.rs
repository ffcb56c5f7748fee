//! A reply turned into bytes and waits, ahead of the request where that is possible.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::reply::{End, Reply};
use crate::step::{Drip, Step, ToolCall};
use crate::token_usage::{TokenReport, TokenUsage};
use crate::wire::{Call, Closing, WireFormat, Writer};

/// Stands for the text of the request's last message.
pub(crate) const LAST_MESSAGE: &str = "{{last_message}}";

/// What the player does, one after another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Body(Bytes),
    Head,
    Pause(Duration),
    Gate(String),
    Stall,
    Drip(Drip),
    /// The token counts, whose prompt part depends on the request.
    EstimatedUsage {
        completion_bytes: usize,
    },
}

/// A reply ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    /// Number of the reply in the script, from 1; 0 for one that is not in it.
    pub(crate) reply: usize,
    pub(crate) model: String,
    pub(crate) format: WireFormat,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) actions: Vec<Action>,
    /// A body of known length instead of a stream.
    pub(crate) whole: Option<Bytes>,
    pub(crate) end: End,
}

/// The request's part in a reply.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Context<'a> {
    pub(crate) request: usize,
    pub(crate) last_message: &'a str,
}

/// True if the bytes of a reply depend on the request.
pub(crate) fn depends_on_request(reply: &Reply) -> bool {
    wants_last_message(reply)
        || reply.steps.iter().any(|step| matches!(step, Step::ToolCall(ToolCall { id: None, .. })))
}

/// True if a reply quotes the request.
pub(crate) fn wants_last_message(reply: &Reply) -> bool {
    let quotes = |pieces: &[String]| pieces.iter().any(|piece| piece.contains(LAST_MESSAGE));
    reply.steps.iter().any(|step| matches!(step, Step::Text(pieces) if quotes(pieces)))
}

impl Plan {
    pub(crate) fn new(
        reply: &Reply,
        number: usize,
        model: &str,
        format: WireFormat,
        context: Context<'_>,
    ) -> Self {
        let is_whole = reply.body.is_some();
        let content_type = if is_whole { "application/json" } else { "text/event-stream" };
        let mut headers = vec![("content-type".to_owned(), content_type.to_owned())];
        if !is_whole {
            headers.push(("cache-control".to_owned(), "no-cache".to_owned()));
        }
        for (name, value) in &reply.headers {
            headers.retain(|(default, _)| !default.eq_ignore_ascii_case(name));
            headers.push((name.clone(), value.clone()));
        }
        let mut compiler = Compiler::new(format, format.writer(number, model), context);
        for step in &reply.steps {
            compiler.step(step);
        }
        if !is_whole && matches!(reply.end, End::Done | End::WithoutDone) {
            compiler.finish(reply);
        }
        Self {
            reply: number,
            model: model.to_owned(),
            format,
            status: reply.status,
            headers,
            actions: compiler.into_actions(),
            whole: reply.body.clone().map(Bytes::from),
            end: reply.end,
        }
    }
}

struct Compiler<'a> {
    format: WireFormat,
    writer: Box<dyn Writer>,
    context: Context<'a>,
    actions: Vec<Action>,
    /// Body bytes since the last action.
    body: Vec<u8>,
    completion_bytes: usize,
    calls: usize,
}

impl<'a> Compiler<'a> {
    fn new(format: WireFormat, writer: Box<dyn Writer>, context: Context<'a>) -> Self {
        Self { format, writer, context, actions: Vec::new(), body: Vec::new(), completion_bytes: 0, calls: 0 }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Text(pieces) => {
                for piece in pieces {
                    let text = piece.replace(LAST_MESSAGE, self.context.last_message);
                    self.completion_bytes += text.len();
                    self.writer.text(&mut self.body, &text);
                }
            }
            Step::Reasoning(pieces) => {
                for piece in pieces {
                    self.completion_bytes += piece.len();
                    self.writer.reasoning(&mut self.body, piece);
                }
            }
            Step::ToolCall(call) => self.tool_call(call),
            Step::Words(count) => self.words(*count as usize),
            Step::Raw(text) => self.body.extend_from_slice(text.as_bytes()),
            // Checked when the script was accepted; an empty body would be seen at once.
            Step::Base64(text) => self.body.extend_from_slice(&STANDARD.decode(text).unwrap_or_default()),
            Step::Head => self.action(Action::Head),
            Step::PauseMs(length) => self.action(Action::Pause(Duration::from_millis(*length))),
            Step::Gate(name) => self.action(Action::Gate(name.clone())),
            Step::Stall => self.action(Action::Stall),
            Step::Drip(pace) => self.action(Action::Drip(*pace)),
        }
    }

    fn tool_call(&mut self, call: &ToolCall) {
        let index = self.calls;
        self.calls += 1;
        let id = call.id.clone().unwrap_or_else(|| format!("call_{}_{index}", self.context.request));
        let arguments = call.argument_text();
        self.completion_bytes += call.name.len() + arguments.len();
        let pieces = split(&arguments, call.pieces);
        self.writer.call(&mut self.body, &Call { id: &id, name: &call.name, pieces: &pieces });
    }

    fn words(&mut self, count: usize) {
        const WORD: &str = "word ";
        if count == 0 {
            return;
        }
        self.completion_bytes += WORD.len() * count;
        self.writer.text(&mut self.body, WORD);
        let mut chunk = Vec::new();
        if count > 1 {
            self.writer.text(&mut chunk, WORD);
        }
        self.body.extend_from_slice(&chunk.repeat(count - 1));
    }

    fn finish(&mut self, reply: &Reply) {
        let closing = Closing {
            finish: reply.finish.as_deref(),
            has_calls: self.calls > 0,
            has_usage: reply.usage != TokenReport::Omitted,
            end: reply.end,
        };
        let (before, after) = self.writer.close(closing);
        self.body.extend_from_slice(&before);
        let Some(after) = after else { return };
        match reply.usage {
            TokenReport::Omitted => {}
            TokenReport::Exact(usage) => self.body.extend(self.format.usage(usage).to_string().into_bytes()),
            TokenReport::Estimated => {
                self.action(Action::EstimatedUsage { completion_bytes: self.completion_bytes });
            }
        }
        self.body.extend_from_slice(&after);
    }

    fn action(&mut self, action: Action) {
        self.end_body();
        self.actions.push(action);
    }

    fn end_body(&mut self) {
        if !self.body.is_empty() {
            self.actions.push(Action::Body(std::mem::take(&mut self.body).into()));
        }
    }

    fn into_actions(mut self) -> Vec<Action> {
        self.end_body();
        self.actions
    }
}

/// The token counts for a request with a body of `prompt_bytes`.
pub(crate) fn estimated_usage(plan: &Plan, prompt_bytes: usize, completion_bytes: usize) -> Vec<u8> {
    plan.format.usage(TokenUsage::estimated(prompt_bytes, completion_bytes)).to_string().into_bytes()
}

/// Cuts `text` into `count` pieces of about the same number of characters; some may be empty.
fn split(text: &str, count: usize) -> Vec<&str> {
    let mut starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    starts.push(text.len());
    let characters = starts.len() - 1;
    let bound = |piece: usize| starts[piece * characters / count];
    (0..count).map(|piece| &text[bound(piece)..bound(piece + 1)]).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::reply::{tc, txt};

    fn body(reply: &Reply) -> String {
        let plan =
            Plan::new(reply, 1, "m", WireFormat::ChatCompletions, Context { request: 7, last_message: "it" });
        let parts = plan.actions.iter().filter_map(|action| match action {
            Action::Body(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Action::EstimatedUsage { .. } => Some("{}".to_owned()),
            _ => None,
        });
        parts.collect()
    }

    /// The `choices[0]` of each chunk.
    fn choices(reply: &Reply) -> Vec<Value> {
        let body = body(reply);
        let events = body.split("\n\n").filter_map(|event| event.strip_prefix("data: {"));
        events
            .map(|rest| serde_json::from_str::<Value>(&format!("{{{rest}")).unwrap()["choices"][0].clone())
            .collect()
    }

    #[test]
    fn a_text_reply_is_deltas_finish_and_sentinel() {
        let reply = Reply::new().reasoning(["hm"]).pieces(["a", "see {{last_message}}"]);
        let choices = choices(&reply);
        assert_eq!(choices[0]["delta"], json!({ "role": "assistant", "reasoning_content": "hm" }));
        assert_eq!(choices[1]["delta"], json!({ "content": "a" }));
        assert_eq!(choices[2]["delta"], json!({ "content": "see it" }));
        assert_eq!(choices[3], json!({ "index": 0, "delta": {}, "finish_reason": "stop" }));
        assert!(body(&reply).ends_with("data: [DONE]\n\n"));
    }

    #[test]
    fn tool_call_arguments_are_split_without_loss() {
        let arguments = "{\"päth\": \"€\"}";
        let reply =
            Reply::new().call(ToolCall::new("read", arguments).pieces(5)).call(ToolCall::new("b", "x"));
        let choices = choices(&reply);
        let calls: Vec<&Value> = choices.iter().map(|choice| &choice["delta"]["tool_calls"][0]).collect();
        assert_eq!(calls[0]["id"], "call_7_0");
        assert_eq!(calls[0]["function"], json!({ "name": "read", "arguments": "" }));
        let joined: String =
            calls[1..6].iter().filter_map(|call| call["function"]["arguments"].as_str()).collect();
        assert_eq!(joined, arguments);
        assert_eq!((&calls[6]["index"], &calls[6]["id"]), (&json!(1), &json!("call_7_1")));
        assert_eq!(choices[7]["finish_reason"], "tool_calls");
    }

    #[test]
    fn json_arguments_are_sent_as_text() {
        let call = &choices(&tc("c1", "read", json!({ "z": 1, "a": 2 })))[0]["delta"]["tool_calls"][0];
        assert_eq!(
            (&call["id"], &call["function"]["arguments"]),
            (&json!("c1"), &json!("{\"z\":1,\"a\":2}"))
        );
    }

    #[test]
    fn ends_leave_out_what_they_say() {
        let usage = TokenReport::Exact(TokenUsage::default());
        let reply = txt("a").usage(usage);
        assert!(body(&reply).contains("\"choices\":[],\"usage\":"));
        let without = body(&reply.clone().end(End::WithoutDone));
        assert!(without.contains("usage") && !without.contains("[DONE]"));
        assert!(!body(&reply.end(End::Cut)).contains("finish_reason\":\"stop"));
        assert!(!body(&txt("a").usage(TokenReport::Omitted)).contains("usage"));
    }

    #[test]
    fn neighbouring_bytes_are_one_write() {
        let reply = txt("a").bytes([0xff]).step(Step::Words(3)).flush().pieces(["b"]).end(End::Eof);
        let plan = Plan::new(&reply, 1, "m", WireFormat::ChatCompletions, Context::default());
        assert!(matches!(plan.actions[..], [Action::Body(_), Action::Pause(_), Action::Body(_)]), "{plan:?}");
    }

    #[test]
    fn only_replies_that_quote_or_number_the_request_depend_on_it() {
        assert!(!depends_on_request(&tc("c", "read", "{}")));
        assert!(depends_on_request(&Reply::new().call(ToolCall::new("read", "{}"))));
        assert!(depends_on_request(&txt("see {{last_message}}")));
    }
}
