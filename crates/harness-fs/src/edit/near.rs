//! What to tell someone whose text was not found.

use std::fmt;

use memchr::memmem;

/// Most places at which a partial match is tried: bounds the work on repetitive files.
const MAX_TRIALS: usize = 1_000;
/// Most characters of a line that a hint quotes.
const MAX_QUOTED_CHARS: usize = 120;

/// The place in a file that comes closest to a text which does not occur. It is only ever shown: nothing is written
/// on the strength of a near miss.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NearMiss {
    /// The text is there, but for white space.
    Whitespace {
        /// Where it starts, counted from one.
        line: u64,
    },
    /// The text is there, but for upper and lower case.
    LetterCase {
        /// Where it starts, counted from one.
        line: u64,
    },
    /// Its first lines are there; then the file goes on differently.
    Partial {
        /// Where it starts, counted from one.
        line: u64,
        /// How many of its lines agree, white space at both ends aside.
        matching: u64,
        /// The line that the file has next, cut to 120 characters; `None` at the end of the file.
        found: Option<String>,
    },
}

impl NearMiss {
    /// Looks for `old`, which does not occur in `text`; both have LF endings. Work is linear in the size of the text.
    pub(super) fn find(text: &str, old: &str) -> Option<Self> {
        whitespace(text, old).or_else(|| letter_case(text, old)).or_else(|| partial(text, old))
    }
}

/// Every line without the white space at its ends and with each run within as one space.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    for line in text.split('\n') {
        for (position, word) in line.split_whitespace().enumerate() {
            if position > 0 {
                squeezed.push(' ');
            }
            squeezed.push_str(word);
        }
        squeezed.push('\n');
    }
    squeezed.pop();
    squeezed
}

fn line_at(text: &str, offset: usize) -> u64 {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..offset]).count() as u64
}

fn whitespace(text: &str, old: &str) -> Option<NearMiss> {
    let wanted = squeezed(old.trim());
    let text = squeezed(text);
    let at = (!wanted.is_empty()).then(|| memmem::find(text.as_bytes(), wanted.as_bytes()))??;
    Some(NearMiss::Whitespace { line: line_at(&text, at) })
}

fn letter_case(text: &str, old: &str) -> Option<NearMiss> {
    let (text, wanted) = (text.to_lowercase(), old.to_lowercase());
    let at = memmem::find(text.as_bytes(), wanted.as_bytes())?;
    Some(NearMiss::LetterCase { line: line_at(&text, at) })
}

fn partial(text: &str, old: &str) -> Option<NearMiss> {
    let wanted: Vec<&str> = old.trim_matches('\n').split('\n').map(str::trim).collect();
    let first = *wanted.first().filter(|line| !line.is_empty() && wanted.len() > 1)?;
    let mut best: Option<(u64, usize, Option<&str>)> = None;
    let mut trials = 0;
    let mut lines = text.split('\n').zip(1..);
    while let Some((line, number)) = lines.next() {
        if line.trim() != first {
            continue;
        }
        let mut following = lines.clone().map(|(line, _)| line);
        let mut found = None;
        let mut matching = 1;
        for wanted in &wanted[1..] {
            found = following.next();
            if found.map(str::trim) != Some(wanted) {
                break;
            }
            matching += 1;
        }
        if best.is_none_or(|(_, most, _)| matching > most) {
            best = Some((number, matching, found));
        }
        trials += 1;
        if trials == MAX_TRIALS {
            break;
        }
    }
    let (line, matching, found) = best?;
    let found = found.map(|line| line.chars().take(MAX_QUOTED_CHARS).collect());
    Some(NearMiss::Partial { line, matching: matching as u64, found })
}

impl fmt::Display for NearMiss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whitespace { line } => {
                write!(
                    formatter,
                    "line {line} has it with other white space: copy the file's own indentation"
                )
            }
            Self::LetterCase { line } => write!(formatter, "line {line} has it in other letter case"),
            Self::Partial { line, matching, found: Some(found) } => {
                let next = line + matching;
                write!(
                    formatter,
                    "its first {matching} lines are at line {line}, but line {next} is {found:?}"
                )
            }
            Self::Partial { line, matching, found: None } => {
                write!(formatter, "its first {matching} lines are at line {line}, but the file ends there")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NearMiss;

    #[track_caller]
    fn check(text: &str, old: &str, expected: impl Into<Option<NearMiss>>) {
        assert_eq!(NearMiss::find(text, old), expected.into());
    }

    #[test]
    fn white_space_is_told_first() {
        check("a\n    if x:\n\ty  = 1\n", "  if x:\n    y = 1", Some(NearMiss::Whitespace { line: 2 }));
        check("a\nb \n", "a\nb\n", Some(NearMiss::Whitespace { line: 1 }));
    }

    #[test]
    fn letter_case_is_told() {
        check("a\nTodo: Ähre\n", "todo: ähre", Some(NearMiss::LetterCase { line: 2 }));
    }

    #[test]
    fn the_longest_partial_match_is_told() {
        let text = "fn a() {\n    one();\n}\nfn a() {\n    two();\n    three();\n}\n";
        let found = Some("    three();".to_owned());
        check(
            text,
            "fn a() {\n    two();\n    four();\n}",
            Some(NearMiss::Partial { line: 4, matching: 2, found }),
        );
        check("x\na\nb", "a\nb\nc", Some(NearMiss::Partial { line: 2, matching: 2, found: None }));
    }

    #[test]
    fn nothing_close_is_nothing() {
        check("a\nb\n", "zzz", None);
        check("a\nb\n", "zzz\na", None);
        check("", "a\nb", None);
        check("ab", " \n ", None);
    }
}
