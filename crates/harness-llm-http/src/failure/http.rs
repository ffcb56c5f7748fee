//! Responses that are not a stream.
use harness_llm::{Failure, FailureCode};
use jiff::Timestamp;

use super::provider::ProviderError;
use super::redact::Redactor;
use super::{bounded, retry_after};

/// Headers in which servers name a request, in order of preference.
const REQUEST_ID_HEADERS: [&str; 5] =
    ["x-request-id", "request-id", "x-ds-trace-id", "apim-request-id", "cf-ray"];
/// Most characters of a request id.
const LONGEST_REQUEST_ID: usize = 200;

/// A response with an error status.
pub struct ErrorResponse<'a> {
    /// The HTTP status.
    pub status: u16,
    /// Looks a header up by its lower-case name.
    pub header: &'a dyn Fn(&str) -> Option<String>,
    /// The body, or as much of it as was read.
    pub body: &'a [u8],
}

/// Which call failed, for the message.
#[derive(Debug, Clone, Copy)]
pub struct CallSite<'a> {
    /// The provider route.
    pub provider: &'a str,
    /// The model that was asked for.
    pub model: &'a str,
    /// The URL that was called.
    pub url: &'a str,
    /// Where the key comes from, such as `OPENAI_API_KEY`.
    pub key_source: &'a str,
    /// Keeps the key out of the message.
    pub redactor: &'a Redactor,
}

/// The failure for a response with an error status; `now` resolves a date in `Retry-After`.
pub fn http_failure(response: &ErrorResponse<'_>, site: &CallSite<'_>, now: Timestamp) -> Failure {
    let body = String::from_utf8_lossy(response.body);
    let error = ProviderError::parse(&body);
    let code = error.code_for(response.status);
    let said = ProviderError::shown(&site.redactor.redact(&error.message));
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let CallSite { provider, model, url, key_source, .. } = site;
    let status = response.status;
    let message = match code.as_str() {
        "AUTH" => format!("provider `{provider}` refused the key (HTTP {status}){said}; check {key_source}"),
        "QUOTA" => format!("the account at provider `{provider}` has no credit left (HTTP {status}){said}"),
        "RATE_LIMIT" => format!("provider `{provider}` limits the rate of requests (HTTP {status}){said}"),
        "UNKNOWN_MODEL" => {
            format!("provider `{provider}` does not serve model `{model}` (HTTP {status}){said}")
        }
        "INVALID_ENDPOINT" => format!("nothing answers at {url} (HTTP {status}){said}; check the base URL"),
        "CONTEXT_WINDOW_EXCEEDED" => {
            format!("the request is longer than the context window of `{model}` (HTTP {status}){said}")
        }
        "INVALID_REQUEST" => format!("provider `{provider}` refused the request (HTTP {status}){said}"),
        "SERVER" => format!("provider `{provider}` failed (HTTP {status}){said}"),
        _ if (300..400).contains(&status) => {
            let target = (response.header)("location").unwrap_or_default();
            let target = bounded(&site.redactor.redact(&target), LONGEST_REQUEST_ID);
            format!(
                "{url} redirects to `{target}` (HTTP {status}), which is not followed; set that as the base URL"
            )
        }
        _ => format!("provider `{provider}` answered HTTP {status}{said}"),
    };
    let wait = (response.header)("retry-after-ms").and_then(|value| retry_after::from_milliseconds(&value));
    let wait = wait.or_else(|| retry_after::milliseconds(&(response.header)("retry-after")?, now));
    Failure {
        status: Some(status).filter(|status| (100..600).contains(status)),
        retry_after_ms: wait,
        request_id: request_id(response.header, site.redactor),
        ..Failure::new(code, message)
    }
}

/// The failure for a good status with a body that is no event stream, as gateways and servers that do not stream
/// send it. `body` is what was read of it.
pub fn not_a_stream(content_type: &str, body: &[u8], site: &CallSite<'_>) -> Failure {
    let body = String::from_utf8_lossy(body);
    let quoted = || {
        let quote = ProviderError::shown(&site.redactor.redact(&body));
        let text = format!(
            "{} answered with `{}`, not with an event stream: {quote}; check the base URL and that the server can \
             stream",
            site.url,
            bounded(content_type, LONGEST_REQUEST_ID)
        );
        Failure::new(FailureCode::MALFORMED_RESPONSE, text)
    };
    let mut failure = ProviderError::reported(&body).map_or_else(quoted, |error| error.in_stream());
    failure.message = site.redactor.redact(&failure.message).into_owned();
    failure
}

