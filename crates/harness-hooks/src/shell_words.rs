//! Takes a shell command line apart into the simple commands that it runs, as far as rules need it.

/// What a command line runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Script {
    /// Simple commands without leading assignments, blanks squeezed.
    pub(crate) commands: Vec<String>,
    /// Whether something is only known when it runs: `$(…)`, backticks, `$NAME`.
    pub(crate) dynamic: bool,
}

impl Script {
    /// Takes a line apart; `None` when quotes or brackets do not close.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut script = Self::default();
        script.read(text, 0)?;
        Some(script)
    }

    fn read(&mut self, text: &str, depth: usize) -> Option<()> {
        if depth > 16 {
            return None;
        }
        let (mut current, mut chars) = (String::new(), text.char_indices().peekable());
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    current.push(c);
                    current.extend(chars.next().map(|(_, c)| c));
                }
                '\'' => {
                    current.push(c);
                    loop {
                        let (_, c) = chars.next()?;
                        current.push(c);
                        if c == '\'' {
                            break;
                        }
                    }
                }
                '"' => {
                    let end = close_double(&text[at + 1..])? + at + 1;
                    let inner = &text[at + 1..end];
                    self.substitutions(inner, depth)?;
                    current.push_str(&text[at..=end]);
                    while chars.next_if(|(next, _)| *next <= end).is_some() {}
                }
                '$' | '`' => {
                    let length = self.substitution(&text[at..], depth)?;
                    current.push_str(&text[at..at + length]);
                    while chars.next_if(|(next, _)| *next < at + length).is_some() {}
                }
                '>' | '<' if chars.next_if(|(_, next)| *next == '&').is_some() => current.extend([c, '&']),
                '&' if chars.next_if(|(_, next)| *next == '>').is_some() => current.push_str("&>"),
                ';' | '|' | '&' | '\n' | '(' | ')' => self.push(&std::mem::take(&mut current)),
                c => current.push(c),
            }
        }
        self.push(&current);
        Some(())
    }

    /// All substitutions within a double-quoted text.
    fn substitutions(&mut self, text: &str, depth: usize) -> Option<()> {
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            at += match c {
                '\\' => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
                '$' | '`' => self.substitution(&text[at..], depth)?,
                c => c.len_utf8(),
            };
        }
        Some(())
    }

    /// One substitution at the start of `text`; its length in bytes.
    fn substitution(&mut self, text: &str, depth: usize) -> Option<usize> {
        if let Some(rest) = text.strip_prefix('`') {
            let end = rest.find('`')?;
            self.dynamic = true;
            self.read(&rest[..end], depth + 1)?;
            return Some(end + 2);
        }
        if let Some(rest) = text.strip_prefix("$(") {
            let end = close_round(rest)?;
            self.dynamic = true;
            self.read(&rest[..end], depth + 1)?;
            return Some(end + 3);
        }
        self.dynamic |= text[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "_{".contains(c));
        Some(1)
    }

    fn push(&mut self, text: &str) {
        let mut words = text.split_whitespace().peekable();
        while words.next_if(|word| is_assignment(word)).is_some() {}
        let command = words.collect::<Vec<_>>().join(" ");
        if !command.is_empty() {
            self.commands.push(command);
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn close_double(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let c = text[at..].chars().next()?;
        match c {
            '"' => return Some(at),
            '\\' => at += 1 + text[at + 1..].chars().next()?.len_utf8(),
            '$' if text[at..].starts_with("$(") => at += close_round(&text[at + 2..])? + 3,
            c => at += c.len_utf8(),
        }
    }
}

fn close_round(text: &str) -> Option<usize> {
    let (mut at, mut open) = (0, 1);
    loop {
        let c = text[at..].chars().next()?;
        match c {
            '(' => open += 1,
            ')' => {
                open -= 1;
                if open == 0 {
                    return Some(at);
                }
            }
            '\\' => at += text[at + 1..].chars().next()?.len_utf8(),
            '\'' => at += text[at + 1..].find('\'')? + 1,
            '"' => at += close_double(&text[at + 1..])? + 1,
            _ => {}
        }
        at += c.len_utf8();
    }
}

/// Whether a text fits a pattern in which `*` stands for anything.
pub(crate) fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}
