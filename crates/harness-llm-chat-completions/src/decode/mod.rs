//! Wire events to chunks.
mod calls;
mod finish;
mod scanner;
mod usage;
mod wire;

use std::sync::Arc;

use harness_llm::{BlockKind, Chunk, Failure, Finish, FinishReason, Request, Usage};
use harness_llm_http::{Decoder, Ending, ProviderError, StreamSite, without_lone_surrogates};

use self::calls::Calls;
use self::wire::{Choice, Event};
use crate::compat::Compat;

/// The sentinel that ends a stream.
const DONE: &str = "[DONE]";

/// Decodes one response, event by event.
///
/// The chunks keep the rules of [`harness_llm::ProtocolChecker`]: reasoning before text, tool calls in order of
/// first appearance, all ends, the usage and the finish together at the end. A failure is a finish, too.
///
/// Call ids that are empty, or that the response or the request's history has already, are replaced by new ones.
#[derive(Debug)]
pub struct StreamDecoder {
    request: Arc<Request>,
    site: StreamSite,
    done_optional: bool,
    next_block: u32,
    text: Option<u32>,
    reasoning: Option<u32>,
    calls: Calls,
    usage: Option<Usage>,
    finish_reason: Option<String>,
    events: u64,
    is_over: bool,
}

impl StreamDecoder {
    /// A decoder for the response to `request`.
    pub fn new(request: Arc<Request>, compat: &Compat) -> Self {
        Self {
            request,
            site: StreamSite::default(),
            done_optional: compat.done_optional,
            next_block: 0,
            text: None,
            reasoning: None,
            calls: Calls::default(),
            usage: None,
            finish_reason: None,
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

    /// Whether the finish is out. Nothing that comes later is looked at.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes the data of one complete event and appends the chunks that it makes.
    pub fn push(&mut self, data: &str, out: &mut Vec<Chunk>) {
        if self.is_over {
            return;
        }
        let data = data.trim();
        if data == DONE {
            return self.complete(out);
        }
        if data.is_empty() {
            return;
        }
        self.events += 1;
        let fault = match serde_json::from_str(data) {
            Ok(event) => return self.event(data, &event, out),
            Err(fault) => fault,
        };
        let Some(repaired) = without_lone_surrogates(data) else {
            return self.unreadable(data, &fault, out);
        };
        match serde_json::from_str(&repaired) {
            Ok(event) => self.event(&repaired, &event, out),
            Err(fault) => self.unreadable(data, &fault, out),
        }
    }

    /// Takes the data of an event that the server marked as an error.
    pub fn push_error(&mut self, data: &str, out: &mut Vec<Chunk>) {
        if !self.is_over {
            self.events += 1;
            self.provider_error(&ProviderError::parse(data), out);
        }
    }

    /// Takes the end of the stream, if no sentinel came before it.
    pub fn end(&mut self, ending: Ending<'_>, out: &mut Vec<Chunk>) {
        if self.is_over {
            return;
        }
        match ending {
            Ending::Truncated { data: Some(data), .. }
                if data.trim() == DONE && self.finish_reason.is_some() =>
            {
                self.complete(out);
            }
            Ending::Clean | Ending::Truncated { .. }
                if self.done_optional && self.finish_reason.is_some() =>
            {
                self.complete(out);
            }
            Ending::Clean | Ending::Truncated { .. } | Ending::Broken { .. } => {
                let failure = ending.failure(self.events, self.finish_reason.as_deref(), DONE);
                self.fail(failure, out);
            }
            Ending::Failed(failure) => self.fail(failure, out),
        }
    }

    fn event(&mut self, data: &str, event: &Event<'_>, out: &mut Vec<Chunk>) {
        if let Some(error) = event.error {
            return self.provider_error(&ProviderError::parse(error.get()), out);
        }
        if &*event.object == "error" {
            return self.provider_error(&ProviderError::parse(data), out);
        }
        if let Some(usage) = event.usage {
            match usage::read(usage.get()) {
                Ok(Some(usage)) => self.usage = Some(usage),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "a usage report of the model server cannot be read"),
            }
        }
        // Only one answer is asked for; a server that sends more numbers them from 0.
        for choice in event.choices.iter().filter(|choice| choice.index == 0) {
            if let Some(error) = choice.error {
                return self.provider_error(&ProviderError::parse(error.get()), out);
            }
            self.choice(choice, out);
        }
    }

    fn choice(&mut self, choice: &Choice<'_>, out: &mut Vec<Chunk>) {
        if let Some(delta) = &choice.delta {
            let reasoning = if delta.reasoning_content.is_empty() {
                &*delta.reasoning.0
            } else {
                &*delta.reasoning_content
            };
            if !reasoning.is_empty() {
                let index = open(&mut self.reasoning, &mut self.next_block, BlockKind::Reasoning, out);
                out.push(Chunk::ReasoningDelta { index, text: reasoning.to_owned() });
            }
            for text in [&delta.content, &delta.refusal] {
                if !text.is_empty() {
                    let index = open(&mut self.text, &mut self.next_block, BlockKind::Text, out);
                    out.push(Chunk::TextDelta { index, text: (**text).to_owned() });
                }
            }
            for call in delta.tool_calls.iter() {
                self.calls.push(call, &self.request, &mut self.next_block, out);
            }
        }
        if self.finish_reason.is_none() && !choice.finish_reason.is_empty() {
            self.finish_reason = Some((*choice.finish_reason).to_owned());
        }
    }

    /// The server says that the response is whole.
    fn complete(&mut self, out: &mut Vec<Chunk>) {
        let Some(word) = self.finish_reason.take() else {
            return self.fail(Ending::without_reason(self.events, DONE), out);
        };
        if word == finish::LENGTH {
            self.calls.open_cut_off(&self.request, &mut self.next_block, out);
        }
        let outcome = finish::Outcome {
            has_calls: !self.calls.is_empty(),
            has_blocks: self.next_block > 0,
            has_nameless: self.calls.has_nameless(),
        };
        match finish::reason(&word, outcome) {
            Ok(reason) => {
                out.extend((0..self.next_block).map(|index| Chunk::BlockEnd { index, block: None }));
                self.finish(reason, out);
            }
            Err(failure) => self.fail(failure, out),
        }
    }

    fn provider_error(&mut self, error: &ProviderError, out: &mut Vec<Chunk>) {
        self.fail(error.in_stream(), out);
    }

    fn unreadable(&mut self, data: &str, fault: &serde_json::Error, out: &mut Vec<Chunk>) {
        self.fail(self.site.unreadable(data, fault), out);
    }

    fn fail(&mut self, failure: Failure, out: &mut Vec<Chunk>) {
        self.is_over = true;
        out.extend(self.usage.take().map(Chunk::Usage));
        out.push(self.site.finish(failure));
    }

    fn finish(&mut self, reason: FinishReason, out: &mut Vec<Chunk>) {
        self.is_over = true;
        out.extend(self.usage.take().map(Chunk::Usage));
        out.push(Chunk::Finish(Finish::from(reason)));
    }
}

impl Decoder for StreamDecoder {
    fn push(&mut self, name: &str, data: &str, out: &mut Vec<Chunk>) {
        if name == "error" {
            return self.push_error(data, out);
        }
        Self::push(self, data, out);
    }

    fn end(&mut self, ending: Ending<'_>, out: &mut Vec<Chunk>) {
        Self::end(self, ending, out);
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

/// The block's index; opens it at its first piece.
fn open(slot: &mut Option<u32>, next_block: &mut u32, kind: BlockKind, out: &mut Vec<Chunk>) -> u32 {
    *slot.get_or_insert_with(|| {
        let index = *next_block;
        *next_block += 1;
        out.push(Chunk::BlockStart { index, kind });
        index
    })
}
