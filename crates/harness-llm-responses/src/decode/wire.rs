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
    #[serde(borrow, default)]
    pub(super) item_id: Text<'a>,
    #[serde(default)]
    pub(super) output_index: Option<u64>,
    #[serde(default)]
    pub(super) summary_index: Option<u64>,
    /// A text in the events that are read; unknown events may put anything here.
    #[serde(borrow, default)]
    pub(super) delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// An item of the output. One of an unknown type has none of these fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    pub(super) r#type: String,
    pub(super) id: Option<String>,
    pub(super) call_id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: Option<String>,
    pub(super) content: Option<Vec<Part>>,
    pub(super) summary: Option<Vec<Part>>,
    pub(super) encrypted_content: Option<String>,
}

/// A part of a message or of a summary.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    pub(super) text: Option<String>,
    pub(super) refusal: Option<String>,
}

/// The response object of the events about the whole.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) incomplete_details: Option<Incomplete>,
    #[serde(borrow, default)]
    pub(super) output: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Incomplete {
    pub(super) reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    input_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    /// Disjoint counts; `None` for a report without any count above zero.
    pub(super) fn read(self) -> Option<Usage> {
        let (prompt, output) = (self.input_tokens.unwrap_or(0), self.output_tokens.unwrap_or(0));
        if prompt == 0 && output == 0 {
            return None;
        }
        let cache_read = self.input_tokens_details.unwrap_or_default().cached_tokens;
        Some(Usage {
            input: prompt.saturating_sub(cache_read.unwrap_or(0)),
            output,
            cache_read,
            cache_write: None,
            reasoning: self.output_tokens_details.unwrap_or_default().reasoning_tokens,
        })
    }
}

/// The text of a raw value; empty if there is none.
pub(super) fn text(raw: Option<&RawValue>) -> serde_json::Result<Text<'_>> {
    raw.map_or_else(|| Ok(Text::default()), |raw| serde_json::from_str(raw.get()))
}

impl Item {
    /// The text of a message, or of a summary with its parts apart.
    pub(super) fn text(&self) -> String {
        let parts = |parts: &Option<Vec<Part>>, separator: &str| {
            let texts =
                parts.iter().flatten().filter_map(|part| part.text.as_deref().or(part.refusal.as_deref()));
            texts.collect::<Vec<_>>().join(separator)
        };
        match &*self.r#type {
            "reasoning" => {
                let summary = parts(&self.summary, super::PARAGRAPH);
                if summary.is_empty() { parts(&self.content, "") } else { summary }
            }
            _ => parts(&self.content, ""),
        }
    }
}
