//! Whether streamed text adds up to a whole JSON object yet.

/// Follows the nesting of a JSON text without keeping it.
#[derive(Debug, Default)]
pub(super) struct ObjectScanner {
    depth: u32,
    is_string: bool,
    is_escaped: bool,
    is_complete: bool,
}

impl ObjectScanner {
    pub(super) fn feed(&mut self, piece: &str) {
        for byte in piece.bytes() {
            if self.is_escaped {
                self.is_escaped = false;
                continue;
            }
            match (byte, self.is_string) {
                (b'\\', true) => self.is_escaped = true,
                (b'"', _) => self.is_string = !self.is_string,
                (b'{' | b'[', false) => self.depth += 1,
                (b'}' | b']', false) => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_complete |= self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// True once the outermost object has closed.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_bracket_decides() {
        for (text, complete) in [
            ("", false),
            ("{", false),
            ("{}", true),
            (r#"{"a":{}"#, false),
            (r#"{"a":{}}"#, true),
            (r#"{"a":"}"#, false),
            (r#"{"a":"\"}"#, false),
            (r#"{"a":"\\"}"#, true),
            ("[1]", true),
        ] {
            for cut in 0..=text.len() {
                let mut scanner = ObjectScanner::default();
                scanner.feed(&text[..cut]);
                scanner.feed(&text[cut..]);
                assert_eq!(scanner.is_complete(), complete, "{text} cut at {cut}");
            }
        }
    }
}
