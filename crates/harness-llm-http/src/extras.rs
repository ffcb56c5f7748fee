//! What listeners add to a request, in the words of this protocol.
use std::borrow::Cow;

use harness_llm::{FailureCode, LlmError, Request, RequestExtras};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::protocol::Protocol;

/// The fields that follow those that the adapter writes: the configured ones, with the additions in their place.
///
/// # Errors
/// For an addition that the adapter writes itself.
pub(crate) fn body<'a>(
    protocol: &dyn Protocol,
    configured: &'a Map<String, Value>,
    request: &Request,
    extras: &RequestExtras,
) -> Result<Cow<'a, Map<String, Value>>, LlmError> {
    if extras.is_empty() {
        return Ok(Cow::Borrowed(configured));
    }
    let mut added = protocol.option_fields(&extras.options)?;
    added.extend(extras.fields.fields().clone());
    let (always, now) = (protocol.own_fields(), protocol.fields(request));
    let is_own = |field: &&String| always.contains(&field.as_str()) || now.contains_key(*field);
    if let Some(field) = added.keys().find(is_own) {
        return Err(refused(&format!("body field `{field}` is the adapter's own")));
    }
    let mut fields = configured.clone();
    fields.extend(added);
    Ok(Cow::Owned(fields))
}

/// The headers, with the additions. One that is set already, the key's among them, is never replaced.
///
/// # Errors
/// For an addition that is set already or cannot be sent.
pub(crate) fn headers(own: &HeaderMap, extras: &RequestExtras) -> Result<HeaderMap, LlmError> {
    let mut headers = own.clone();
    for (name, value) in extras.options.headers() {
        let parsed = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
        let (header, value) = parsed.ok_or_else(|| refused(&format!("header `{name}` is not valid")))?;
        if own.contains_key(&header) {
            return Err(refused(&format!("header `{name}` is set by the adapter or its settings")));
        }
        headers.insert(header, value);
    }
    Ok(headers)
}

fn refused(what: &str) -> LlmError {
    let text = format!("an addition to the request was refused: {what}");
    LlmError::new(FailureCode::INVALID_REQUEST, text)
}
