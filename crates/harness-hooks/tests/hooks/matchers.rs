//! K2: which subjects a matcher fits.
use harness_hooks::{Matcher, MatcherStyle};

fn fits(matcher: &str, subject: &str) -> bool {
    Matcher::parse(Some(matcher), MatcherStyle::Claude).unwrap().matches(&[subject])
}

#[test]
fn k02_names_lists_and_expressions() {
    let yes = [
        ("Bash", "Bash"),
        ("Edit|Write", "Write"),
        ("Edit, Write", "Write"),
        ("code-reviewer", "code-reviewer"),
        ("^Notebook", "NotebookEdit"),
        ("Edit.*", "NotebookEdit"),
        ("mcp__memory__.*", "mcp__memory__read"),
        ("*", "anything"),
        ("", "anything"),
        ("Write(?!Only)", "Write"),
        (r"^(\w)\1", "aab"),
        ("[[]x", "[x"),
    ];
    let no = [
        ("Bash", "BashOutput"),
        ("bash", "Bash"),
        ("Edit|Write", "NotebookEdit"),
        ("code-reviewer", "code-reviewers"),
        ("^Notebook", "MyNotebook"),
        ("mcp__memory", "mcp__memory__read"),
        ("Write(?!Only)", "WriteOnly"),
    ];
    for (matcher, subject) in yes {
        assert!(fits(matcher, subject), "{matcher} should fit {subject}");
    }
    for (matcher, subject) in no {
        assert!(!fits(matcher, subject), "{matcher} should not fit {subject}");
    }
}

#[test]
fn k02_one_of_several_names_is_enough_and_no_subject_fits_all() {
    let legacy = Matcher::parse(Some("Task"), MatcherStyle::Claude).unwrap();
    assert!(legacy.matches(&["Agent", "Task", "subagent"]));
    assert!(legacy.matches(&[]));
}

#[test]
fn k02_an_expression_that_does_not_compile_is_told() {
    let error = Matcher::parse(Some("Edit("), MatcherStyle::Claude).unwrap_err();
    assert!(error.to_string().contains("`Edit(` is not a regular expression"), "{error}");
}

#[test]
fn the_other_styles() {
    let parse = |style, text| Matcher::parse(Some(text), style).unwrap();
    assert!(!parse(MatcherStyle::Literal, "Edit.*").matches(&["Edited"]));
    assert!(parse(MatcherStyle::Literal, "a.b|c").matches(&["a.b"]));
    assert!(parse(MatcherStyle::Regex, "Bash").matches(&["BashOutput"]));
    assert!(parse(MatcherStyle::ClaudeNarrow, "a-b").matches(&["xa-bx"]), "a hyphen makes it an expression");
}
