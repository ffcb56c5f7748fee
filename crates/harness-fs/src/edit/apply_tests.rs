use proptest::prelude::*;

use super::apply_edit;
use crate::{EditRefusal, NearMiss};

#[track_caller]
fn check(source: &str, old: &str, new: &str, expected: &str) {
    assert_eq!(apply_edit(source, old, new, false).unwrap().text, expected);
}

#[track_caller]
fn refused(source: &str, old: &str, new: &str) -> EditRefusal {
    apply_edit(source, old, new, false).unwrap_err()
}

#[test]
fn crlf_files_stay_crlf() {
    check("one\r\ntwo\r\nthree\r\n", "one\ntwo", "ONE\nTWO\nextra", "ONE\r\nTWO\r\nextra\r\nthree\r\n");
    check("one\r\ntwo\r\n", "one\r\ntwo", "one\r\n1.5\r\ntwo", "one\r\n1.5\r\ntwo\r\n");
    check("one\r\ntwo", "two", "two\nthree\n", "one\r\ntwo\r\nthree\r\n");
    check("one\r\ntwo\r\n", "one\n", "", "two\r\n");
}

#[test]
fn lf_files_stay_lf_even_if_the_edit_speaks_crlf() {
    check("one\ntwo\n", "one\r\ntwo", "ONE\r\nTWO", "ONE\nTWO\n");
}

