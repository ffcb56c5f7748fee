//! JSON with comments and commas before closing brackets, as opencode reads it.

/// The same text as plain JSON: what is too much becomes blanks, so that every position stays.
pub(crate) fn plain(text: &str) -> String {
    let mut out: Vec<char> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    // Where a comma stands that nothing has followed yet.
    let mut comma = None;
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('"', _) => {
                comma = None;
                out.push(c);
                while let Some(inner) = chars.next() {
                    out.push(inner);
                    match inner {
                        '\\' => out.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => {
                out.push(' ');
                while let Some(inner) = chars.next_if(|inner| *inner != '\n') {
                    out.extend(blank(inner));
                }
            }
            ('/', Some('*')) => {
                out.extend([' ', ' ']);
                chars.next();
                let mut last = ' ';
                for inner in chars.by_ref() {
                    out.extend(blank(inner));
                    if (last, inner) == ('*', '/') {
                        break;
                    }
                    last = inner;
                }
            }
            (',', _) => {
                comma = Some(out.len());
                out.push(c);
            }
            (']' | '}', _) => {
                if let Some(at) = comma.take() {
                    out[at] = ' ';
                }
                out.push(c);
            }
            (c, _) => {
                if !c.is_whitespace() {
                    comma = None;
                }
                out.push(c);
            }
        }
    }
    out.into_iter().collect()
}

/// As many blanks as the character has bytes, which is how columns are counted.
fn blank(c: char) -> impl Iterator<Item = char> {
    std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8())
}
