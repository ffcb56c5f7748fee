//! Which subjects a group of hooks is for.
use fancy_regex::Regex;

/// How the text of a matcher is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherStyle {
    /// A list of names if it has no other characters than names and separators have, else a regular expression.
    Claude,
    /// The same with the narrower set of characters that file names and error kinds have.
    ClaudeNarrow,
    /// Always a list of names.
    Literal,
    /// Always a regular expression.
    Regex,
}

/// A matcher that was read.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// Everything.
    All,
    /// Exactly these.
    Names(Vec<String>),
    /// Whatever the expression finds something in.
    Regex(Box<Regex>),
}

/// A regular expression that does not compile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the matcher `{matcher}` is not a regular expression ({detail}); it matches nothing")]
pub struct MatcherError {
    /// The text.
    pub matcher: String,
    /// What is wrong with it.
    pub detail: String,
}

impl Matcher {
    /// Reads a matcher. An absent or empty one, and `*`, match everything.
    pub fn parse(text: Option<&str>, style: MatcherStyle) -> Result<Self, MatcherError> {
        let Some(text) = text.filter(|text| !matches!(*text, "" | "*")) else { return Ok(Self::All) };
        let listable = match style {
            MatcherStyle::Claude => |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c),
            MatcherStyle::ClaudeNarrow => |c: char| c.is_ascii_alphanumeric() || "_|".contains(c),
            MatcherStyle::Literal => |_: char| true,
            MatcherStyle::Regex => |_: char| false,
        };
        if text.chars().all(listable) {
            let separators: &[char] = if style == MatcherStyle::ClaudeNarrow { &['|'] } else { &['|', ','] };
            let names = text.split(separators).map(str::trim).filter(|name| !name.is_empty());
            return Ok(Self::Names(names.map(str::to_owned).collect()));
        }
        let compiled = Regex::new(&from_javascript(text));
        let failed =
            |error: fancy_regex::Error| MatcherError { matcher: text.to_owned(), detail: error.to_string() };
        compiled.map(|regex| Self::Regex(Box::new(regex))).map_err(failed)
    }
    /// Whether one of the subject's names fits. An event without a subject fits every matcher.
    pub fn matches(&self, subjects: &[&str]) -> bool {
        match self {
            Self::All => true,
            _ if subjects.is_empty() => true,
            Self::Names(names) => subjects.iter().any(|subject| names.iter().any(|name| name == subject)),
            Self::Regex(regex) => subjects.iter().any(|subject| {
                regex.is_match(subject).unwrap_or_else(|error| {
                    tracing::warn!(matcher = regex.as_str(), %error, "the matcher gave up; it counts as no match");
                    false
                })
            }),
        }
    }
}

/// Inside a character class JavaScript knows no nested classes and no set operations: `[` and `&` are themselves.
fn from_javascript(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut inside, mut chars) = (false, text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                out.push(c);
                out.extend(chars.next());
            }
            '[' if !inside => {
                inside = true;
                out.push(c);
            }
            ']' if inside => {
                inside = false;
                out.push(c);
            }
            '[' | '&' | '~' if inside => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
