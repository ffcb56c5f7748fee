//! The error objects that servers send, in a response or in mid-stream.
use harness_llm::{Failure, FailureCode};
use serde_json::Value;

use super::bounded;

/// Most characters of a server's message that are passed on.
const LONGEST_MESSAGE: usize = 500;
/// Most characters of a server's code that are passed on.
const LONGEST_CODE: usize = 64;

/// What a server said about its error. The forms differ: an `error` object or text, or the fields by themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderError {
    /// For people; empty if it said nothing.
    pub message: String,
    code: Option<String>,
    kind: Option<String>,
}

impl ProviderError {
    /// Reads an error object, the body that holds one, or any text. Not bounded yet, as a secret must be taken
    /// out first.
    pub fn parse(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => Self::of(&value),
            Err(_) => Self { message: one_line(text), ..Self::default() },
        }
    }

    /// The error in a body with a good status, if it reports one.
    pub(super) fn reported(body: &str) -> Option<Self> {
        let value = serde_json::from_str::<Value>(body).ok()?;
        let has_error = value.get("error").is_some_and(|error| !error.is_null());
        (has_error || value.get("object").is_some_and(|object| object == "error")).then(|| Self::of(&value))
    }

    fn of(value: &Value) -> Self {
        if let Value::String(message) = value {
            return Self { message: message.clone(), ..Self::default() };
        }
        // Some wrap the object in a list.
        let value = value.get(0).unwrap_or(value);
        if let Some(inner @ (Value::Object(_) | Value::String(_))) = value.get("error") {
            return Self::of(inner);
        }
        let message =
            ["message", "detail", "error_description"].iter().find_map(|key| value.get(key)?.as_str());
        Self {
            message: message.map_or_else(|| value.to_string(), str::to_owned),
            code: word(value.get("code")),
            kind: word(value.get("type")),
        }
    }

    /// The code for a response with `status`.
    pub(super) fn code_for(&self, status: u16) -> FailureCode {
        match status {
            402 => FailureCode::QUOTA,
            403 | 429 if self.speaks_of_quota() => FailureCode::QUOTA,
            401 | 403 => FailureCode::AUTH,
            404 if self.speaks_of_model() => FailureCode::UNKNOWN_MODEL,
            404 => FailureCode::INVALID_ENDPOINT,
            429 => FailureCode::RATE_LIMIT,
            400 | 413 | 422 => self.code_for_refusal(),
            500.. => FailureCode::SERVER,
            other => FailureCode::other(format!("HTTP_{other}")),
        }
    }

    fn code_for_refusal(&self) -> FailureCode {
        if self.says(&CONTEXT) {
            FailureCode::CONTEXT_WINDOW_EXCEEDED
        } else if self.speaks_of_quota() {
            FailureCode::QUOTA
        } else if self.says(&KEY) {
            FailureCode::AUTH
        } else if self.says(&UNKNOWN_MODEL) {
            FailureCode::UNKNOWN_MODEL
        } else {
            FailureCode::INVALID_REQUEST
        }
    }

    /// The failure for an error in the middle of a stream whose status was 200. A code that has no counterpart
    /// here is passed on as it is.
    pub fn in_stream(&self) -> Failure {
        let status = self.code.as_deref().and_then(|code| code.parse().ok());
        let code = if let Some(status) = status.filter(|status| (400..600).contains(status)) {
            self.code_for(status)
        } else if self.says(&CONTEXT) {
            FailureCode::CONTEXT_WINDOW_EXCEEDED
        } else if self.speaks_of_quota() {
            FailureCode::QUOTA
        } else if self.says(&RATE) {
            FailureCode::RATE_LIMIT
        } else if self.says(&KEY) {
            FailureCode::AUTH
        } else if self.says(&SERVER) {
            FailureCode::SERVER
        } else {
            match self.code.as_deref().or(self.kind.as_deref()) {
                Some("invalid_request_error") => FailureCode::INVALID_REQUEST,
                Some(word) => FailureCode::other(bounded(word, LONGEST_CODE)),
                None => FailureCode::SERVER,
            }
        };
        let word = self.code.as_deref().or(self.kind.as_deref());
        let word = word.map(|word| format!(" ({})", bounded(word, LONGEST_CODE))).unwrap_or_default();
        let message = bounded(&self.message, LONGEST_MESSAGE);
        Failure::new(
            code,
            format!("the provider reported an error in the middle of the answer: {message}{word}"),
        )
    }

    /// The message as it may be shown.
    pub(super) fn shown(message: &str) -> String {
        bounded(message, LONGEST_MESSAGE)
    }

    fn speaks_of_quota(&self) -> bool {
        self.says(&QUOTA)
    }

    fn speaks_of_model(&self) -> bool {
        self.says(&UNKNOWN_MODEL) || self.says(&["model"])
    }

    fn says(&self, words: &[&str]) -> bool {
        let parts = [self.code.as_deref(), self.kind.as_deref(), Some(&self.message)];
        parts.into_iter().flatten().any(|part| {
            let part = part.to_lowercase();
            words.iter().any(|word| part.contains(word))
        })
    }
}

