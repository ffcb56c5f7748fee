//! Exit code × stdout: what a hook's end means.
use serde_json::{Map, Value};

use crate::answer::{Answer, Decision, HookOutput, LegacyDecision, PermissionAnswer, SpecificOutput};
use crate::fault::{Fault, FaultKind};
use crate::{HookEvent, OnError, Profile};

/// How answers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// The contract.
    pub profile: Profile,
    /// What `"decision": "deny"` means, which no contract knows: a fault under the hook's `onError`, or with
    /// [`OnError::Block`] here a refusal.
    pub invalid_decision: OnError,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended<'a> {
    /// Its exit code.
    pub code: i32,
    /// What it printed.
    pub stdout: &'a str,
    /// What it complained about.
    pub stderr: &'a str,
}

/// Why something is refused when a hook says so without a word.
const DEFAULT_REASON: &str = "blocked by hook";

/// Reads what a program's end means. A fault is for the hook's `onError` to judge.
pub fn decode(event: HookEvent, reading: Reading, ended: Ended<'_>) -> Result<Answer, Fault> {
    let text = ended.stdout.trim_start_matches('\u{feff}').trim();
    let object = text.starts_with('{');
    let counts = reading.profile == Profile::Claude || ended.code == 0;
    let read = (object && counts).then(|| decode_text(event, reading, text));
    match (ended.code, read) {
        (2, Some(Ok(mut answer))) => {
            if !refuses(&answer) {
                answer.reason = Some(said(ended.stderr));
                answer.decision = Some(Decision::Deny);
            } else if answer.reason.is_none() {
                answer.reason = Some(said(ended.stderr));
            }
            Ok(answer)
        }
        (2, read) => {
            let remarks = read.and_then(Result::err).map(|fault| fault.message).into_iter().collect();
            Ok(Answer { remarks, ..refusal(said(ended.stderr)) })
        }
        (_, Some(Ok(answer))) => Ok(answer),
        (0, Some(Err(fault))) => Err(fault),
        (0, None) => {
            let is_context = event.stdout_is_context_in(reading.profile) && !text.is_empty();
            Ok(Answer {
                contexts: if is_context { vec![text.to_owned()] } else { Vec::new() },
                ..Answer::default()
            })
        }
        (code, read) => {
            let first = ended.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
            let meaning = match code {
                126 => " (not executable)",
                127 => " (not found)",
                _ => "",
            };
            let mut message = format!("exit code {code}{meaning}");
            if !first.is_empty() {
                message = format!("{message}: {}", clip(first));
            }
            if let Some(Err(fault)) = read {
                message = format!("{message}; {}", fault.message);
            }
            Err(Fault::new(FaultKind::Exit, message))
        }
    }
}

/// Reads a text that should be one JSON object.
pub(crate) fn decode_text(event: HookEvent, reading: Reading, text: &str) -> Result<Answer, Fault> {
    let value: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
        let message = format!("its stdout begins with `{{` but is not JSON ({error}): {}", clip(text));
        Fault::new(FaultKind::Unparsable, message)
    })?;
    decode_object(event, reading, value)
}

pub(crate) fn decode_object(
    event: HookEvent,
    reading: Reading,
    mut value: Map<String, Value>,
) -> Result<Answer, Fault> {
    let mut remarks = Vec::new();
    if let Some(Value::String(word)) = value.get("decision")
        && !matches!(word.as_str(), "approve" | "block")
    {
        let message = format!("`decision` must be `approve` or `block`, not `{}`", clip(word));
        if reading.invalid_decision == OnError::Block && word == "deny" {
            value.insert("decision".to_owned(), Value::from("block"));
            remarks.push(message);
        } else {
            return Err(Fault::new(FaultKind::Schema, message));
        }
    }
    // A field that is null says as little as one that is absent.
    value.retain(|_, field| !field.is_null());
    let output: HookOutput = serde_json::from_value(Value::Object(value)).map_err(|error| {
        Fault::new(FaultKind::Schema, format!("its JSON is not a hook's answer: {error}"))
    })?;
    let mut specific = output.hook_specific_output.unwrap_or_default();
    match &specific.hook_event_name {
        Some(name) if !HookEvent::spelled(name).contains(&event) => {
            remarks.push(format!(
                "`hookSpecificOutput` is for {}, not for {}; it is ignored",
                clip(name),
                event.name()
            ));
            specific = SpecificOutput::default();
        }
        None if specific != SpecificOutput::default() => {
            remarks.push("`hookSpecificOutput` has no `hookEventName`; it is accepted".to_owned());
        }
        _ => {}
    }
    let legacy = output.decision.map(|decision| match decision {
        LegacyDecision::Approve => Decision::Allow,
        LegacyDecision::Block => Decision::Deny,
    });
    let permission = match (event, specific.decision, legacy) {
        (HookEvent::PermissionRequest, Some(answer), _) => Some(answer),
        (HookEvent::PermissionRequest, None, Some(Decision::Allow)) => {
            Some(PermissionAnswer::Allow { updated_input: None, updated_permissions: None })
        }
        (HookEvent::PermissionRequest, None, Some(Decision::Deny)) => {
            Some(PermissionAnswer::Deny { message: output.reason.clone(), interrupt: false })
        }
        _ => None,
    };
    let structured = specific.permission_decision.is_some();
    let contexts = [output.additional_context, specific.additional_context];
    Ok(Answer {
        decision: specific.permission_decision.or(legacy),
        reason: if structured {
            specific.permission_decision_reason.or(output.reason)
        } else {
            output.reason
        },
        stop: output.go_on == Some(false),
        stop_reason: output.stop_reason,
        contexts: contexts.into_iter().flatten().filter(|text| !text.is_empty()).collect(),
        messages: output.system_message.into_iter().filter(|text| !text.is_empty()).collect(),
        update_input: specific.updated_input,
        update_output: specific.updated_tool_output,
        permission,
        more: specific.more,
        remarks,
    })
}

fn refuses(answer: &Answer) -> bool {
    answer.decision == Some(Decision::Deny)
}

pub(crate) fn refusal(reason: String) -> Answer {
    Answer { decision: Some(Decision::Deny), reason: Some(reason), ..Answer::default() }
}

fn said(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() { DEFAULT_REASON.to_owned() } else { text.to_owned() }
}

/// The beginning of a text, for a message.
pub(crate) fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(text.len().min(200))]
}
