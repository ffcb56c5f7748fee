use std::io::{self, Read};

use proptest::prelude::*;

use super::{ScanError, scan_text};
use crate::{LineEndings, NotText, TextSlice, TextWindow};

/// Hands out `bytes` in pieces of `piece`.
struct Dripping<'a> {
    bytes: &'a [u8],
    piece: usize,
}

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.piece.min(buffer.len()).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(length);
        buffer[..length].copy_from_slice(now);
        self.bytes = later;
        Ok(length)
    }
}

fn scan(bytes: &[u8], window: TextWindow) -> Result<TextSlice, ScanError> {
    scan_text(&mut { bytes }, window)
}

fn texts(slice: &TextSlice) -> Vec<&str> {
    slice.lines.iter().map(|line| line.text.as_str()).collect()
}

#[track_caller]
fn lines(bytes: &[u8], window: TextWindow) -> TextSlice {
    scan(bytes, window).unwrap()
}

#[test]
fn lines_lose_their_ending_and_nothing_else() {
    let slice = lines("\u{feff}a\r\nb\n\nc\rd\r".as_bytes(), TextWindow::default());
    assert_eq!(texts(&slice), ["a", "b", "", "c\rd\r"]);
    assert_eq!((slice.total_lines, slice.next_line), (Some(4), None));
    assert_eq!(slice.endings, LineEndings { lf: 2, crlf: 1 });
    assert!(slice.byte_order_mark);
}

#[test]
fn an_empty_file_has_no_line() {
    let slice = lines(b"", TextWindow::default());
    assert_eq!((slice.lines.len(), slice.total_lines, slice.next_line), (0, Some(0), None));
}

#[test]
fn a_window_says_where_to_go_on() {
    let window = TextWindow { first_line: 2, max_lines: 2, ..TextWindow::default() };
    let slice = lines(b"1\n2\n3\n4\n", window);
    assert_eq!((texts(&slice), slice.next_line, slice.total_lines), (vec!["2", "3"], Some(4), None));
    // Exactly the rest: the end is known.
    let slice = lines(b"1\n2\n3\n", window);
    assert_eq!((slice.next_line, slice.total_lines), (None, Some(3)));
    let slice = lines(b"1\n", TextWindow::starting_at(9));
    assert_eq!((slice.lines.len(), slice.next_line, slice.total_lines), (0, None, Some(1)));
}

#[test]
fn a_long_line_is_cut_and_the_next_is_found() {
    let window = TextWindow { max_line_chars: 3, ..TextWindow::default() };
    let slice = lines("äöüß!\r\nabc\r\n".as_bytes(), window);
    assert_eq!(texts(&slice), ["äöü", "abc"]);
    assert_eq!(slice.lines.iter().map(|line| line.omitted_chars).collect::<Vec<_>>(), [2, 0]);
}

#[test]
fn the_byte_budget_ends_the_window_between_lines() {
    let window = TextWindow { max_bytes: 8, ..TextWindow::default() };
    let slice = lines(b"abc\ndef\nghi\n", window);
    assert_eq!((texts(&slice), slice.next_line), (vec!["abc", "def"], Some(3)));
    // A first line over the budget is cut instead: reading on always gets further.
    let slice = lines("aäääääääääh\nx\n".as_bytes(), TextWindow { max_bytes: 5, ..TextWindow::default() });
    assert_eq!((texts(&slice), slice.lines[0].omitted_chars, slice.next_line), (vec!["aä"], 9, Some(2)));
    let slice = lines("ää\n".as_bytes(), TextWindow { max_bytes: 1, ..TextWindow::default() });
    assert_eq!((texts(&slice), slice.lines[0].omitted_chars), (vec!["ä"], 1));
    let slice = lines(b"\n\n\n", TextWindow { max_bytes: 2, ..TextWindow::default() });
    assert_eq!((texts(&slice), slice.next_line), (vec!["", ""], Some(3)));
}

#[test]
fn binary_content_is_refused_with_its_place() {
    let refused = |bytes: &[u8]| match scan(bytes, TextWindow::default()) {
        Err(ScanError::NotText(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(b"ab\0"), NotText::Nul { offset: 2 });
    assert_eq!(refused(b"ab\xffcd"), NotText::InvalidUtf8 { offset: 2 });
    assert_eq!(refused(b"ab\xe2\x82"), NotText::InvalidUtf8 { offset: 2 });
    let mut late = "é".repeat(100_000).into_bytes();
    late.push(0xff);
    // The window ends long before.
    let window = TextWindow { max_lines: 1, ..TextWindow::default() };
    assert_eq!(refused(&late), NotText::InvalidUtf8 { offset: 200_000 });
    late.splice(3..3, *b"\xa9\n\xc3");
    assert!(scan(&late, window).is_ok());
}

#[test]
fn a_window_at_the_start_of_an_endless_stream_returns() {
    let slice = scan_text(&mut io::repeat(b'\n'), TextWindow::default()).unwrap();
    assert_eq!((slice.lines.len(), slice.next_line), (2_000, Some(2_001)));
}

proptest! {
    #[test]
    fn pieces_do_not_matter_and_lines_are_those_of_the_text(
        text in "(\u{feff})?([aä€😀\r]|\n|\r\n){0,40}", piece in 1_usize..9, first in 1_u64..6, max in 1_usize..6,
    ) {
        let window = TextWindow { first_line: first, max_lines: max, ..TextWindow::default() };
        let slice = scan_text(&mut Dripping { bytes: text.as_bytes(), piece }, window).unwrap();
        prop_assert_eq!(&slice, &lines(text.as_bytes(), window));
        let all: Vec<&str> = text.strip_prefix('\u{feff}').unwrap_or(&text).split_inclusive('\n')
            .map(|line| line.strip_suffix("\r\n").or(line.strip_suffix('\n')).unwrap_or(line)).collect();
        let shown: Vec<&str> = all.iter().skip(usize::try_from(first - 1).unwrap()).take(max).copied().collect();
        prop_assert_eq!(texts(&slice), shown);
        let end = usize::try_from(first).unwrap() - 1 + max;
        prop_assert_eq!(slice.next_line, (end < all.len()).then_some(end as u64 + 1));
        prop_assert_eq!(slice.total_lines, (end >= all.len()).then_some(all.len() as u64));
    }

    #[test]
    fn paging_by_next_line_shows_every_line_once(text in "([ab]{0,6}\n){0,30}", budget in 1_usize..12) {
        let (mut seen, mut next) = (Vec::new(), Some(1));
        while let Some(first) = next {
            let slice = lines(text.as_bytes(), TextWindow { first_line: first, max_bytes: budget, ..TextWindow::default() });
            prop_assert!(slice.next_line.is_none_or(|line| line > first));
            seen.extend(slice.lines.iter().map(|line| line.number));
            next = slice.next_line;
        }
        prop_assert_eq!(seen, (1..=text.lines().count() as u64).collect::<Vec<_>>());
    }
}
