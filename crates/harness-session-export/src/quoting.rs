//! What others said, in Markdown, without a chance to be anything but text.
use crate::visible::visible;

/// A block in which nothing has a meaning.
pub(crate) fn fenced(text: &str, info: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{info}\n{text}{end}{fence}\n")
}

/// A line of text between other words.
pub(crate) fn inline(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text).replace('\n', " ").chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A name: as code if it looks like one.
pub(crate) fn named(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.chars().all(plain) { format!("`{name}`") } else { inline(name) }
}

/// Text that a model wrote as Markdown. It keeps its emphasis, lists and code; headings, tags and pictures become
/// text, so that a reader neither mistakes its headings for ours nor fetches anything.
pub(crate) fn prose(text: &str) -> String {
    let text = visible(text);
    let mut out = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        if let Some(open) = fence {
            if closes(line, open) {
                fence = None;
            }
            out.push_str(line);
            out.push('\n');
        } else if let Some(open) = opens(line) {
            flush(&mut paragraph, &mut out);
            fence = Some(open);
            out.push_str(line);
            out.push('\n');
        } else if line.trim().is_empty() {
            flush(&mut paragraph, &mut out);
            out.push('\n');
        } else {
            paragraph.push(line);
        }
    }
    flush(&mut paragraph, &mut out);
    if let Some(open) = fence {
        out.push_str(open);
        out.push('\n');
    }
    out
}

/// The fence that a line opens. Only one at the very beginning of a line: within lists and quotes the rules for where
/// a block ends are too subtle to rely on.
fn opens(line: &str) -> Option<&str> {
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(sign).len();
    let info = &line[length..];
    (length >= 3 && !(sign == '`' && info.contains('`'))).then(|| &line[..length])
}
fn closes(line: &str, open: &str) -> bool {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let rest = line.trim();
    indent <= 3 && rest.len() >= open.len() && rest.chars().all(|c| open.starts_with(c))
}

fn flush(paragraph: &mut Vec<&str>, out: &mut String) {
    // Code spans are left alone where nobody can take them for anything else: single backticks, in pairs on each
    // line. Elsewhere everything is escaped.
    let pairs = paragraph.iter().all(|line| {
        line.matches('`').count().is_multiple_of(2) && !line.contains("``") && !line.contains("\\`")
    });
    for line in paragraph.drain(..) {
        let start = line.trim_start();
        let heading = start.starts_with('#');
        let rule = !start.is_empty() && start.trim_end().chars().all(|c| matches!(c, '=' | '-'));
        let title = start.trim_start_matches('#').trim();
        if heading && !title.is_empty() && !title.contains('*') {
            out.push_str("**");
            escape(title, pairs, out);
            out.push_str("**");
        } else if heading || rule {
            out.push_str(&line[..line.len() - start.len()]);
            out.push('\\');
            escape(start, pairs, out);
        } else {
            escape(line, pairs, out);
        }
        out.push('\n');
    }
}

fn escape(line: &str, pairs: bool, out: &mut String) {
    for (nth, part) in line.split('`').enumerate() {
        if nth > 0 {
            out.push('`');
        }
        if pairs && nth % 2 == 1 {
            out.push_str(part);
        } else {
            out.push_str(&part.replace('<', "&lt;").replace("![", "!&#91;"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fenced("a\n````\nb", "text"), "`````text\na\n````\nb\n`````\n");
        assert_eq!(fenced("a\n", ""), "```\na\n```\n");
    }
    #[test]
    fn prose_keeps_its_code_and_loses_what_fetches() {
        let text = "# Title\nUse `Vec<T>` and <img src=x>.\n\n```rust\nlet a: Vec<u8>;\n# x\n```\n![p](http://a)\n---";
        let expected = "**Title**\nUse `Vec<T>` and &lt;img src=x>.\n\n```rust\nlet a: Vec<u8>;\n# x\n```\n!&#91;p](http://a)\n\\---\n";
        assert_eq!(prose(text), expected);
    }
    #[test]
    fn tricks_with_backticks_and_fences_do_not_let_a_tag_out() {
        for text in [
            "a ` b\nc ` <img src=x> ` d",
            "\\`<img src=x>`",
            "``<img src=x>`",
            "- ```\n  x\n  ```\n<img src=x>",
            "> ```\n<img src=x>",
            "1. ~~~\n   ~~~\n   <img src=x>",
        ] {
            assert!(!prose(text).contains('<'), "{text:?} → {:?}", prose(text));
        }
    }
    #[test]
    fn an_open_fence_is_closed() {
        assert_eq!(prose("```\nx"), "```\nx\n```\n");
        assert_eq!(prose("~~~~ a\n~~~\nx"), "~~~~ a\n~~~\nx\n~~~~\n");
    }
    #[test]
    fn a_line_between_words_is_text() {
        assert_eq!(inline("a *b* <i> [x](y) `c`\nd"), "a \\*b\\* &lt;i> \\[x\\](y) \\`c\\` d");
    }
}