#[test]
fn mixed_files_keep_each_line() {
    // Aligned endings; the unchanged tail keeps its own.
    check("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "A\nB\nC\nd", "A\r\nB\nC\r\nd\n");
    check("a\r\nb\nc\n", "a\nb\nc", "a\nb\nc2", "a\r\nb\nc2\n");
    // Inserted lines take the ending before them in the occurrence, else the next, else that of their own line.
    check("a\r\nb\nc\n", "a\nb", "a\nnew\nb", "a\r\nnew\r\nb\nc\n");
    check("a\nb\r\nc\n", "b\nc", "new\nb\nc", "a\nnew\r\nb\r\nc\n");
    check("a\nb\r\nc\n", "b", "b\nnew", "a\nb\r\nnew\r\nc\n");
    // Without a line ending of its own: the more frequent one.
    check("a\r\nb\r\nc\nd", "d", "d\ne", "a\r\nb\r\nc\nd\r\ne");
}

#[test]
fn a_text_of_one_line_takes_the_ending_of_the_edit() {
    check("a", "a", "a\r\nb", "a\r\nb");
    check("a", "a", "a\nb", "a\nb");
}

#[test]
fn the_byte_order_mark_stays_in_front() {
    check("\u{feff}one\r\n", "one", "zero\none", "\u{feff}zero\r\none\r\n");
    check("\u{feff}a", "a", "", "\u{feff}");
    assert_eq!(refused("\u{feff}one", "\u{feff}one", "two"), EditRefusal::NoMatch { near: None });
}

#[test]
fn lone_carriage_returns_are_text() {
    check("a\rb\r\n", "a\rb", "a\rc", "a\rc\r\n");
    check("x\r\r\ny\r\n", "y", "z", "x\r\r\nz\r\n");
}

#[test]
fn an_ambiguous_match_gives_count_and_lines() {
    let source = "def dev():\n    debug = True\n\ndef prod():\n    debug = True\n";
    let refusal = refused(source, "    debug = True", "    debug = False");
    assert_eq!(refusal, EditRefusal::AmbiguousMatch { count: 2, lines: vec![2, 5] });
    assert!(refusal.to_string().contains("2 times, at lines 2, 5;"), "{refusal}");
    let edited = apply_edit(source, "    debug = True", "    debug = False", true).unwrap();
    assert_eq!(edited.text, source.replace("True", "False"));
    assert_eq!((edited.changes.replacements, edited.changes.lines), (2, vec![2, 5]));
}

#[test]
fn overlapping_occurrences_are_ambiguous() {
    assert_eq!(refused("aaa", "aa", "b"), EditRefusal::AmbiguousMatch { count: 2, lines: vec![1, 1] });
    assert_eq!(
        refused("éé\néé\néé", "éé\néé", "b"),
        EditRefusal::AmbiguousMatch { count: 2, lines: vec![1, 2] }
    );
}

#[test]
fn many_occurrences_are_counted_but_not_all_listed() {
    let EditRefusal::AmbiguousMatch { count, lines } = refused(&"x\n".repeat(50), "x", "y") else { panic!() };
    assert_eq!((count, lines), (50, (1..=10).collect()));
    assert!(refused(&"x\n".repeat(50), "x", "y").to_string().contains("9, 10, …;"));
}

#[test]
fn empty_equal_and_absent_are_told_apart() {
    assert_eq!(refused("a", "", "b"), EditRefusal::EmptyOldString);
    assert_eq!(refused("a", "", ""), EditRefusal::EmptyOldString);
    assert_eq!(refused("a", "a", "a"), EditRefusal::NoChange);
    assert_eq!(refused("a\r\nb", "a\r\nb", "a\nb"), EditRefusal::NoChange);
    assert_eq!(refused("a", "b", "c"), EditRefusal::NoMatch { near: None });
    let near = Some(NearMiss::Whitespace { line: 2 });
    assert_eq!(refused("a\n\tb\n", "    b", "c"), EditRefusal::NoMatch { near });
}

#[test]
fn lines_are_those_of_the_edited_text() {
    let edited = apply_edit("x\na\nx\na\n", "x\n", "1\n2\n3\n", true).unwrap();
    assert_eq!(edited.changes.lines, [1, 5]);
    let edited = apply_edit("x\n\n\na\nx\n\n\na\n", "x\n\n\n", "y\n", true).unwrap();
    assert_eq!(edited.changes.lines, [1, 3]);
}

/// The edit the slow way: no trimming, no offsets; the text as a list of characters in which a CRLF is one.
fn naive(source: &str, old: &str, new: &str) -> (Vec<String>, Vec<usize>) {
    fn units(text: &str) -> Vec<String> {
        let mut units: Vec<String> = Vec::new();
        for character in text.chars() {
            match units.last_mut() {
                Some(last) if last == "\r" && character == '\n' => last.push('\n'),
                _ => units.push(character.into()),
            }
        }
        units
    }
    fn same(left: &[String], right: &[String]) -> bool {
        let plain = |unit: &String| if unit == "\r\n" { "\n".to_owned() } else { unit.clone() };
        left.len() == right.len() && left.iter().map(plain).eq(right.iter().map(plain))
    }
    let (source, old, new) = (units(source), units(old), units(new));
    let (mut result, mut untouched, mut at) = (Vec::new(), Vec::new(), 0);
    while at < source.len() {
        if source.len() - at >= old.len() && same(&source[at..at + old.len()], &old) {
            result.extend(new.iter().cloned());
            at += old.len();
        } else {
            untouched.push(result.len());
            result.push(source[at].clone());
            at += 1;
        }
    }
    (result, untouched)
}

fn units(text: &str) -> Vec<String> {
    naive(text, "\u{1}", "").0
}

const TEXT: &str = "(\u{feff})?([abé]|\n|\r\n){0,30}";
const PIECE: &str = "([abé]|\n|\r\n){1,4}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn it_agrees_with_the_naive_edit_and_touches_nothing_else(source in TEXT, old in PIECE, new in "([abé]|\n|\r\n){0,6}") {
        let (expected, untouched) = naive(&source, &old, &new);
        match apply_edit(&source, &old, &new, true) {
            Ok(edited) => {
                let actual = units(&edited.text);
                let plain = |units: &[String]| units.concat().replace("\r\n", "\n");
                prop_assert_eq!(plain(&actual), plain(&expected));
                for at in untouched {
                    prop_assert_eq!(&actual[at], &expected[at]);
                }
            }
            Err(EditRefusal::NoChange) => prop_assert_eq!(old.replace('\r', ""), new.replace('\r', "")),
            Err(EditRefusal::NoMatch { .. }) => prop_assert_eq!(expected.concat(), source),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn uniform_endings_stay_uniform(source in "[ab\n]{1,30}", old in PIECE, new in PIECE, crlf: bool) {
        let ending = if crlf { "\r\n" } else { "\n" };
        let source = source.replace('\n', ending);
        prop_assume!(source.contains('\n'));
        if let Ok(edited) = apply_edit(&source, &old, &new, true) {
            prop_assert_eq!(&edited.text.replace("\r\n", "\n").replace('\n', ending), &edited.text);
        }
    }

    #[test]
    fn one_occurrence_is_edited_alike_with_and_without_all(source in TEXT, old in PIECE, new in PIECE) {
        let all = apply_edit(&source, &old, &new, true);
        match apply_edit(&source, &old, &new, false) {
            Err(EditRefusal::AmbiguousMatch { count, lines }) => {
                prop_assert_eq!(count.min(10), lines.len());
                prop_assert!(all.unwrap().changes.replacements <= count);
            }
            one => prop_assert_eq!(one, all),
        }
    }

    #[test]
    fn undoing_an_edit_restores_the_bytes_of_uniform_text(source in "[ab\n]{0,30}", old in "[ab\n]{1,4}") {
        if let Ok(edited) = apply_edit(&source, &old, "<mark>", true) {
            prop_assert_eq!(apply_edit(&edited.text, "<mark>", &old, true).unwrap().text, source);
        }
    }

    #[test]
    fn hunks_turn_the_old_lines_into_the_new(source in "([ab]{0,2}\n){0,40}", old in "[ab\n]{1,3}", new in "[ab\n]{0,3}") {
        if let Ok(edited) = apply_edit(&source, &old, &new, true) {
            prop_assert_eq!(replay(&source, &edited.changes.hunks), edited.text.lines().map(String::from).collect::<Vec<_>>());
        }
    }
}

/// Applies hunks to the lines of a text, checking what they say of the old ones.
fn replay(source: &str, hunks: &[crate::Hunk]) -> Vec<String> {
    use crate::DiffLine::{Added, Context, Removed};
    let old: Vec<&str> = source.lines().collect();
    let (mut result, mut at) = (Vec::new(), 0);
    for hunk in hunks {
        let start = usize::try_from(hunk.old_start).unwrap() - 1;
        result.extend(old[at..start].iter().map(ToString::to_string));
        at = start;
        assert_eq!(result.len() as u64, hunk.new_start - 1);
        for line in &hunk.lines {
            match line {
                Added(text) => result.push(text.clone()),
                Context(text) | Removed(text) => {
                    assert_eq!(old[at], text);
                    at += 1;
                    if matches!(line, Context(_)) {
                        result.push(text.clone());
                    }
                }
            }
        }
        assert_eq!((at - start) as u64, hunk.old_lines);
        assert_eq!(result.len() as u64, hunk.new_start - 1 + hunk.new_lines);
    }
    result.extend(old[at..].iter().map(ToString::to_string));
    result
}