/// The name that the server gave the request.
pub fn request_id(header: &dyn Fn(&str) -> Option<String>, redactor: &Redactor) -> Option<String> {
    let id = REQUEST_ID_HEADERS.iter().find_map(|name| header(name).filter(|id| !id.trim().is_empty()))?;
    Some(bounded(&redactor.redact(id.trim()), LONGEST_REQUEST_ID))
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    fn failure(status: u16, headers: &[(&str, &str)], body: &str) -> Failure {
        let redactor = Redactor::new(SecretString::from("sk-secret"));
        let site = CallSite {
            provider: "openai",
            model: "m1",
            url: "http://h/v1/chat/completions",
            key_source: "OPENAI_API_KEY",
            redactor: &redactor,
        };
        let header = |name: &str| {
            headers.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let response = ErrorResponse { status, header: &header, body: body.as_bytes() };
        http_failure(&response, &site, "2026-12-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn a_refused_key_names_its_source_and_never_itself() {
        let body = r#"{"error":{"message":"Incorrect API key provided: sk-secret"}}"#;
        let failure = failure(401, &[("x-request-id", "r-1")], body);
        assert_eq!(failure.code, FailureCode::AUTH);
        assert_eq!(failure.status, Some(401));
        assert_eq!(failure.request_id.as_deref(), Some("r-1"));
        assert_eq!(
            failure.message,
            "provider `openai` refused the key (HTTP 401): Incorrect API key provided: [redacted]; check \
             OPENAI_API_KEY"
        );
    }

    #[test]
    fn long_bodies_are_bounded_and_a_key_at_the_cut_leaves_nothing_behind() {
        let body = format!("{}sk-secret{}", "x".repeat(495), "y".repeat(10_000));
        let failure = failure(500, &[], &body);
        assert!(failure.message.chars().count() < 600, "{}", failure.message);
        assert!(!failure.message.contains("sk-"), "{}", failure.message);
    }

    #[test]
    fn the_wait_that_the_server_asks_for_is_kept() {
        assert_eq!(failure(429, &[("retry-after", "7")], "").retry_after_ms, Some(7_000));
        let date = [("retry-after", "Tue, 01 Dec 2026 00:01:00 GMT")];
        assert_eq!(failure(429, &date, "").retry_after_ms, Some(60_000));
        let both = [("retry-after", "7"), ("retry-after-ms", "6500")];
        assert_eq!(failure(429, &both, "").retry_after_ms, Some(6_500));
        assert_eq!(failure(429, &[("retry-after", "0")], "").retry_after_ms, None);
    }

    #[test]
    fn a_body_that_is_no_stream_is_quoted_or_read_for_its_error() {
        let redactor = Redactor::new(SecretString::from("sk-secret"));
        let site =
            CallSite { provider: "p", model: "m", url: "http://h/x", key_source: "K", redactor: &redactor };
        let page = not_a_stream("text/html", b"<html>sk-secret", &site);
        assert_eq!(page.code, FailureCode::MALFORMED_RESPONSE);
        assert!(page.message.contains("http://h/x answered with `text/html`"), "{page}");
        assert!(page.message.contains("<html>[redacted]"), "{page}");
        let error =
            not_a_stream("application/json", br#"{"error":{"message":"busy sk-secret","code":429}}"#, &site);
        assert_eq!(error.code, FailureCode::RATE_LIMIT);
        assert!(error.message.contains("busy [redacted]"), "{error}");
        let answer = not_a_stream("application/json", br#"{"choices":[],"error":null}"#, &site);
        assert_eq!(answer.code, FailureCode::MALFORMED_RESPONSE);
    }

    #[test]
    fn messages_name_the_thing_and_the_remedy() {
        assert!(failure(404, &[], "no page").message.contains("check the base URL"));
        assert!(failure(404, &[], "model gone").message.contains("does not serve model `m1`"));
        let moved = failure(301, &[("location", "https://new/v1")], "");
        assert!(moved.message.contains("https://new/v1"), "{}", moved.message);
        assert_eq!(moved.code.as_str(), "HTTP_301");
    }
}
