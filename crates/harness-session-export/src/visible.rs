//! Characters that nobody sees, or that turn the text around them, are written out.

/// Splits a text into what can be shown as it is and what must be written out.
pub(crate) fn each(text: &str, mut shown: impl FnMut(&str), mut named: impl FnMut(&str, char)) {
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        if let Some(name) = name(c) {
            if plain < at {
                shown(&text[plain..at]);
            }
            named(&name, c);
            plain = at + c.len_utf8();
        }
    }
    if plain < text.len() {
        shown(&text[plain..]);
    }
}

/// The text with those characters written out.
pub(crate) fn visible(text: &str) -> String {
    let out = std::cell::RefCell::new(String::with_capacity(text.len()));
    each(text, |plain| out.borrow_mut().push_str(plain), |name, _| out.borrow_mut().push_str(name));
    out.into_inner()
}

/// What stands for a character that must be written out.
fn name(c: char) -> Option<String> {
    match c {
        '\n' | '\t' => None,
        '\0' => Some("⟨NUL⟩".to_owned()),
        '\r' => Some("⟨CR⟩".to_owned()),
        '\x1b' => Some("⟨ESC⟩".to_owned()),
        '\0'..='\x1f'
        | '\x7f'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{e0000}'..='\u{e007f}' => Some(format!("⟨U+{:04X}⟩", u32::from(c))),
        // No character at all; a page may not even hold some of them.
        _ if u32::from(c) & 0xfffe == 0xfffe => Some(format!("⟨U+{:04X}⟩", u32::from(c))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_turns_text_is_written_out() {
        assert_eq!(visible("a\0b\x1b[31m\r\nc\td"), "a⟨NUL⟩b⟨ESC⟩[31m⟨CR⟩\nc\td");
        assert_eq!(visible("x\u{202e}gpj.exe\u{2066}"), "x⟨U+202E⟩gpj.exe⟨U+2066⟩");
        assert_eq!(
            visible("\u{200b}\u{feff}\u{e0041}\u{fffe}\u{10ffff}"),
            "⟨U+200B⟩⟨U+FEFF⟩⟨U+E0041⟩⟨U+FFFE⟩⟨U+10FFFF⟩"
        );
        let fine = "naïve 日本 👩‍👩‍👧 می\u{200c}شود";
        assert_eq!(visible(fine), fine);
    }
}
