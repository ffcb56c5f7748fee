//! The transcript as Markdown.
use harness_llm::Failure;

use crate::change::Change;
use crate::quoting::{fenced, inline, named, prose};
use crate::transcript::{
    Answer, Call, Entry, Facts, FailedAttempt, Note, Piece, Said, Speaker, Tone, Transcript,
};
use crate::words::{changed_how, count, dollars, duration, ending, finish, moment, number, tokens};

/// The transcript as Markdown (`CommonMark`, with `details` for what is long or aside).
pub fn markdown(transcript: &Transcript) -> String {
    let mut out = String::new();
    facts(&mut out, &transcript.facts);
    for entry in &transcript.entries {
        out.push('\n');
        out.push_str(&part(entry));
    }
    out
}

fn facts(out: &mut String, facts: &Facts) {
    let title = facts.title.as_deref().unwrap_or("A session without a prompt");
    out.push_str(&format!("# {}\n\n", inline(title)));
    let mut row = |name: &str, value: String| out.push_str(&format!("- **{name}:** {value}\n"));
    row("Session", facts.id.to_string());
    if let Some(parent) = facts.parent {
        row("Forked from", format!("{parent}, {}", count(facts.inherited, "event")));
    }
    if let Some(cwd) = &facts.cwd {
        row("Folder", inline(cwd));
    }
    let models: Vec<String> = facts.models.iter().map(|model| inline(model)).collect();
    row("Model", if models.is_empty() { "none was asked".to_owned() } else { models.join(", ") });
    row(
        "Time",
        format!(
            "{} to {} ({})",
            moment(facts.created),
            moment(facts.last),
            duration(facts.last - facts.created)
        ),
    );
    row("Tokens", tokens(&facts.usage));
    if let Some(usd) = facts.usd {
        row("Cost", dollars(usd));
    }
    let (turns, steps) = (count(facts.turns.into(), "turn"), count(facts.steps.into(), "step"));
    row(
        "Size",
        format!(
            "{turns}, {steps}, {}, {}",
            count(facts.calls.into(), "tool call"),
            count(facts.events, "event")
        ),
    );
}

fn part(entry: &Entry) -> String {
    match entry {
        Entry::TurnOpen(open) => format!("## Turn {}\n\n{}\n", open.turn, moment(open.time)),
        Entry::TurnClose(close) => {
            let (why, _) = ending(&close.reason);
            let cost = close.usd.map_or_else(String::new, |usd| format!("; {}", dollars(usd)));
            let (took, used) = (duration(close.took), tokens(&close.usage));
            format!("*Turn {} {} after {took}; {used}{cost}*\n", close.turn, inline(&why))
        }
        Entry::Step(step) => {
            let took = step.took.map_or_else(|| "not ended".to_owned(), duration);
            let used = step.usage.map_or_else(String::new, |usage| format!("; {}", tokens(&usage)));
            format!("### Step {} ({took}{used})\n", step.step)
        }
        Entry::Said(said) => message(said),
        Entry::Answer(answer) => answered(answer),
        Entry::FailedAttempt(failed) => failure(failed),
        Entry::Call(call) => called(call),
        Entry::Note(note) => noted(note),
    }
}

fn message(said: &Said) -> String {
    let who = match &said.speaker {
        Speaker::Person => "You".to_owned(),
        Speaker::Plugin(plugin) => format!("Plugin {}", inline(plugin)),
        Speaker::Other => "Somebody".to_owned(),
    };
    let instead = match said.replaces {
        0 => String::new(),
        n => format!(", in place of {}", count(n as u64, "earlier event")),
    };
    let mut out = format!("**{who}**{instead}:\n\n");
    for piece in &said.pieces {
        out.push_str(&match piece {
            Piece::Text(text) | Piece::Reasoning(text) => fenced(text, "text"),
            Piece::Other(what) => format!("{}\n", inline(what)),
        });
    }
    out
}

fn answered(answer: &Answer) -> String {
    let mut facts = vec![inline(&answer.route)];
    if let Some((waited, streamed)) = answer.timing {
        facts.push(format!("first token after {}, streamed in {}", duration(waited), duration(streamed)));
    }
    facts.extend(answer.usage.as_ref().map(tokens));
    if answer.attempt > 1 {
        facts.push(format!("attempt {}", answer.attempt));
    }
    if answer.interrupted {
        facts.push("interrupted".to_owned());
    }
    facts.extend(finish(answer.finish.as_ref()).map(|text| inline(&text)));
    format!("**Assistant** ({}):\n\n{}", facts.join("; "), spoken(&answer.pieces))
}

fn spoken(pieces: &[Piece]) -> String {
    let parts = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => prose(text),
        Piece::Reasoning(text) => folded("Reasoning", &fenced(text, "text")),
        Piece::Other(what) => fenced(what, "text"),
    });
    parts.collect::<Vec<_>>().join("\n")
}

fn failure(failed: &FailedAttempt) -> String {
    let why = failed.failure.as_ref().map_or_else(|| "cancelled".to_owned(), Failure::to_string);
    let mut out = format!("**Attempt {} failed**: {}\n", failed.attempt, inline(&why));
    if !failed.pieces.is_empty() {
        out.push('\n');
        out.push_str(&folded("What had come", &spoken(&failed.pieces)));
    }
    out
}

fn called(call: &Call) -> String {
    let took = match (call.took(), call.started) {
        (Some(took), _) => duration(took),
        (None, Some(_)) => "no result".to_owned(),
        (None, None) => "never started".to_owned(),
    };
    let mut out = format!("**Tool {}** ({took}):\n\n", named(&call.name));
    match &call.change {
        Some(change) => {
            out.push_str(&changed(change));
            out.push_str(&folded("Arguments", &fenced(call.arguments(), "json")));
        }
        None => out.push_str(&fenced(call.arguments(), "json")),
    }
    if let Some(ran) = &call.ran {
        out.push_str(&format!("\nRewritten by {}; ran as:\n\n", inline(&call.rewritten_by.join(", "))));
        out.push_str(&fenced(ran, "json"));
        out.push_str(&folded("What the model sent", &fenced(&call.sent, "json")));
    }
    if let Some(result) = &call.result {
        let failed = match (&result.error, result.is_error) {
            (Some(error), _) => format!(" (failed, {})", inline(&error.code)),
            (None, true) => " (failed)".to_owned(),
            (None, false) => String::new(),
        };
        let used = result.usage.map_or_else(String::new, |usage| format!(" ({})", tokens(&usage)));
        out.push_str(&format!("\nResult{failed}{used}:\n\n{}", fenced(&result.text, "text")));
    }
    out
}

fn changed(change: &Change) -> String {
    let (added, removed) = change.count();
    let what = changed_how(change.kind);
    let mut out = format!(
        "{what} {}: {} added, {} removed\n\n",
        inline(&change.path),
        number(added as u64),
        number(removed as u64)
    );
    let lines: Vec<String> =
        change.lines.iter().map(|line| format!("{}{}", line.kind.sign(), line.text)).collect();
    out.push_str(&fenced(&lines.join("\n"), "diff"));
    out
}

fn noted(note: &Note) -> String {
    let sign = match note.tone {
        Tone::Plain => "·",
        Tone::Warning => "!",
        Tone::Failure => "✗",
    };
    let line = format!("{sign} *{}*\n", inline(&note.title));
    if note.detail.is_empty() {
        line
    } else {
        format!("{line}\n{}", folded("Details", &fenced(&note.detail, "text")))
    }
}

/// A part that viewers show when asked.
fn folded(title: &str, body: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{body}\n</details>\n")
}
