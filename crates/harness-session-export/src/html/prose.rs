//! What a model wrote: its code, its emphasis and its headings are set apart, everything else stays as it is.
use super::writer::Writer;

pub(super) fn prose(page: &mut Writer, text: &str) {
    let mut lines = text.trim_matches('\n').split('\n').peekable();
    let mut begun = false;
    while let Some(line) = lines.next() {
        let Some(fence) = fence(line) else {
            if begun {
                page.raw("\n");
            }
            begun = true;
            words(page, line);
            continue;
        };
        let info = line.trim_start()[fence.len()..].trim();
        page.raw("<span class=\"block\">");
        if !info.is_empty() {
            page.element("span", "lang", info);
        }
        page.raw("<code>");
        let mut first = true;
        for line in lines.by_ref() {
            if line.trim().starts_with(fence) && line.trim().trim_start_matches(fence).is_empty() {
                break;
            }
            if !std::mem::take(&mut first) {
                page.raw("\n");
            }
            page.text(line);
        }
        page.raw("</code></span>");
        // A block ends its line by itself, and so does an empty line after it.
        begun = false;
        lines.next_if(|line| line.trim().is_empty());
    }
}

fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(sign).len();
    (length >= 3 && !line[length..].contains('`')).then(|| &line[..length])
}

fn words(page: &mut Writer, line: &str) {
    let level = line.len() - line.trim_start_matches('#').len();
    match line[level..].strip_prefix(' ') {
        Some(title) if (1..=6).contains(&level) => {
            page.raw("<strong class=\"heading\">");
            spans(page, title);
            page.raw("</strong>");
        }
        _ => spans(page, line),
    }
}

/// Code spans first: nothing in them means anything.
fn spans(page: &mut Writer, line: &str) {
    let mut rest = line;
    while let Some((before, code, after)) = pair(rest, "`") {
        strong(page, before);
        page.element("code", "", code);
        rest = after;
    }
    strong(page, rest);
}
fn strong(page: &mut Writer, line: &str) {
    let mut rest = line;
    while let Some((before, bold, after)) = pair(rest, "**") {
        page.text(before).element("strong", "", bold);
        rest = after;
    }
    page.text(rest);
}

/// The text before, between and behind a pair of marks that something stands between.
fn pair<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let (before, rest) = text.split_once(mark)?;
    let (inside, after) = rest.split_once(mark)?;
    (!inside.trim().is_empty()).then_some((before, inside, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> String {
        let mut page = Writer::default();
        prose(&mut page, text);
        page.finish()
    }
    #[test]
    fn code_is_set_apart_and_nothing_is_markup() {
        assert_eq!(
            set("Use `a<b>` and **this <i>**."),
            "Use <code>a&lt;b&gt;</code> and <strong>this &lt;i&gt;</strong>."
        );
        let block = "Look:\n\n```sh\necho \"<x>\"\n```\n\nDone.";
        let expected = "Look:\n<span class=\"block\"><span class=\"lang\">sh</span><code>echo &quot;&lt;x&gt;&quot;</code></span>Done.";
        assert_eq!(set(block), expected);
        assert_eq!(set("## A `b`"), "<strong class=\"heading\">A <code>b</code></strong>");
    }
    #[test]
    fn marks_without_a_partner_stay() {
        assert_eq!(set("a ` b ** c\n`` x\n#no"), "a ` b ** c\n`` x\n#no");
        assert_eq!(set("```\nnever closed"), "<span class=\"block\"><code>never closed</code></span>");
    }
}
