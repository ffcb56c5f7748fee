//! What takes the place of older history: the summary, and what must not depend on it.
use std::collections::HashSet;
use std::fmt::Write as _;

use harness_llm::{ContextForm, MessageSource};
use harness_session::{Body, Event, Seq, Session, SurfaceOp};
use harness_token_meter::text_tokens;

/// Fewest tokens that are kept of what the person said.
const WORDS: u64 = 512;

/// The text of the replacement. `stays` are the events that remain on the surface behind it; `window` bounds what is
/// kept word for word to a sixteenth of it.
pub(crate) fn framed(session: &Session, summary: &str, stays: &HashSet<Seq>, window: u64) -> String {
    let mut text = format!(
        "Earlier messages of this conversation were replaced by this summary, to save space. The work goes on from \
         here.\n\n{}",
        summary.trim()
    );
    let said = Said::before(session, stays);
    for (title, items) in [
        ("What the user said, word for word, oldest first", bounded(&said.person, (window / 16).max(WORDS))),
        ("Context that still holds", bounded(&said.standing, (window / 16).max(WORDS))),
    ] {
        if !items.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n\n## {title}\n\n{}", items.join("\n\n---\n\n"));
        }
    }
    text
}

/// What was said in the part of the log that is replaced, now or earlier.
#[derive(Default)]
struct Said {
    person: Vec<String>,
    standing: Vec<String>,
}
impl Said {
    fn before(session: &Session, stays: &HashSet<Seq>) -> Self {
        let mut said = Self::default();
        // The last snapshot of a plugin counts, and only that.
        let mut snapshots: Vec<(String, String)> = Vec::new();
        let view = session.view();
        let appended = |event: &Event| event.surface == Some(SurfaceOp::Append);
        for event in view.iter().filter(|event| appended(event)) {
            let Body::UserMessage(user) = &event.body else { continue };
            let gone = !stays.contains(&event.seq);
            match &user.message.source {
                MessageSource::User if gone => said.person.push(user.message.text()),
                MessageSource::Plugin { form: Some(ContextForm::Instructions), .. } if gone => {
                    let text = user.message.text();
                    if !said.standing.contains(&text) {
                        said.standing.push(text);
                    }
                }
                MessageSource::Plugin { plugin, form: Some(ContextForm::Snapshot) } => {
                    snapshots.retain(|(of, _)| of != plugin);
                    if gone {
                        snapshots.push((plugin.clone(), user.message.text()));
                    }
                }
                _ => {}
            }
        }
        said.standing.extend(snapshots.into_iter().map(|(_, text)| text));
        said
    }
}

/// The first item, which says what it is all about, and as many of the newest as fit; in order.
fn bounded(items: &[String], most: u64) -> Vec<String> {
    let mut left = most;
    let mut take = |text: &str, share: u64| -> Option<String> {
        let room = left.min(share);
        let taken = if text_tokens(text) <= room { text.trim().to_owned() } else { clipped(text, room)? };
        left = left.saturating_sub(text_tokens(&taken));
        Some(taken)
    };
    let Some((first, rest)) = items.split_first() else { return Vec::new() };
    let mut kept: Vec<String> = take(first, most / 2).into_iter().collect();
    let mut newest = Vec::new();
    for text in rest.iter().rev() {
        match take(text, most / 4) {
            Some(text) => newest.push(text),
            None => break,
        }
    }
    let skipped = rest.len() - newest.len();
    if skipped > 0 {
        kept.push(format!("({skipped} messages are left out here)"));
    }
    kept.extend(newest.into_iter().rev());
    kept
}

/// The beginning of a text within so many tokens; `None` if that says nothing.
fn clipped(text: &str, room: u64) -> Option<String> {
    if room < 16 {
        return None;
    }
    let bytes = usize::try_from(room).unwrap_or(usize::MAX).min(text.len());
    Some(format!("{} […]", text[..text.floor_char_boundary(bytes)].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("item {n} {}", "x".repeat(72))).collect()
    }

    #[test]
    fn all_is_kept_while_it_fits() {
        assert_eq!(bounded(&items(3), 1000), items(3));
        assert!(bounded(&[], 1000).is_empty());
    }
    #[test]
    fn the_first_and_the_newest_stay() {
        let all = items(20);
        let kept = bounded(&all, 100);
        assert_eq!(kept.first(), all.first());
        assert_eq!(kept.last(), all.last());
        assert_eq!(kept[1], format!("({} messages are left out here)", 20 - (kept.len() - 1)));
        assert!(kept.iter().map(|text| text_tokens(text)).sum::<u64>() <= 110);
    }
    #[test]
    fn a_long_one_is_clipped() {
        let kept = bounded(&["y".repeat(10_000)], 100);
        assert!(kept[0].ends_with("[…]") && text_tokens(&kept[0]) <= 100, "{kept:?}");
    }
}
