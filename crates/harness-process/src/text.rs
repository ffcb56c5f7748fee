//! Shows kept bytes as text: never cut inside a character, always with the exact number of missing bytes.

use crate::collector::Kept;

impl Kept {
    /// The kept bytes as text.
    ///
    /// Where bytes are missing, one line of its own says how many: `[... 1234 of 99999 bytes omitted ...]`.
    /// A character that the cut fell into is left out whole and counted as omitted; bytes that are not UTF-8
    /// become U+FFFD.
    pub fn text(&self) -> String {
        if !self.truncated() {
            let mut whole = self.head.clone();
            whole.extend_from_slice(&self.tail);
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let head = &self.head[..complete_prefix(&self.head)];
        let tail = &self.tail[broken_prefix(&self.tail)..];
        let omitted = self.total_bytes - (head.len() + tail.len()) as u64;
        let head = String::from_utf8_lossy(head);
        let line_break = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        let total = self.total_bytes;
        format!(
            "{head}{line_break}[... {omitted} of {total} bytes omitted ...]\n{}",
            String::from_utf8_lossy(tail)
        )
    }
}

/// Length without a character that the end cuts off (RFC 3629: at most four bytes a character).
fn complete_prefix(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let needed = match bytes[bytes.len() - back] {
            0b1100_0000..=0b1101_1111 => 2,
            0b1110_0000..=0b1110_1111 => 3,
            0b1111_0000..=0b1111_0111 => 4,
            0b1000_0000..=0b1011_1111 => continue,
            _ => 1,
        };
        return if needed > back { bytes.len() - back } else { bytes.len() };
    }
    bytes.len()
}

/// Number of continuation bytes at the start: the rest of a character that the cut fell into.
fn broken_prefix(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| (0b1000_0000..=0b1011_1111).contains(*byte)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Collector, OutputLimits};

    fn text(limits: OutputLimits, bytes: &[u8]) -> String {
        let mut collector = Collector::new(limits);
        collector.push(bytes);
        collector.finish().text()
    }

    #[test]
    fn a_character_across_head_and_tail_stays_whole_when_nothing_is_missing() {
        assert_eq!(text(OutputLimits { head_bytes: 2, tail_bytes: 4 }, "aé€".as_bytes()), "aé€");
    }

    #[test]
    fn cut_characters_are_left_out_and_counted() {
        // `é` is two bytes: the head ends inside the second one, the tail starts inside another.
        let limits = OutputLimits { head_bytes: 3, tail_bytes: 3 };
        assert_eq!(text(limits, "éééééé".as_bytes()), "é\n[... 8 of 12 bytes omitted ...]\né");
    }

    #[test]
    fn the_marker_has_a_line_of_its_own() {
        let limits = OutputLimits { head_bytes: 3, tail_bytes: 2 };
        assert_eq!(text(limits, b"ab\ncdefgh"), "ab\n[... 4 of 9 bytes omitted ...]\ngh");
        assert_eq!(
            text(OutputLimits { head_bytes: 0, tail_bytes: 2 }, b"abcd"),
            "[... 2 of 4 bytes omitted ...]\ncd"
        );
    }

    #[test]
    fn invalid_bytes_are_replaced() {
        assert_eq!(text(OutputLimits::default(), b"a\xffb"), "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn valid_text_stays_free_of_replacement_characters(
            input in "[a-zé€😀\n]{0,200}", head_bytes in 0usize..40, tail_bytes in 0usize..40,
        ) {
            let rendered = text(OutputLimits { head_bytes, tail_bytes }, input.as_bytes());
            prop_assert!(!rendered.contains('\u{fffd}'), "{rendered:?}");
        }

        #[test]
        fn the_marker_tells_the_exact_number_of_missing_bytes(
            input in "[a-zé€😀]{30,200}", head_bytes in 0usize..40, tail_bytes in 0usize..20,
        ) {
            let rendered = text(OutputLimits { head_bytes, tail_bytes }, input.as_bytes());
            if let Some((head, rest)) = rendered.split_once("[... ") {
                let (counts, tail) = rest.split_once(" bytes omitted ...]\n").unwrap();
                let (omitted, total) = counts.split_once(" of ").unwrap();
                let (omitted, total): (usize, usize) = (omitted.parse().unwrap(), total.parse().unwrap());
                prop_assert_eq!(total, input.len());
                prop_assert_eq!(head.trim_end_matches('\n').len() + omitted + tail.len(), total);
            } else {
                prop_assert_eq!(rendered, input);
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..200), head_bytes in 0usize..40, tail_bytes in 0usize..40,
        ) {
            text(OutputLimits { head_bytes, tail_bytes }, &bytes);
        }
    }
}
