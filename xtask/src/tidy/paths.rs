//! Folders of the machine that somebody happened to work on.
use crate::finding::Finding;

/// Starts of absolute paths that mean nothing on another machine. Split, so that this file has none.
const FOLDERS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/Use", "rs/"), concat!("/tmp/tar", "get")];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(folder) = FOLDERS.iter().find(|folder| has_absolute(line, folder)) {
            findings.push(Finding::at(
                path,
                index + 1,
                format!("names `{folder}…`, a folder of one machine"),
            ));
        }
    }
    findings
}

/// Whether the folder occurs at the start of a path, not in the middle of one.
fn has_absolute(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || "_-./}~$*>)".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;

    #[test]
    fn absolute_paths_of_a_machine_are_refused() {
        let text =
            format!("ok\nsee {0}main/a.rs\npath = \"{0}b\"\nuser/{0}c\n$HOME{0}d\n", concat!("/wo", "rk/"));
        assert_findings(&check("docs/a.md", &text), &["docs/a.md:2: names", "docs/a.md:3: names"]);
    }
}
