//! Names that say nothing.
use crate::finding::Finding;

const EMPTY_WORDS: &[&str] = &["util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"];

pub(super) fn check(path: &str) -> Vec<Finding> {
    let ours = ["crates/", "apps/", "xtask/", "tests/"].iter().any(|start| path.starts_with(start));
    if !ours || path.rsplit('.').next() != Some("rs") {
        return Vec::new();
    }
    let words = path.trim_end_matches(".rs").split(['/', '_', '-', '.']);
    let empty = words.filter(|word| EMPTY_WORDS.contains(word));
    empty
        .map(|word| Finding::whole(path, format!("`{word}` says nothing: name the file after its concept")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;

    #[test]
    fn empty_names_are_refused() {
        assert_findings(&check("crates/a/src/string_utils.rs"), &["`utils` says nothing"]);
        assert_findings(&check("tests/common/mod.rs"), &["`common` says nothing"]);
        assert_findings(&check("crates/harness-manager/src/lib.rs"), &["`manager` says nothing"]);
        assert_findings(&check("crates/a/src/commonality.rs"), &[]);
        assert_findings(&check("docs/common.md"), &[]);
    }
}
