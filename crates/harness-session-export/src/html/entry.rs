//! One entry of the page.
use harness_llm::Failure;

use super::call::call;
use super::prose::prose;
use super::writer::Writer;
use crate::transcript::{Answer, Entry, FailedAttempt, Note, Piece, Said, Speaker, StepFacts, Tone};
use crate::words::{count, duration, finish, tokens};

/// `one_model`: the head of the page names the only model, so that answers need not.
pub(super) fn entry(page: &mut Writer, entry: &Entry, one_model: bool) {
    match entry {
        // The frame around the entries speaks of these.
        Entry::TurnOpen(_) | Entry::TurnClose(_) => {}
        Entry::Step(facts) => step(page, facts),
        Entry::Said(message) => said(page, message),
        Entry::Answer(message) => answer(page, message, one_model),
        Entry::FailedAttempt(attempt) => failed(page, attempt),
        Entry::Call(each) => call(page, each),
        Entry::Note(each) => note(page, each),
    }
}

fn step(page: &mut Writer, step: &StepFacts) {
    page.raw("<h3 class=\"step\">").text(&format!("Step {}", step.step));
    page.element("span", "fact", &step.took.map_or_else(|| "not ended".to_owned(), duration));
    if let Some(usage) = &step.usage {
        page.element("span", "fact", &tokens(usage));
    }
    page.raw("</h3>\n");
}

fn said(page: &mut Writer, said: &Said) {
    let (class, who) = match &said.speaker {
        Speaker::Person => ("message person", "You".to_owned()),
        Speaker::Plugin(plugin) => ("message plugin", plugin.clone()),
        Speaker::Other => ("message plugin", "Somebody".to_owned()),
    };
    page.open("article", class).raw("<h4>").text(&who);
    if said.replaces > 0 {
        let events = count(said.replaces as u64, "earlier event");
        page.element("span", "fact", &format!("in place of {events}, for the model"));
    }
    page.raw("</h4>\n");
    for piece in &said.pieces {
        match piece {
            // What a person typed is shown as it was typed.
            Piece::Text(text) | Piece::Reasoning(text) => {
                page.raw("<div class=\"text\" dir=\"auto\">").text(text).raw("</div>\n");
            }
            Piece::Other(what) => drop(page.element("p", "other", what).raw("\n")),
        }
    }
    page.raw("</article>\n");
}

fn answer(page: &mut Writer, answer: &Answer, one_model: bool) {
    page.raw("<article class=\"message assistant\"><h4>Assistant");
    if !one_model {
        page.element("span", "fact", &answer.route);
    }
    if let Some((waited, streamed)) = answer.timing {
        let (waited, streamed) = (duration(waited), duration(streamed));
        page.element("span", "fact", &format!("first token after {waited}, streamed in {streamed}"));
    }
    if let Some(usage) = &answer.usage {
        page.element("span", "fact", &tokens(usage));
    }
    if answer.attempt > 1 {
        page.element("span", "fact", &format!("attempt {}", answer.attempt));
    }
    if answer.interrupted {
        page.element("span", "state warning", "interrupted");
    }
    if let Some(end) = finish(answer.finish.as_ref()) {
        page.element("span", "state warning", &end);
    }
    page.raw("</h4>\n");
    pieces(page, &answer.pieces);
    page.raw("</article>\n");
}

fn pieces(page: &mut Writer, pieces: &[Piece]) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                page.raw("<div class=\"text\" dir=\"auto\">");
                prose(page, text);
                page.raw("</div>\n");
            }
            Piece::Reasoning(text) => {
                page.raw("<details class=\"reasoning\"><summary>Reasoning</summary><div class=\"text\" dir=\"auto\">");
                prose(page, text);
                page.raw("</div></details>\n");
            }
            Piece::Other(what) => drop(page.element("p", "other", what).raw("\n")),
        }
    }
}

fn failed(page: &mut Writer, attempt: &FailedAttempt) {
    let why = attempt.failure.as_ref().map_or_else(|| "cancelled".to_owned(), Failure::to_string);
    page.raw("<article class=\"message failed\"><h4>").text(&format!("Attempt {} failed", attempt.attempt));
    page.element("span", "state failure", &why).raw("</h4>\n");
    if !attempt.pieces.is_empty() {
        page.raw("<details><summary>What had come</summary>");
        pieces(page, &attempt.pieces);
        page.raw("</details>");
    }
    page.raw("</article>\n");
}

fn note(page: &mut Writer, note: &Note) {
    let class = match note.tone {
        Tone::Plain => "note",
        Tone::Warning => "note warning",
        Tone::Failure => "note failure",
    };
    if note.detail.is_empty() {
        page.element("p", class, &note.title).raw("\n");
    } else {
        page.open("details", class).element("summary", "", &note.title);
        page.raw("<pre dir=\"auto\">").text(&note.detail).raw("</pre></details>\n");
    }
}
