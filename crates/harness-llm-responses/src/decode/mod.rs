//! Wire events to chunks.
mod blocks;
mod wire;

use std::sync::Arc;

use harness_llm::{Chunk, Failure, FailureCode, Finish, FinishReason, Request, Usage};
use harness_llm_http::{Decoder, Ending, ProviderError, StreamSite, bounded, without_lone_surrogates};
use serde_json::value::RawValue;

use self::blocks::{Blocks, Key, Kind};
use self::wire::{Event, Item, Response, text};

/// The event that ends a good stream, for messages.
const COMPLETED: &str = "response.completed";
/// Between the parts of a summary.
const PARAGRAPH: &str = "\n\n";
/// Most characters of an unknown reason that become a code.
const LONGEST_CODE: usize = 64;

/// Decodes one response, event by event.
///
/// The chunks keep the rules of [`harness_llm::ProtocolChecker`]: blocks in order of first appearance, all ends, the
/// usage and the finish together at the end. A failure is a finish, too.
#[derive(Debug)]
pub struct StreamDecoder {
    request: Arc<Request>,
    site: StreamSite,
    blocks: Blocks,
    usage: Option<Usage>,
    events: u64,
    is_over: bool,
}

impl StreamDecoder {
    /// A decoder for the response to `request`.
    pub fn new(request: Arc<Request>) -> Self {
        Self {
            request,
            site: StreamSite::default(),
            blocks: Blocks::default(),
            usage: None,
            events: 0,
            is_over: false,
        }
    }

    /// Makes every failure say where it comes from, without the key.
    #[must_use]
    pub fn at(mut self, site: StreamSite) -> Self {
        self.site = site;
        self
    }

