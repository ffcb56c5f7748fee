use crate::apply_edit;

#[track_caller]
fn shown(source: &str, old: &str, new: &str) -> String {
    let changes = apply_edit(source, old, new, true).unwrap().changes;
    changes.hunks.iter().map(ToString::to_string).collect()
}

fn numbers(count: u32) -> String {
    (1..=count).flat_map(|number| [number.to_string(), "\n".to_owned()]).collect()
}

#[test]
fn a_change_stands_in_three_lines_of_context() {
    assert_eq!(shown(&numbers(20), "10", "ten"), "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n");
}

#[test]
fn unchanged_lines_of_the_occurrence_are_context() {
    assert_eq!(shown("a\nb\nc\n", "a\nb\nc", "a\nB\nc"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    assert_eq!(shown("a\r\nc\r\n", "a\nc", "a\nb\nc"), "@@ -1,2 +1,3 @@\n a\n+b\n c\n");
}

#[test]
fn near_changes_share_a_hunk_and_far_ones_shift() {
    let source = numbers(30).replace("\n5\n", "\nx\n").replace("12\n", "x\n").replace("29\n", "x\n");
    let text = shown(&source, "x\n", "y\nz\n");
    let headers: Vec<_> = text.lines().filter(|line| line.starts_with("@@")).collect();
    assert_eq!(headers, ["@@ -2,14 +2,16 @@", "@@ -26,5 +28,6 @@"]);
}

#[test]
fn several_changes_of_one_line_are_one_change() {
    assert_eq!(shown("a x x b\n", "x", "yy"), "@@ -1,1 +1,1 @@\n-a x x b\n+a yy yy b\n");
}

#[test]
fn the_ends_of_a_file_are_shown() {
    assert_eq!(shown("a\nb", "b", "b\nc"), "@@ -1,2 +1,3 @@\n a\n-b\n+b\n+c\n");
    assert_eq!(shown("a\n", "a\n", ""), "@@ -1,1 +0,0 @@\n-a\n");
    assert_eq!(shown("a\nb\n", "b\n", ""), "@@ -1,2 +1,1 @@\n a\n-b\n");
}

#[test]
fn much_change_is_cut_and_says_so() {
    let changes = apply_edit(&numbers(5_000), "\n", "!\n", true).unwrap().changes;
    let lines: usize = changes.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    assert_eq!((changes.replacements, lines, changes.hunks_truncated), (5_000, 400, true));
    let changes = apply_edit("a\n", "a", &"b\n".repeat(1_000), false).unwrap().changes;
    assert_eq!(
        (changes.hunks[0].lines.len(), changes.hunks[0].new_lines, changes.hunks_truncated),
        (400, 1_001, true)
    );
    let changes = apply_edit("a\n", "a", &"b".repeat(1_000), false).unwrap().changes;
    assert_eq!(
        changes.hunks[0].to_string().chars().count(),
        "@@ -1,1 +1,1 @@\n-a\n+…\n".chars().count() + 500
    );
}
