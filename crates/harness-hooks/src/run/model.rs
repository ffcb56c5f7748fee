//! Models and agents.
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Decision, OracleOutput};
use crate::codec::{Reading, clip, decode_object};
use crate::fault::{Fault, FaultKind};
use crate::{HookEvent, Profile};

/// Why a no without a word is one.
const DEFAULT_REASON: &str = "denied by evaluation";

/// The prompt with the payload in it: in place of each `$ARGUMENTS`, or at the end when there is none. `\$` is a
/// dollar sign.
pub(crate) fn prompt_with(prompt: &str, payload: &str) -> String {
    let (mut out, mut rest, mut filled) = (String::new(), prompt, false);
    while let Some(at) = rest.find(['$', '\\']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("\\$") {
            out.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("$ARGUMENTS") {
            out.push_str(payload);
            filled = true;
            rest = after;
        } else {
            out.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    if filled { out } else { format!("{out}\n\n{payload}") }
}

/// Waits for a model's words within the limits.
pub(crate) async fn ask(
    answering: impl Future<Output = Result<String, String>>,
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<String, Fault> {
    let late = || Fault::new(FaultKind::Timeout, format!("no answer within {} s", limit.as_secs_f64()));
    tokio::select! {
        () = cancel.cancelled() => Err(Fault::new(FaultKind::Cancelled, "cancelled")),
        answered = tokio::time::timeout(limit, answering) => match answered {
            Err(_) => Err(late()),
            Ok(answer) => answer.map_err(|message| Fault::new(FaultKind::Http, message)),
        },
    }
}

/// Reads a model's verdict. `goes_on` says that the turn goes on after a no.
pub(crate) fn judge(event: HookEvent, reading: Reading, text: &str, goes_on: bool) -> Result<Answer, Fault> {
    let object = unfenced(text);
    let value: Map<String, Value> = serde_json::from_str(object).map_err(|error| {
        let message = format!("the model's answer is not a JSON object ({error}): {}", clip(text.trim()));
        Fault::new(FaultKind::Unparsable, message)
    })?;
    let verdict: OracleOutput = serde_json::from_value(Value::Object(value.clone())).map_err(|error| {
        Fault::new(FaultKind::Schema, format!("the model's answer does not fit: {error}"))
    })?;
    let mut answer = decode_object(event, reading, value)?;
    if verdict.ok != Some(false) {
        return Ok(answer);
    }
    let reason = verdict.reason.filter(|text| !text.is_empty()).unwrap_or_else(|| DEFAULT_REASON.to_owned());
    if event == HookEvent::PermissionRequest && reading.profile == Profile::Claude {
        return Ok(answer);
    }
    if event.is_stop() && verdict.impossible == Some(true) {
        return Ok(answer);
    }
    answer.decision = Some(Decision::Deny);
    let ends = matches!(
        event,
        HookEvent::PreToolUse
            | HookEvent::PostToolUse
            | HookEvent::PostToolBatch
            | HookEvent::UserPromptSubmit
    );
    if ends && !goes_on && reading.profile == Profile::Claude {
        answer.stop = true;
        answer.stop_reason.get_or_insert_with(|| reason.clone());
    }
    answer.reason = Some(reason);
    Ok(answer)
}

/// The inside of the first fenced block, or the text itself.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some((before, rest)) = text.split_once("```") else { return text };
    if before.contains('{') {
        return text;
    }
    let Some((_, inside)) = rest.split_once('\n') else { return text };
    inside.split_once("```").map_or(inside, |(inside, _)| inside).trim()
}
