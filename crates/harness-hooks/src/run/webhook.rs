//! URLs.
use futures_util::StreamExt as _;
use harness_http::TransportError;
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};

use super::{Attempt, Job};
use crate::answer::Answer;
use crate::codec::{Reading, clip, decode_text};
use crate::fault::{Fault, FaultKind};
use crate::handler::WebhookHandler;
use crate::shell_words::wildcard;
use crate::{HookEvent, Profile};

/// Most bytes that are read of a response.
const CAP: usize = 1024 * 1024;

/// What webhooks may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed<'a> {
    pub(crate) urls: Option<&'a [String]>,
    pub(crate) env: Option<&'a [String]>,
}

/// Posts the payload and reads the response.
pub(crate) async fn post(
    job: Job<'_>,
    client: &Client,
    handler: &WebhookHandler,
    allowed: Allowed<'_>,
) -> Attempt {
    let Job { event, reading, place, limit, cancel, .. } = job;
    if allowed.urls.is_some_and(|urls| !urls.iter().any(|pattern| wildcard(pattern, &handler.url))) {
        let message = format!("{} is not in allowedHttpHookUrls", clip(&handler.url));
        return Attempt::of(Err(Fault::new(FaultKind::Forbidden, message)));
    }
    let mut request =
        client.post(&handler.url).header(CONTENT_TYPE, "application/json").body(format!("{}\n", job.text));
    for (name, value) in &handler.headers {
        let value = expand(value, |variable| {
            let listed = handler.allowed_env.iter().any(|known| known == variable)
                && allowed.env.is_none_or(|all| all.iter().any(|known| known == variable));
            let found = place.variable(variable).map(|value| value.to_string_lossy().into_owned());
            match reading.profile {
                Profile::Claude => Some(found.filter(|_| listed).unwrap_or_default()),
                Profile::Native => found,
            }
        });
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else {
            let message = format!("`{}` is not a header that can be sent", clip(name));
            return Attempt::of(Err(Fault::new(FaultKind::Http, message)));
        };
        request = request.header(name, value);
    }
    let exchange = async {
        let response = request.send().await.map_err(transport)?;
        let status = response.status();
        let (mut text, mut stream) = (Vec::new(), response.bytes_stream());
        while let Some(chunk) = stream.next().await {
            text.extend_from_slice(&chunk.map_err(transport)?);
            if text.len() > CAP {
                return Err(Fault::new(FaultKind::Flood, format!("the response has more than {CAP} bytes")));
            }
        }
        Ok((status, String::from_utf8_lossy(&text).into_owned()))
    };
    let late = || Fault::new(FaultKind::Timeout, format!("no response within {} s", limit.as_secs_f64()));
    let answered = tokio::select! {
        () = cancel.cancelled() => Err(Fault::new(FaultKind::Cancelled, "cancelled")),
        answered = tokio::time::timeout(limit, exchange) => answered.unwrap_or_else(|_| Err(late())),
    };
    match answered {
        Err(fault) => Attempt::of(Err(fault)),
        Ok((status, text)) => {
            let result = if status.is_success() {
                read(event, reading, &text)
            } else {
                Err(Fault::new(FaultKind::Http, format!("status {}: {}", status.as_u16(), clip(text.trim()))))
            };
            Attempt { stdout: text, ..Attempt::of(result) }
        }
    }
}

fn read(event: HookEvent, reading: Reading, text: &str) -> Result<Answer, Fault> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(Answer::default());
    }
    if text.starts_with('{') {
        return decode_text(event, reading, text);
    }
    match reading.profile {
        Profile::Claude => {
            Err(Fault::new(FaultKind::Schema, format!("the response is not a JSON object: {}", clip(text))))
        }
        Profile::Native if event.stdout_is_context_in(reading.profile) => {
            Ok(Answer { contexts: vec![text.to_owned()], ..Answer::default() })
        }
        Profile::Native => Ok(Answer::default()),
    }
}

fn transport(error: reqwest::Error) -> Fault {
    Fault::new(FaultKind::Http, TransportError::from(error).to_string())
}

/// Replaces `$NAME` and `${NAME}`; what `value` does not know stays.
fn expand(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let braced = after.strip_prefix('{').and_then(|inner| Some((inner, inner.find('}')?)));
        let plain = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        let (name, length) = match braced {
            Some((inner, end)) => (&inner[..end], end + 3),
            None => (&after[..plain], plain + 1),
        };
        match Some(name).filter(|name| !name.is_empty()).and_then(&value) {
            Some(found) => out.push_str(&found),
            None => out.push_str(&rest[at..at + length]),
        }
        rest = &rest[at + length..];
    }
    out + rest
}
