//! Documentation comments as text of a page.
use std::fmt::Write as _;

/// The prose without examples and without link targets that only rustdoc knows.
pub(super) fn of_doc(doc: &str) -> String {
    let mut kept = Vec::new();
    let mut in_example = false;
    for line in doc.lines() {
        if line.trim_start().starts_with("```") {
            in_example = !in_example;
        } else if !in_example {
            kept.push(unlink(line));
        }
    }
    // Where an example was cut out, its paragraph break remains once.
    let mut text = kept.join("\n");
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim().to_owned()
}

/// The prose after the name that it may repeat, as in "`tools/result`: a call was answered.".
pub(super) fn after_name(prose: &str, name: &str) -> String {
    let rest = prose.strip_prefix(&format!("`{name}`")).and_then(|rest| rest.strip_prefix(':'));
    let Some(rest) = rest else { return prose.to_owned() };
    let rest = rest.trim_start();
    let mut letters = rest.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The first sentence, on one line, fit for a cell of a table.
pub(super) fn first_sentence(prose: &str) -> String {
    let paragraph: Vec<_> = prose.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].replace('|', "\\|")
}

/// `[text](target)` and `[text]` become `text`; web links stay.
fn unlink(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']').map(|at| open + at) else { break };
        let (inner, after) = (&rest[open + 1..close], &rest[close + 1..]);
        text.push_str(&rest[..open]);
        let target = after.strip_prefix('(').and_then(|target| Some((&target[..target.find(')')?], target)));
        match target {
            Some((target, _)) if target.contains("://") => {
                let _ = write!(text, "[{inner}]({target})");
                rest = &after[target.len() + 2..];
            }
            Some((target, _)) => {
                text.push_str(inner);
                rest = &after[target.len() + 2..];
            }
            None if inner.starts_with('`') => {
                text.push_str(inner);
                rest = after;
            }
            None => {
                let _ = write!(text, "[{inner}]");
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_rustdoc_links_are_cut() {
        let doc = "Uses [`A`](crate::A), [`B`] and [the site](https://example.org).\n\n```\nlet a = 1;\n```\n\nMore [x].";
        assert_eq!(of_doc(doc), "Uses `A`, `B` and [the site](https://example.org).\n\nMore [x].");
    }

    #[test]
    fn a_repeated_name_is_dropped() {
        assert_eq!(after_name("`a/b`: it happened.", "a/b"), "It happened.");
        assert_eq!(after_name("It happened.", "a/b"), "It happened.");
    }

    #[test]
    fn the_first_sentence_ends_at_its_full_stop() {
        assert_eq!(first_sentence("One a|b\nline. Two.\n\nThree."), "One a\\|b line.");
        assert_eq!(first_sentence(""), "");
    }
}