// Wordings of the providers in use, lower case.
const CONTEXT: [&str; 7] = [
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "maximum prompt length",
];
const QUOTA: [&str; 6] = [
    "insufficient_quota",
    "exceeded your current quota",
    "insufficient balance",
    "credit balance",
    "insufficient credits",
    "billing",
];
const RATE: [&str; 4] = ["rate limit", "rate_limit", "too many requests", "ratelimit"];
const KEY: [&str; 5] =
    ["invalid_api_key", "invalid api key", "api key not valid", "authentication_error", "permission_error"];
const UNKNOWN_MODEL: [&str; 4] = ["model_not_found", "model not found", "no such model", "model not exist"];
const SERVER: [&str; 7] = [
    "server_error",
    "internal server error",
    "internal_error",
    "overloaded",
    "service unavailable",
    "api_error",
    "timeout_error",
];

/// A text, or a number as one.
fn word(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(word) if !word.is_empty() => Some(word.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_error_object_is_read() {
        for (text, message) in [
            (r#"{"error":{"message":"m","code":"c","type":"t"}}"#, "m"),
            (r#"[{"error":{"message":"m"}}]"#, "m"),
            (r#"{"error":"m"}"#, "m"),
            (r#"{"object":"error","message":"m","code":400}"#, "m"),
            (r#"{"detail":"m"}"#, "m"),
            (r#""m""#, "m"),
            ("  m\n n ", "m n"),
            (r#"{"odd":1}"#, r#"{"odd":1}"#),
            ("", ""),
        ] {
            assert_eq!(ProviderError::parse(text).message, message, "{text}");
        }
    }

    #[test]
    fn a_status_and_a_wording_give_a_code() {
        for (status, body, code) in [
            (401, "", "AUTH"),
            (403, "", "AUTH"),
            (403, "Insufficient Balance", "QUOTA"),
            (402, "", "QUOTA"),
            (429, "slow down", "RATE_LIMIT"),
            (429, r#"{"error":{"code":"insufficient_quota","message":"x"}}"#, "QUOTA"),
            (400, "bad field", "INVALID_REQUEST"),
            (413, "too large", "INVALID_REQUEST"),
            (422, "bad field", "INVALID_REQUEST"),
            (400, "This model's maximum context length is 8192 tokens", "CONTEXT_WINDOW_EXCEEDED"),
            (400, r#"{"error":{"message":"API key not valid"}}"#, "AUTH"),
            (400, r#"{"error":{"message":"Model Not Exist"}}"#, "UNKNOWN_MODEL"),
            (404, r#"{"error":{"code":"model_not_found","message":"x"}}"#, "UNKNOWN_MODEL"),
            (404, "The model `x` does not exist", "UNKNOWN_MODEL"),
            (404, "404 page not found", "INVALID_ENDPOINT"),
            (
                404,
                r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-0"}}"#,
                "UNKNOWN_MODEL",
            ),
            (400, r#"{"error":{"message":"Your credit balance is too low to access the API"}}"#, "QUOTA"),
            (
                400,
                r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
                "CONTEXT_WINDOW_EXCEEDED",
            ),
            (413, r#"{"error":{"type":"request_too_large","message":"x"}}"#, "INVALID_REQUEST"),
            (500, "", "SERVER"),
            (529, r#"{"error":{"type":"overloaded_error","message":"x"}}"#, "SERVER"),
            (503, "", "SERVER"),
            (418, "", "HTTP_418"),
            (301, "", "HTTP_301"),
        ] {
            assert_eq!(ProviderError::parse(body).code_for(status).as_str(), code, "{status} {body}");
        }
    }

    #[test]
    fn an_error_in_mid_stream_keeps_what_the_provider_said() {
        for (body, code) in [
            (r#"{"message":"busy","code":"overloaded"}"#, "SERVER"),
            (r#"{"message":"busy","code":429}"#, "RATE_LIMIT"),
            (r#"{"message":"busy","type":"rate_limit_error"}"#, "RATE_LIMIT"),
            (r#"{"message":"busy","code":502}"#, "SERVER"),
            (r#"{"message":"busy","type":"invalid_request_error"}"#, "INVALID_REQUEST"),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#, "SERVER"),
            (r#"{"type":"error","error":{"type":"api_error","message":"busy"}}"#, "SERVER"),
            (r#"{"type":"error","error":{"type":"permission_error","message":"busy"}}"#, "AUTH"),
            (r#"{"type":"error","error":{"type":"billing_error","message":"busy"}}"#, "QUOTA"),
            (r#"{"message":"busy","code":"moon_phase"}"#, "moon_phase"),
            (r#"{"message":"busy","code":null}"#, "SERVER"),
            ("busy", "SERVER"),
        ] {
            let failure = ProviderError::parse(body).in_stream();
            assert_eq!(failure.code.as_str(), code, "{body}");
            assert!(failure.message.contains("busy"), "{}", failure.message);
        }
    }
}
