//! Whether a request asks for a stream, without parsing it in the usual case.

use serde::Deserialize;

#[derive(Deserialize)]
struct Flag {
    stream: Option<bool>,
}

/// True if the body says `"stream": true`, or is no JSON object, which the script may want to see.
pub(crate) fn asks_for_stream(body: &[u8]) -> bool {
    // Clients put the flag near the start or the end; in between lies the conversation, which may
    // hold the same text, but only inside a string, where its quotes are escaped.
    has_flag(&body[..body.len().min(512)])
        || has_flag(&body[body.len().saturating_sub(512)..])
        || serde_json::from_slice::<Flag>(body).map_or(true, |flag| flag.stream == Some(true))
}

fn has_flag(text: &[u8]) -> bool {
    const NAME: &[u8] = b"\"stream\"";
    let mut found = text.windows(NAME.len()).enumerate().filter(|(_, window)| *window == NAME);
    found.any(|(at, _)| {
        // A match at the very edge may be escaped by a byte that is out of sight.
        let is_escaped = at == 0 || text[at - 1] == b'\\';
        let value = text[at + NAME.len()..].trim_ascii_start().strip_prefix(b":");
        !is_escaped && value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_found_wherever_it_stands() {
        let long = "x".repeat(2000);
        for body in [
            r#"{"stream":true,"messages":[]}"#.to_owned(),
            r#"{"messages":[], "stream" : true}"#.to_owned(),
            format!(r#"{{"a":"{long}","stream":true,"b":"{long}"}}"#),
            "not json".to_owned(),
        ] {
            assert!(asks_for_stream(body.as_bytes()), "{body}");
        }
        for body in [
            r#"{"messages":[]}"#.to_owned(),
            r#"{"stream":false}"#.to_owned(),
            r#"{"stream":null}"#.to_owned(),
            r#"{"content":"\"stream\":true"}"#.to_owned(),
            format!(r#"{{"a":"{long}","stream":false,"b":"{long}"}}"#),
        ] {
            assert!(!asks_for_stream(body.as_bytes()), "{body}");
        }
    }
}
