//! The only way into the page: markup that is written here, and text that is escaped.
use crate::visible::each;

/// A page in the making.
#[derive(Default)]
pub(super) struct Writer(String);

impl Writer {
    /// Markup from this crate.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }
    /// Anybody's text, as content or within a quoted attribute.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        let mut out = std::mem::take(&mut self.0);
        escape_into(&mut out, text, "<span class=\"hidden-char\">", "</span>");
        self.0 = out;
        self
    }
    /// Anybody's text within a quoted attribute.
    pub(super) fn value(&mut self, text: &str) -> &mut Self {
        let mut out = std::mem::take(&mut self.0);
        escape_into(&mut out, text, "", "");
        self.0 = out;
        self
    }
    /// An element with text in it. Tag and class come from this crate.
    pub(super) fn element(&mut self, tag: &'static str, class: &'static str, text: &str) -> &mut Self {
        self.open(tag, class).text(text).close(tag)
    }
    /// A start tag.
    pub(super) fn open(&mut self, tag: &'static str, class: &'static str) -> &mut Self {
        self.raw("<").raw(tag);
        if !class.is_empty() {
            self.raw(" class=\"").raw(class).raw("\"");
        }
        self.raw(">")
    }
    /// An end tag.
    pub(super) fn close(&mut self, tag: &'static str) -> &mut Self {
        self.raw("</").raw(tag).raw(">")
    }
    /// A moment that programs can read, too.
    pub(super) fn time(&mut self, ms: i64) -> &mut Self {
        self.raw("<time datetime=\"").value(&crate::words::stamp(ms)).raw("\">");
        self.text(&crate::words::moment(ms)).raw("</time>")
    }
    /// The page.
    pub(super) fn finish(self) -> String {
        self.0
    }
}

fn escape_into(out: &mut String, text: &str, before: &str, after: &str) {
    let cell = std::cell::RefCell::new(out);
    each(
        text,
        |plain| escape(&mut cell.borrow_mut(), plain),
        |name, _| {
            let mut out = cell.borrow_mut();
            out.push_str(before);
            out.push_str(name);
            out.push_str(after);
        },
    );
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        let mut page = Writer::default();
        page.text("</script><img src='x' onerror=\"a&b\">\0");
        let expected = "&lt;/script&gt;&lt;img src=&#39;x&#39; onerror=&quot;a&amp;b&quot;&gt;<span class=\"hidden-char\">⟨NUL⟩</span>";
        assert_eq!(page.finish(), expected);
        let mut page = Writer::default();
        page.value("\" onload=\"x\u{202e}");
        assert_eq!(page.finish(), "&quot; onload=&quot;x⟨U+202E⟩");
    }
}
