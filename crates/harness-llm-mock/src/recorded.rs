//! A request as the server saw it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::http::Request;

/// Headers whose values are credentials.
const CREDENTIALS: [&str; 5] = ["authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"];

/// A request that arrived, whole. Cloning it copies nothing.
///
/// Credentials are shown by [`raw_header`](Self::raw_header) only; `Debug` leaves them out.
#[derive(Clone)]
pub struct RecordedRequest(Arc<Record>);

struct Record {
    number: usize,
    request: Request,
    json: OnceLock<Result<Value, String>>,
}

impl RecordedRequest {
    pub(crate) fn new(number: usize, request: Request) -> Self {
        Self(Arc::new(Record { number, request, json: OnceLock::new() }))
    }

    /// Which request it was, from 1, among those of its kind (model requests, or others).
    pub fn number(&self) -> usize {
        self.0.number
    }

    /// The HTTP method.
    pub fn method(&self) -> &str {
        &self.0.request.method
    }

    /// The path, with the query if there was one.
    pub fn path(&self) -> &str {
        &self.0.request.target
    }

    /// All headers in the order of arrival, names as sent, credentials replaced.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.request.headers.iter().map(|(name, value)| {
            let is_secret = CREDENTIALS.iter().any(|secret| name.eq_ignore_ascii_case(secret));
            (name.as_str(), if is_secret { "[redacted]" } else { value.as_str() })
        })
    }

    /// True if the request carried credentials in a header.
    pub fn has_credentials(&self) -> bool {
        self.headers().any(|(_, value)| value == "[redacted]")
    }

    /// The value of a header, credentials included: for a test that checks which key was sent.
    pub fn raw_header(&self, name: &str) -> Option<&str> {
        self.0.request.header(name)
    }

    /// The body's bytes.
    pub fn body(&self) -> &[u8] {
        &self.0.request.body
    }

    /// Tokens of the request by the server's own count: four bytes of the body are one.
    pub fn tokens(&self) -> u64 {
        self.body().len().div_ceil(4) as u64
    }

    /// The body as JSON, parsed at the first call.
    ///
    /// # Errors
    /// What is wrong with it, if it is not JSON.
    pub fn json(&self) -> Result<&Value, &str> {
        let parsed = self.0.json.get_or_init(|| {
            serde_json::from_slice(self.body()).map_err(|fault| format!("the body is not JSON: {fault}"))
        });
        parsed.as_ref().map_err(String::as_str)
    }

    /// The `messages` of the body, or its `input` in the format of responses; empty if it has neither.
    pub fn messages(&self) -> &[Value] {
        let Ok(body) = self.json() else { return &[] };
        body["messages"].as_array().or_else(|| body["input"].as_array()).map_or(&[], Vec::as_slice)
    }

    /// The text of the last message: its content if that is a string, else its text parts joined; of a tool result
    /// what the tool said.
    pub fn last_message_text(&self) -> String {
        self.messages().last().map(text_of).unwrap_or_default()
    }
}

/// The text of a message, a part of one, or a list of parts.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        Value::Object(part) => ["text", "content", "output"]
            .iter()
            .find_map(|key| part.get(*key))
            .map(text_of)
            .unwrap_or_default(),
        _ => String::new(),
    }
}

impl fmt::Debug for RecordedRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RecordedRequest")
            .field("number", &self.number())
            .field("method", &self.method())
            .field("path", &self.path())
            .field("headers", &self.headers().collect::<Vec<_>>())
            .field("body", &String::from_utf8_lossy(self.body()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: &'static str) -> RecordedRequest {
        let headers = vec![("Authorization".to_owned(), "Bearer hush".to_owned()), ("a".into(), "b".into())];
        RecordedRequest::new(1, Request { headers, body: body.into(), ..Request::default() })
    }

    #[test]
    fn credentials_are_shown_only_on_demand() {
        let request = request("{}");
        assert_eq!(request.headers().collect::<Vec<_>>(), [("Authorization", "[redacted]"), ("a", "b")]);
        assert!(request.has_credentials());
        assert!(!format!("{request:?}").contains("hush"));
        assert_eq!(request.raw_header("authorization"), Some("Bearer hush"));
    }

    #[test]
    fn the_last_message_is_read_in_both_forms() {
        assert_eq!(request(r#"{"messages":[{"content":"a"},{"content":"b"}]}"#).last_message_text(), "b");
        let parts =
            r#"{"messages":[{"content":[{"type":"text","text":"a"},{"type":"image"},{"text":"b"}]}]}"#;
        assert_eq!(request(parts).last_message_text(), "ab");
        for (body, text) in [
            (
                r#"{"messages":[{"content":[{"type":"tool_result","content":[{"type":"text","text":"r"}]}]}]}"#,
                "r",
            ),
            (r#"{"input":[{"type":"function_call_output","call_id":"c","output":"r"}]}"#, "r"),
            (r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"t"}]}]}"#, "t"),
        ] {
            assert_eq!(request(body).last_message_text(), text, "{body}");
        }
        for body in ["{}", "[", r#"{"messages":[]}"#, r#"{"messages":[{"content":null}]}"#] {
            assert_eq!(request(body).last_message_text(), "", "{body}");
        }
        assert!(request("[").json().unwrap_err().contains("not JSON"));
    }
}
