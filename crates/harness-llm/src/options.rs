//! What may be added to a request beside its body: headers, metadata, cache options.
use std::collections::BTreeMap;
use std::sync::Arc;

use harness_kernel::{Around, Ctx, Event};

use crate::adapter::PreparedCall;
use crate::failure::{FailureCode, LlmError};
use crate::payload::{PayloadEvent, PayloadFields};
use crate::request::Request;

/// Headers that carry a key, or that belong to the transport.
const RESERVED_HEADERS: [&str; 15] = [
    "accept",
    "accept-encoding",
    "anthropic-version",
    "api-key",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "transfer-encoding",
    "x-api-key",
    "x-goog-api-key",
];

/// Why something cannot be added to a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionRefused {
    /// The header carries a key or belongs to the transport.
    #[error("header `{0}` is the adapter's own; keys belong into the provider's settings")]
    ReservedHeader(String),
    /// The header cannot be sent.
    #[error(
        "header `{0}` is not valid; use letters, digits and `-` in its name and visible ASCII in its value"
    )]
    InvalidHeader(String),
    /// The field is part of what the log says of the request.
    #[error("body field `{0}` is part of the logged request; change it where it is logged")]
    LoggedField(String),
}
impl OptionRefused {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ReservedHeader(_) => "llm-reserved-header",
            Self::InvalidHeader(_) => "llm-invalid-header",
            Self::LoggedField(_) => "llm-logged-field",
        }
    }
}
impl From<OptionRefused> for LlmError {
    fn from(refused: OptionRefused) -> Self {
        Self::new(FailureCode::INVALID_REQUEST, format!("an addition to the request was refused: {refused}"))
    }
}

/// How long the provider should keep the prompt in its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheRetention {
    /// As long as it does by itself.
    Default,
    /// As long as it offers.
    Long,
}

/// Wishes about the provider's prompt cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// Requests with one key share a prefix; helps the provider to find its cache.
    pub key: Option<String>,
    /// How long.
    pub retention: CacheRetention,
}

/// What listeners add to a request beside its body. It starts empty, so that nothing of the adapter's own can be
/// read from it: not the key, not a configured header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestOptions {
    headers: BTreeMap<String, String>,
    /// Words about the request for the provider's records.
    pub metadata: BTreeMap<String, String>,
    /// Wishes about the prompt cache.
    pub cache: Option<CacheOptions>,
}
impl RequestOptions {
    /// Adds a header, in the place of one that another listener added.
    ///
    /// # Errors
    /// For a header that carries a key or belongs to the transport, and for one that cannot be sent.
    pub fn header(&mut self, name: &str, value: &str) -> Result<(), OptionRefused> {
        let name = name.to_ascii_lowercase();
        if RESERVED_HEADERS.contains(&name.as_str()) {
            return Err(OptionRefused::ReservedHeader(name));
        }
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let visible = |c: char| c.is_ascii_graphic() || c == ' ';
        if name.is_empty() || !name.chars().all(legal) || !value.chars().all(visible) {
            return Err(OptionRefused::InvalidHeader(name));
        }
        self.headers.insert(name, value.to_owned());
        Ok(())
    }
    /// The added headers, names in lower case.
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }
    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.metadata.is_empty() && self.cache.is_none()
    }
}

/// Everything that listeners added to one request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestExtras {
    /// Beside the body.
    pub options: RequestOptions,
    /// In the body.
    pub fields: PayloadFields,
}
impl RequestExtras {
    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.options.is_empty() && self.fields.is_empty()
    }
}

/// `llm/request-options`: around what is added to a request beside its body, at the place where it leaves, for steps
/// and for all other requests. Route, model and sampling are decided earlier and logged; the request is here to be
/// read only.
#[derive(Debug, Clone)]
pub struct RequestOptionsEvent {
    /// The request.
    pub request: Arc<Request>,
    /// The additions so far.
    pub options: RequestOptions,
}
impl Event for RequestOptionsEvent {
    const NAME: &'static str = "llm/request-options";
}
impl Around for RequestOptionsEvent {
    type Output = Result<RequestOptions, LlmError>;
}

/// Asks the listeners of `llm/request-options` and `llm/payload`.
pub(crate) async fn additions(
    ctx: &Ctx,
    prepared: &Arc<dyn PreparedCall>,
    request: &Arc<Request>,
) -> Result<RequestExtras, LlmError> {
    let event = RequestOptionsEvent { request: Arc::clone(request), options: RequestOptions::default() };
    let options = ctx.waterfall(event, |event| async move { Ok(event.options) }).await?;
    let event = PayloadEvent::new(Arc::clone(prepared), Arc::clone(request));
    let fields = ctx.waterfall(event, |event| async move { Ok(event.fields) }).await?;
    Ok(RequestExtras { options, fields })
}