    fn event(&mut self, data: &str, event: &Event<'_>, out: &mut Vec<Chunk>) {
        match &*event.r#type {
            "response.output_text.delta"
            | "response.refusal.delta"
            | "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta"
            | "response.function_call_arguments.delta" => match text(event.delta) {
                Ok(piece) => self.delta(event, &piece, out),
                Err(fault) => self.fail(self.site.unreadable(data, &fault), out),
            },
            "response.output_item.added" => self.item(event, out, false),
            "response.output_item.done" => self.item(event, out, true),
            "response.created" | "response.in_progress" | "response.queued" => {
                if let Some(response) = Self::response(event.response) {
                    self.count(response.usage);
                }
            }
            "response.completed" => self.completed(event.response, out),
            "response.incomplete" => self.incomplete(event.response, out),
            "response.failed" | "response.cancelled" => {
                let response = Self::response(event.response).unwrap_or_default();
                self.count(response.usage);
                let error = response.error.map_or_else(|| data.to_owned(), |error| error.get().to_owned());
                self.fail(ProviderError::parse(&error).in_stream(), out);
            }
            "error" => self.fail(ProviderError::parse(data).in_stream(), out),
            // Some gateways send their own error object in place of an event.
            "" if event.error.is_some() => self.fail(ProviderError::parse(data).in_stream(), out),
            // Done events repeat what was streamed; the item's own says it once more, whole.
            _ => {}
        }
    }

    fn delta(&mut self, event: &Event<'_>, piece: &str, out: &mut Vec<Chunk>) {
        let key = Key { item_id: &event.item_id, output_index: event.output_index };
        match &*event.r#type {
            "response.function_call_arguments.delta" => self.blocks.arguments(key, piece, out),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.blocks.piece(key, &Kind::Text, 0, piece, out);
            }
            _ => self.blocks.piece(key, &Kind::Reasoning, event.summary_index.unwrap_or(0), piece, out),
        }
    }

    fn item(&mut self, event: &Event<'_>, out: &mut Vec<Chunk>, is_done: bool) {
        let Some(raw) = event.item else { return };
        let item: Item = match serde_json::from_str(raw.get()) {
            Ok(item) => item,
            Err(fault) => return self.fail(self.site.unreadable(raw.get(), &fault), out),
        };
        let item_id = item.id.as_deref().unwrap_or(&event.item_id);
        let key = Key { item_id, output_index: event.output_index };
        if is_done {
            self.blocks.done(key, &item, &self.request, out);
        } else if item.r#type == "function_call" {
            self.blocks.call(key, &item, &self.request, out);
        }
    }

    fn response(raw: Option<&RawValue>) -> Option<Response<'_>> {
        match serde_json::from_str(raw?.get()) {
            Ok(response) => Some(response),
            Err(error) => {
                tracing::warn!(%error, "a response object of the model server cannot be read");
                None
            }
        }
    }

    fn count(&mut self, usage: Option<wire::WireUsage>) {
        self.usage = usage.and_then(wire::WireUsage::read).or(self.usage);
    }

    fn completed(&mut self, raw: Option<&RawValue>, out: &mut Vec<Chunk>) {
        let response = Self::response(raw).unwrap_or_default();
        self.count(response.usage);
        if self.blocks.is_empty() {
            // Servers that only wrap their whole answer in a stream.
            for (number, raw) in response.output.iter().flatten().enumerate() {
                let Ok(item) = serde_json::from_str::<Item>(raw.get()) else { continue };
                let key = Key {
                    item_id: item.id.as_deref().unwrap_or_default(),
                    output_index: u64::try_from(number).ok(),
                };
                self.blocks.done(key, &item, &self.request, out);
            }
        }
        if self.blocks.has_nameless() {
            let text = "the model server sent a tool call without a name";
            return self.fail(Failure::new(FailureCode::MALFORMED_RESPONSE, text), out);
        }
        if self.blocks.is_empty() {
            let text = "the model stopped without saying anything";
            return self.fail(Failure::new(FailureCode::EMPTY_RESPONSE, text), out);
        }
        let reason = if self.blocks.has_calls() { FinishReason::ToolCalls } else { FinishReason::Stop };
        self.finish(reason, out);
    }

    fn incomplete(&mut self, raw: Option<&RawValue>, out: &mut Vec<Chunk>) {
        let response = Self::response(raw).unwrap_or_default();
        self.count(response.usage);
        let word = response.incomplete_details.unwrap_or_default().reason.unwrap_or_default();
        match &*word {
            "max_output_tokens" | "max_tokens" => self.finish(FinishReason::MaxTokens, out),
            "content_filter" => {
                let text = "the provider's content filter withheld the answer or cut it off";
                self.fail(Failure::new(FailureCode::CONTENT_FILTER, text), out);
            }
            other => {
                let word = bounded(other, LONGEST_CODE);
                let text = format!("the model stopped for a reason that is not known here: `{word}`");
                let code = if word.is_empty() { "INCOMPLETE".to_owned() } else { word.to_uppercase() };
                self.fail(Failure::new(FailureCode::other(code), text), out);
            }
        }
    }

    fn finish(&mut self, reason: FinishReason, out: &mut Vec<Chunk>) {
        self.is_over = true;
        self.blocks.end(out);
        out.extend(self.usage.take().map(Chunk::Usage));
        out.push(Chunk::Finish(Finish::from(reason)));
    }

    fn fail(&mut self, failure: Failure, out: &mut Vec<Chunk>) {
        self.is_over = true;
        out.extend(self.usage.take().map(Chunk::Usage));
        out.push(self.site.finish(failure));
    }
}

impl Decoder for StreamDecoder {
    fn push(&mut self, name: &str, data: &str, out: &mut Vec<Chunk>) {
        let data = data.trim();
        // The marker of another format, which some servers send after the last event.
        if self.is_over || data.is_empty() || data == "[DONE]" {
            return;
        }
        self.events += 1;
        if name == "error" {
            return self.fail(ProviderError::parse(data).in_stream(), out);
        }
        let repaired = without_lone_surrogates(data);
        let data = repaired.as_deref().unwrap_or(data);
        match serde_json::from_str(data) {
            Ok(event) => self.event(data, &event, out),
            Err(fault) => self.fail(self.site.unreadable(data, &fault), out),
        }
    }

    fn end(&mut self, ending: Ending<'_>, out: &mut Vec<Chunk>) {
        if !self.is_over {
            self.fail(ending.failure(self.events, None, COMPLETED), out);
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}
