//! Refusals and faults of the server as typed failures.
mod http;
mod provider;
mod redact;
mod retry_after;

pub use self::http::{CallSite, ErrorResponse, http_failure, not_a_stream, request_id};
pub use self::provider::ProviderError;
pub use self::redact::Redactor;

/// At most `most` characters of `text`, with a mark where it was cut.
pub fn bounded(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
