//! What is worth telling beside messages and calls.
use harness_compact::{CompactBegin, CompactEnd, CompactOutcome, CompactPruned};
use harness_llm::{Message, Usage};
use harness_session::{AgentParked, PluginData, RequestHeader, SessionResumed};
use harness_token_meter::CallUsage;
use serde_json::Value;

use crate::transcript::{Note, Tone};
use crate::words::{count, duration, number, tokens};

pub(crate) fn header(time: i64, header: &RequestHeader) -> Note {
    let config = &header.config;
    let mut title = format!("Model {}/{}", config.provider, config.model);
    if let Some(effort) = &config.reasoning_effort {
        title.push_str(&format!(", effort {effort}"));
    }
    title.push_str(&format!(", {}", count(header.tools.len() as u64, "tool")));
    let names: Vec<&str> = header.tools.iter().map(|tool| tool.name.as_str()).collect();
    let tools = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let system = header.system.as_deref().unwrap_or("(no system prompt)");
    Note { time, title, detail: format!("Tools: {tools}\n\n{system}"), tone: Tone::Plain }
}

pub(crate) fn parked(time: i64, parked: &AgentParked) -> Note {
    let title = format!("{} left waiting: {}", count(parked.pending.into(), "message"), parked.reason);
    Note { time, title, detail: String::new(), tone: Tone::Warning }
}

pub(crate) fn resumed(time: i64, resumed: &SessionResumed) -> Note {
    let title = format!("Session resumed by {}", resumed.program);
    Note { time, title, detail: String::new(), tone: Tone::Plain }
}

pub(crate) fn unread(time: i64, title: &str, message: &Message) -> Note {
    Note { time, title: title.to_owned(), detail: message.text(), tone: Tone::Warning }
}

pub(crate) fn replacement(time: i64, events: usize, message: &Message) -> Note {
    let title = format!("From here on the model sees this in place of {}", count(events as u64, "event"));
    let shown = message.content.iter().map(|block| match block {
        harness_llm::Block::ToolResult(result) => {
            result.content.iter().filter_map(harness_llm::Block::as_text).collect::<String>()
        }
        block => block.as_text().unwrap_or_default().to_owned(),
    });
    Note { time, title, detail: shown.collect(), tone: Tone::Plain }
}

/// A plugin's event; none for one that only brackets others.
pub(crate) fn plugin(time: i64, data: &PluginData) -> Option<Note> {
    let note = |title: String, tone| Note { time, title, detail: String::new(), tone };
    if let Some(Ok(CompactEnd { outcome, .. })) = data.read() {
        return Some(match outcome {
            CompactOutcome::Done { after, .. } => {
                let after = number(after);
                note(
                    format!(
                        "Older history replaced by a summary; the next request weighs about {after} tokens"
                    ),
                    Tone::Plain,
                )
            }
            CompactOutcome::Failed { code, message } => {
                note(format!("Compaction failed: {message} [{code}]"), Tone::Failure)
            }
        });
    }
    if data.read::<CompactBegin>().is_some_and(|read| read.is_ok()) {
        return None;
    }
    if let Some(Ok(pruned)) = data.read::<CompactPruned>() {
        let results = count(pruned.results.into(), "long tool result");
        let (before, after) = (number(pruned.before), number(pruned.after));
        return Some(note(
            format!("{results} shortened for the model: {before} → {after} tokens"),
            Tone::Plain,
        ));
    }
    if let Some(Ok(CallUsage { purpose, provider, model, usage })) = data.read() {
        let used =
            usage.as_ref().map_or_else(|| "tokens not reported".to_owned(), |usage: &Usage| tokens(usage));
        let purpose = format!("{purpose:?}").to_lowercase();
        return Some(note(format!("Model call for {purpose}, {provider}/{model}: {used}"), Tone::Plain));
    }
    let value: Value = serde_json::from_str(data.raw().get()).unwrap_or(Value::Null);
    let title = told(data.name(), &value);
    let (title, tone) = title.unwrap_or_else(|| (data.name().to_owned(), Tone::Plain));
    let detail = serde_json::to_string_pretty(&value).unwrap_or_else(|_| data.raw().get().to_owned());
    Some(Note { time, title, detail, tone })
}

/// One line for types of plugins that this crate does not depend on. The data stays below it as it is, so nothing is
/// lost where a line says less.
fn told(name: &str, value: &Value) -> Option<(String, Tone)> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let whole = |key: &str| value.get(key).and_then(Value::as_u64);
    Some(match name {
        "llm/retry" => {
            let (retry, most) = (whole("retry")?, whole("max_retries")?);
            let wait = duration(i64::try_from(whole("wait_ms")?).ok()?);
            (format!("Retry {retry} of {most} after {wait} [{}]", text("code")?), Tone::Warning)
        }
        "llm/retry-stopped" => ("No further retry".to_owned(), Tone::Warning),
        "llm/text-call" => {
            (format!("A printed call of {} was made a real one", text("tool")?), Tone::Warning)
        }
        "approval/asked" => {
            (format!("Approval asked for {}", text("tool").unwrap_or("a call")), Tone::Warning)
        }
        "approval/decided" => ("Approval decided".to_owned(), Tone::Plain),
        "hook/invoked" => (format!("Hook on {}", text("event")?), Tone::Plain),
        "hook/result" => {
            let failed = value.get("error").is_some_and(|error| !error.is_null());
            let what = match (failed, text("reason")) {
                (true, _) => "failed".to_owned(),
                (false, Some(reason)) => format!("says: {reason}"),
                (false, None) => format!("done in {}", duration(i64::try_from(whole("duration_ms")?).ok()?)),
            };
            (format!("Hook on {} {what}", text("event")?), if failed { Tone::Failure } else { Tone::Plain })
        }
        _ => return None,
    })
}
