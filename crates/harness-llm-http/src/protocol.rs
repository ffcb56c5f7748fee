//! What tells one wire format from another.
use std::sync::Arc;

use bytes::Bytes;
use harness_llm::{CallConfig, Chunk, LlmError, Request, RequestOptions};
use reqwest::header::HeaderName;
use secrecy::SecretString;
use serde_json::{Map, Value};

use crate::ending::Ending;
use crate::site::StreamSite;

/// A wire format: how a request is written and how its answer is read. The rest of a call is the same for all.
pub trait Protocol: Send + Sync + 'static {
    /// What is called below the base URL, such as `chat/completions`.
    fn operation(&self) -> &'static str;

    /// The header that carries the key, and its value.
    fn credential(&self, key: &SecretString) -> (HeaderName, SecretString);

    /// Headers of the format itself, such as its version.
    fn headers(&self) -> &[(&'static str, &'static str)] {
        &[]
    }

    /// All body fields that the format writes; a setting or a listener cannot add one of them.
    fn own_fields(&self) -> &'static [&'static str];

    /// Looks for what cannot be sent, such as an effort word that the model does not know.
    ///
    /// # Errors
    /// With what is wrong and what is allowed.
    fn check(&self, config: &CallConfig) -> Result<(), LlmError>;

    /// The body fields of `request` outside system prompt, messages and tools.
    fn fields(&self, request: &Request) -> Map<String, Value>;

    /// The body fields in which this format carries metadata and cache wishes.
    ///
    /// # Errors
    /// For metadata that has no place in it.
    fn option_fields(&self, options: &RequestOptions) -> Result<Map<String, Value>, LlmError>;

    /// The body of `request`, `extra` at its end. The same request gives the same bytes.
    ///
    /// # Errors
    /// For a value without a form in this format.
    fn encode(&self, request: &Request, extra: &Map<String, Value>) -> Result<Bytes, LlmError>;

    /// A decoder for the response to `request`.
    fn decoder(&self, request: Arc<Request>, site: StreamSite) -> Box<dyn Decoder>;
}

/// Decodes one response, event by event. Its chunks keep the rules of [`harness_llm::ProtocolChecker`]; a failure
/// is a finish, too.
pub trait Decoder: Send {
    /// Takes one complete event and appends the chunks that it makes. `name` is the event's name, `message` if it
    /// has none.
    fn push(&mut self, name: &str, data: &str, out: &mut Vec<Chunk>);

    /// Takes the end of the stream, if no end marker came before it.
    fn end(&mut self, ending: Ending<'_>, out: &mut Vec<Chunk>);

    /// Whether the finish is out. Nothing that comes later is looked at.
    fn is_over(&self) -> bool;
}
