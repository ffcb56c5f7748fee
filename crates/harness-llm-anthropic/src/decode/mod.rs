//! Wire events to chunks.
mod blocks;
mod wire;

use std::sync::Arc;

use harness_llm::{Chunk, Failure, FailureCode, Finish, FinishReason, Request};
use harness_llm_http::{Decoder, Ending, ProviderError, StreamSite, bounded, without_lone_surrogates};
use serde_json::value::RawValue;

use self::blocks::Blocks;
use self::wire::{ContentBlock, Delta, Event, Start, WireUsage};

/// The event that ends a stream, for messages.
const STOP: &str = "message_stop";
/// Most characters of an unknown reason that become a code.
const LONGEST_CODE: usize = 64;

/// Decodes one response, event by event.
///
/// The chunks keep the rules of [`harness_llm::ProtocolChecker`]: blocks in order of first appearance, each ended as
/// the server ends it, the usage and the finish at the end. A failure is a finish, too.
#[derive(Debug)]
pub struct StreamDecoder {
    request: Arc<Request>,
    site: StreamSite,
    blocks: Blocks,
    usage: WireUsage,
    stop_reason: Option<String>,
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
            usage: WireUsage::default(),
            stop_reason: None,
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

    fn event(&mut self, data: &str, event: &Event<'_>, out: &mut Vec<Chunk>) -> serde_json::Result<()> {
        match &*event.r#type {
            "message_start" => {
                let message: Option<Start<'_>> = read(event.message)?;
                self.count(message.and_then(|message| message.usage));
            }
            "content_block_start" => {
                let block: ContentBlock<'_> = read(event.content_block)?.unwrap_or_default();
                if !self.blocks.start(event.index, &block, &self.request, out) {
                    let text = "the model server sent a tool call without a name";
                    self.fail(Failure::new(FailureCode::MALFORMED_RESPONSE, text), out);
                }
            }
            "content_block_delta" => {
                let delta: Delta<'_> = read(event.delta)?.unwrap_or_default();
                self.blocks.delta(event.index, &delta, out);
            }
            "content_block_stop" => self.blocks.stop(event.index, out),
            "message_delta" => {
                self.count(event.usage);
                let delta: Delta<'_> = read(event.delta)?.unwrap_or_default();
                if !delta.stop_reason.is_empty() {
                    self.stop_reason = Some((*delta.stop_reason).to_owned());
                }
            }
            STOP => self.complete(out),
            "error" => self.fail(ProviderError::parse(data).in_stream(), out),
            // Some gateways send their own error object in place of an event.
            "" if event.error.is_some() => self.fail(ProviderError::parse(data).in_stream(), out),
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, usage: Option<&RawValue>) {
        match read(usage) {
            Ok(usage) => self.usage.update(usage.unwrap_or_default()),
            Err(error) => tracing::warn!(%error, "a usage report of the model server cannot be read"),
        }
    }

    /// The server says that the response is whole.
    fn complete(&mut self, out: &mut Vec<Chunk>) {
        let Some(word) = self.stop_reason.take() else {
            return self.fail(Ending::without_reason(self.events, STOP), out);
        };
        let reason = match &*word {
            "end_turn" | "stop_sequence" | "tool_use" if self.blocks.is_empty() => {
                let text = "the model stopped without saying anything";
                return self.fail(Failure::new(FailureCode::EMPTY_RESPONSE, text), out);
            }
            "end_turn" | "stop_sequence" | "tool_use" if self.blocks.has_calls() => FinishReason::ToolCalls,
            "end_turn" | "stop_sequence" | "tool_use" => FinishReason::Stop,
            "max_tokens" => FinishReason::MaxTokens,
            "model_context_window_exceeded" => {
                let text = "the answer was cut off because the context window is full";
                return self.fail(Failure::new(FailureCode::CONTEXT_WINDOW_EXCEEDED, text), out);
            }
            "refusal" => {
                let text = "the provider's safety system withheld the answer or cut it off";
                return self.fail(Failure::new(FailureCode::CONTENT_FILTER, text), out);
            }
            other => {
                let word = bounded(other, LONGEST_CODE);
                let text = format!("the model stopped for a reason that is not known here: `{word}`");
                return self.fail(Failure::new(FailureCode::other(word.to_uppercase()), text), out);
            }
        };
        self.is_over = true;
        self.blocks.end(reason == FinishReason::MaxTokens, out);
        out.extend(self.usage.read().map(Chunk::Usage));
        out.push(Chunk::Finish(Finish::from(reason)));
    }

    fn fail(&mut self, failure: Failure, out: &mut Vec<Chunk>) {
        self.is_over = true;
        out.extend(self.usage.read().map(Chunk::Usage));
        out.push(self.site.finish(failure));
    }
}

fn read<'a, T: serde::Deserialize<'a>>(raw: Option<&'a RawValue>) -> serde_json::Result<Option<T>> {
    raw.map_or(Ok(None), |raw| serde_json::from_str(raw.get()))
}

impl Decoder for StreamDecoder {
    fn push(&mut self, name: &str, data: &str, out: &mut Vec<Chunk>) {
        let data = data.trim();
        if self.is_over || data.is_empty() || data == "[DONE]" {
            return;
        }
        self.events += 1;
        if name == "error" {
            return self.fail(ProviderError::parse(data).in_stream(), out);
        }
        let repaired = without_lone_surrogates(data);
        let data = repaired.as_deref().unwrap_or(data);
        let outcome = serde_json::from_str(data).and_then(|event| self.event(data, &event, out));
        if let Err(fault) = outcome {
            self.fail(self.site.unreadable(data, &fault), out);
        }
    }

    fn end(&mut self, ending: Ending<'_>, out: &mut Vec<Chunk>) {
        if !self.is_over {
            self.fail(ending.failure(self.events, self.stop_reason.as_deref(), STOP), out);
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}
