//! The one bound on what any tool shows the model.
use harness_llm::Block;

/// Smallest cap, so that beginning, end and the line between them have room.
const LEAST: usize = 1024;

/// The most text that one tool result shows, in bytes. The last step of the pipeline keeps every result within it,
/// whatever the tool, its `finalize_content` or a listener made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultCap(usize);

impl Default for ResultCap {
    /// 128 KiB: more than the tools of the default bundle show by their own, smaller limits.
    fn default() -> Self {
        Self(128 * 1024)
    }
}

impl ResultCap {
    /// A cap of so many bytes, at least 1024.
    pub fn bytes(bytes: usize) -> Self {
        Self(bytes.max(LEAST))
    }
    /// Takes out the middle of text that is too long; `None` if everything fits. Where the cap must cut several
    /// blocks, the ones in front keep more.
    pub(crate) fn apply(self, content: &[Block]) -> Option<Vec<Block>> {
        let total: usize = content.iter().filter_map(Block::as_text).map(str::len).sum();
        if total <= self.0 {
            return None;
        }
        let mut left = self.0;
        let mut kept = Vec::with_capacity(content.len());
        for block in content {
            let Some(text) = block.as_text() else {
                kept.push(block.clone());
                continue;
            };
            if left == 0 {
                continue;
            }
            let room = left.min(text.len());
            left -= room;
            kept.push(if room == text.len() {
                block.clone()
            } else {
                Block::text(middle_out(text, room, total))
            });
        }
        Some(kept)
    }
}

/// Two thirds of the room for the beginning, one for the end, and a line that says what is missing.
fn middle_out(text: &str, room: usize, total: usize) -> String {
    let line = |gone: usize| {
        format!(
            "\n[… {gone} bytes were left out here; the whole result has {total} bytes. Ask for less at a time …]\n"
        )
    };
    let text_room = room.saturating_sub(line(text.len()).len());
    let head = text.floor_char_boundary(text_room / 3 * 2);
    let tail = text.ceil_char_boundary(text.len() - (text_room - text_room / 3 * 2));
    format!("{}{}{}", &text[..head], line(tail - head), &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(content: &[Block]) -> usize {
        content.iter().filter_map(Block::as_text).map(str::len).sum()
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(ResultCap::bytes(2000).apply(&[Block::text("a".repeat(2000))]), None);
        assert_eq!(ResultCap::default().apply(&[]), None);
    }
    #[test]
    fn the_cap_holds_for_all_blocks_together_and_characters_stay_whole() {
        for bytes in 1024..1100 {
            let content =
                [Block::text("é".repeat(300)), Block::text("日本".repeat(4000)), Block::text("x".repeat(9))];
            let kept = ResultCap::bytes(bytes).apply(&content).unwrap();
            assert!(size(&kept) <= bytes, "{} of {bytes}", size(&kept));
            assert_eq!(kept[0], content[0]);
            let text = kept[1].as_text().unwrap();
            assert!(text.starts_with('日') && text.contains("the whole result has 24609 bytes"), "{text}");
        }
    }
    #[test]
    fn beginning_and_end_are_shown() {
        let text = format!("HEAD{}TAIL", "x".repeat(100_000));
        let kept = ResultCap::bytes(1).apply(&[Block::text(text)]).unwrap();
        let text = kept[0].as_text().unwrap();
        assert!(text.starts_with("HEAD") && text.ends_with("TAIL") && text.len() <= 1024);
    }
}
