//! One event of the wire stream, read without copying what needs no copy.
use harness_llm::Usage;
use harness_llm_http::Text;
use serde::Deserialize;
use serde_json::value::RawValue;

/// An event. Unknown fields are passed over.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default)]
    pub(super) r#type: Text<'a>,
    #[serde(default)]
    pub(super) index: Option<u64>,
    /// Of `message_start`.
    #[serde(borrow, default)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// The message of `message_start`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Start<'a> {
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// The block of `content_block_start`, with what it may have of its content already.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ContentBlock<'a> {
    #[serde(borrow, default)]
    pub(super) r#type: Text<'a>,
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Text<'a>,
    #[serde(borrow, default)]
    pub(super) data: Text<'a>,
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
}

/// The delta of a block or of the message.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) r#type: Text<'a>,
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Text<'a>,
    #[serde(borrow, default)]
    pub(super) partial_json: Text<'a>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Text<'a>,
}

/// Token counts as reported so far. Later reports are cumulative and may leave fields out.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: Option<u64>,
}

impl WireUsage {
    /// Takes the counts that `later` has.
    pub(super) fn update(&mut self, later: Self) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
        self.cache_read = later.cache_read.or(self.cache_read);
        self.cache_write = later.cache_write.or(self.cache_write);
    }

    /// The counts; they are disjoint on the wire. `None` without any count above zero.
    pub(super) fn read(self) -> Option<Usage> {
        let Self { input, output, cache_read, cache_write } = self;
        let has_any = [input, output, cache_read, cache_write].into_iter().flatten().any(|count| count > 0);
        let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
        has_any.then_some(Usage { input, output, cache_read, cache_write, reasoning: None })
    }
}
