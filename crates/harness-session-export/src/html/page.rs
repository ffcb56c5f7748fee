//! Head, facts, table of turns, and the frame around the entries.
use super::entry::entry;
use super::writer::Writer;
use crate::transcript::{Entry, Facts, Piece, Said, Speaker, Tone, Transcript, TurnClose};
use crate::words::{count, dollars, duration, ending, tokens};

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
    base-uri 'none'; form-action 'none'\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n";

/// The transcript as one HTML page: no script, no fetch, light and dark, readable without a mouse or a screen.
pub fn html(transcript: &Transcript) -> String {
    let mut page = Writer::default();
    let title = transcript.facts.title.as_deref().unwrap_or("A session without a prompt");
    page.raw(HEAD).element("title", "", title);
    page.raw("\n<style>\n").raw(include_str!("style.css")).raw("</style>\n</head>\n<body>\n");
    page.raw("<a class=\"skip\" href=\"#transcript\">Skip to the transcript</a>\n<header>\n");
    page.element("p", "kind", "Session transcript").element("h1", "", title);
    facts(&mut page, &transcript.facts);
    page.raw("</header>\n");
    turns(&mut page, transcript);
    page.raw("<main id=\"transcript\">\n");
    body(&mut page, transcript);
    page.raw("</main>\n</body>\n</html>\n");
    page.finish()
}

fn facts(page: &mut Writer, facts: &Facts) {
    page.raw("<dl class=\"facts\">\n");
    let mut row = |name: &'static str, value: &str| {
        page.raw("<div>").element("dt", "", name).element("dd", "", value).raw("</div>\n");
    };
    let models: Vec<&str> = facts.models.iter().map(String::as_str).collect();
    let models = if models.is_empty() { "none was asked".to_owned() } else { models.join(", ") };
    row("Model", &models);
    row("Tokens", &tokens(&facts.usage));
    if let Some(usd) = facts.usd {
        row("Cost", &dollars(usd));
    }
    let (turns, steps) = (count(facts.turns.into(), "turn"), count(facts.steps.into(), "step"));
    row("Size", &format!("{turns}, {steps}, {}", count(facts.calls.into(), "tool call")));
    if let Some(cwd) = &facts.cwd {
        row("Folder", cwd);
    }
    row("Session", &facts.id.to_string());
    if let Some(parent) = facts.parent {
        row("Forked from", &format!("{parent}, {}", count(facts.inherited, "event")));
    }
    page.raw("<div><dt>Time</dt><dd>").time(facts.created).raw(" to ").time(facts.last);
    page.text(&format!(" ({})", duration(facts.last - facts.created))).raw("</dd></div>\n</dl>\n");
}

fn turns(page: &mut Writer, transcript: &Transcript) {
    if transcript.facts.turns < 2 {
        return;
    }
    page.raw("<nav aria-label=\"Turns\">\n<ol>\n");
    let mut entries = transcript.entries.iter();
    while let Some(entry) = entries.next() {
        let Entry::TurnOpen(open) = entry else { continue };
        let turn = open.turn.to_string();
        let rest = entries.as_slice();
        page.raw("<li><a href=\"#turn-").value(&turn).raw("\">");
        page.element("span", "prompt", &prompt(rest).unwrap_or_else(|| format!("Turn {turn}"))).raw("</a>");
        if let Some(close) = rest.iter().find_map(closed) {
            let (why, tone) = ending(&close.reason);
            let took = duration(close.took);
            page.element("span", state(tone), &if tone == Tone::Plain { took } else { why });
        }
        page.raw("</li>\n");
    }
    page.raw("</ol>\n</nav>\n");
}

fn closed(entry: &Entry) -> Option<&TurnClose> {
    if let Entry::TurnClose(close) = entry { Some(close) } else { None }
}
fn state(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "state",
        Tone::Warning => "state warning",
        Tone::Failure => "state failure",
    }
}

/// The first line of what the person asked in the turn that begins here.
fn prompt(entries: &[Entry]) -> Option<String> {
    let within = entries.iter().take_while(|entry| !matches!(entry, Entry::TurnClose(_)));
    let mut said = within.filter_map(|entry| match entry {
        Entry::Said(Said { speaker: Speaker::Person, pieces, .. }) => pieces.first(),
        _ => None,
    });
    let Piece::Text(text) = said.next()? else { return None };
    text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned)
}

fn body(page: &mut Writer, transcript: &Transcript) {
    let mut open = false;
    for each in &transcript.entries {
        match each {
            Entry::TurnOpen(turn) => {
                let number = turn.turn.to_string();
                page.raw("<section class=\"turn\" id=\"turn-")
                    .value(&number)
                    .raw("\" aria-labelledby=\"turn-title-");
                page.value(&number).raw("\">\n<h2 id=\"turn-title-").value(&number).raw("\">Turn ");
                page.text(&number).raw(" ").time(turn.time).raw("</h2>\n");
                open = true;
            }
            Entry::TurnClose(close) => {
                let (why, tone) = ending(&close.reason);
                page.raw("<footer>").element("span", state(tone), &format!("Turn {} {why}", close.turn));
                page.element("span", "fact", &duration(close.took)).element(
                    "span",
                    "fact",
                    &tokens(&close.usage),
                );
                if let Some(usd) = close.usd {
                    page.element("span", "fact", &dollars(usd));
                }
                page.raw("</footer>\n");
                if std::mem::take(&mut open) {
                    page.raw("</section>\n");
                }
            }
            other => entry(page, other, transcript.facts.models.len() < 2),
        }
    }
    if open {
        page.raw("<footer><span class=\"state failure\">The turn has no end in the log</span></footer>\n</section>\n");
    }
}
