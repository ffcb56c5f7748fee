//! A tool call with its arguments, its change of a file and its result.
use serde_json::Value;

use super::writer::Writer;
use crate::change::{Change, LineKind};
use crate::transcript::{Call, CallResult};
use crate::words::{changed_how, duration, number, tokens};

/// Lines of a result that are shown; the rest opens on demand.
const SHOWN: usize = 16;
/// Lines of a change that are shown, likewise.
const SHOWN_CHANGE: usize = 120;

pub(super) fn call(page: &mut Writer, call: &Call) {
    let failed = call.result.as_ref().is_some_and(|result| result.is_error);
    page.open("article", if failed { "call failed" } else { "call" }).raw("<h4>");
    page.element("code", "", &call.name);
    let subject = subject(call.arguments());
    if let Some((_, subject)) = &subject {
        page.element("span", "subject", subject);
    }
    page.element("span", "fact", &took(call));
    if failed {
        let code =
            call.result.as_ref().and_then(|result| result.error.as_ref()).map(|error| error.code.as_str());
        page.element(
            "span",
            "state failure",
            &code.map_or_else(|| "failed".to_owned(), |code| format!("failed: {code}")),
        );
    }
    page.raw("</h4>\n");
    if let Some(change) = &call.change {
        changed(page, change);
        folded(page, "Arguments", call.arguments());
    } else {
        arguments(page, call.arguments(), subject.as_ref().map(|(name, _)| *name));
    }
    if call.ran.is_some() {
        page.element("p", "note warning", &format!("Rewritten by {}", call.rewritten_by.join(", ")));
        folded(page, "What the model sent", &call.sent);
    }
    match &call.result {
        // What the tool says of a change begins with its gist, and then repeats what is shown above.
        Some(result) => answered(page, result, if call.change.is_some() { 1 } else { SHOWN }),
        None => drop(page.raw("<p class=\"note failure\">No result in the log</p>\n")),
    }
    page.raw("</article>\n");
}

fn took(call: &Call) -> String {
    match (call.took(), call.started) {
        (Some(took), _) => duration(took),
        (None, Some(_)) => "no end in the log".to_owned(),
        (None, None) => "never started".to_owned(),
    }
}

/// What the call is about: the argument that says so, if it has one line.
fn subject(arguments: &str) -> Option<(&'static str, String)> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    let (name, text) = ["file_path", "path", "url", "query"]
        .iter()
        .find_map(|key| Some((*key, value.get(key)?.as_str()?)))?;
    (!text.contains('\n')).then(|| (name, text.to_owned()))
}

fn folded(page: &mut Writer, title: &'static str, arguments_text: &str) {
    page.raw("<details class=\"arguments\"><summary>").raw(title).raw("</summary>");
    arguments(page, arguments_text, None);
    page.raw("</details>\n");
}

/// Each argument on its own, but the one that stands in the title; the text as it is if it is no object.
fn arguments(page: &mut Writer, text: &str, told: Option<&str>) {
    let Ok(Value::Object(arguments)) = serde_json::from_str(text) else {
        page.raw("<pre class=\"raw\">").text(text).raw("</pre>\n");
        return;
    };
    let rest = || arguments.iter().filter(|(name, _)| Some(name.as_str()) != told);
    if rest().next().is_none() {
        return;
    }
    page.raw("<dl class=\"arguments\">\n");
    for (name, value) in rest() {
        page.raw("<div>").element("dt", "", name).raw("<dd><pre dir=\"auto\">");
        match value {
            Value::String(text) => page.text(text),
            other => page.text(&other.to_string()),
        };
        page.raw("</pre></dd></div>\n");
    }
    page.raw("</dl>\n");
}

fn answered(page: &mut Writer, result: &CallResult, most: usize) {
    page.raw("<div class=\"result\"><h5>Result");
    if let Some(usage) = &result.usage {
        page.element("span", "fact", &tokens(usage));
    }
    page.raw("</h5>");
    let text = result.text.strip_suffix('\n').unwrap_or(&result.text);
    let lines: Vec<&str> = text.split('\n').collect();
    // A rest of a line or two is shown rather than folded.
    let shown = if lines.len() > most + 3 { most } else { lines.len() };
    page.raw("<pre dir=\"auto\">").text(&lines[..shown].join("\n")).raw("</pre>");
    if shown < lines.len() {
        page.raw("<details><summary>").text(&format!("{} more lines", number((lines.len() - shown) as u64)));
        page.raw("</summary><pre dir=\"auto\">").text(&lines[shown..].join("\n")).raw("</pre></details>");
    }
    page.raw("</div>\n");
}

fn changed(page: &mut Writer, change: &Change) {
    let (added, removed) = change.count();
    page.raw("<figure class=\"change\"><figcaption>").text(changed_how(change.kind)).raw(" ");
    page.element("code", "", &change.path);
    page.element("span", "count added", &format!("+{}", number(added as u64)));
    page.element("span", "count removed", &format!("−{}", number(removed as u64))).raw("</figcaption>\n");
    let shown = if change.lines.len() > SHOWN_CHANGE + 8 { SHOWN_CHANGE } else { change.lines.len() };
    lines(page, change, 0..shown);
    if shown < change.lines.len() {
        let more = number((change.lines.len() - shown) as u64);
        page.raw("<details><summary>").text(&format!("{more} more lines")).raw("</summary>");
        lines(page, change, shown..change.lines.len());
        page.raw("</details>\n");
    }
    page.raw("</figure>\n");
}

fn lines(page: &mut Writer, change: &Change, range: std::ops::Range<usize>) {
    page.raw("<pre class=\"diff\">");
    for line in &change.lines[range] {
        let tag = match line.kind {
            LineKind::Added => "ins",
            LineKind::Removed => "del",
            LineKind::Same | LineKind::Gap => "span",
        };
        let number = line.new.or(line.old).map_or_else(String::new, |n| n.to_string());
        page.open(tag, if line.kind == LineKind::Gap { "line gap" } else { "line" });
        page.raw("<span class=\"number\" aria-hidden=\"true\">").text(&number).raw("</span>");
        page.raw(match line.kind {
            LineKind::Added => "<span class=\"sign\">+</span>",
            LineKind::Removed => "<span class=\"sign\">-</span>",
            LineKind::Same => "<span class=\"sign\"> </span>",
            LineKind::Gap => "<span class=\"sign\">⋯</span>",
        });
        page.raw("<span class=\"code\">").text(&line.text).raw("\n</span>").close(tag);
    }
    page.raw("</pre>\n");
}
