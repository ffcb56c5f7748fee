//! What every library says about itself.
use crate::finding::Finding;
use crate::workspace::Member;

const LIMITATIONS: &str = "## Known limitations";

pub(super) fn check(member: &Member, readme: Option<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if member.description.trim().is_empty() || member.description.trim().eq_ignore_ascii_case("todo") {
        findings
            .push(Finding::whole(member.manifest(), "`description` does not say what the package is for"));
    }
    let path = format!("{}/README.md", member.folder);
    let Some(readme) = readme else {
        findings.push(Finding::whole(path, "is missing: what it is for, an example, its known limitations"));
        return findings;
    };
    match readme.lines().position(|line| line.trim_end() == LIMITATIONS) {
        None => findings.push(Finding::whole(path, format!("has no section `{LIMITATIONS}`"))),
        Some(at) => {
            let section = readme.lines().skip(at + 1).take_while(|line| !line.starts_with("## "));
            if section.filter(|line| !line.trim().is_empty()).count() == 0 {
                findings.push(Finding::at(
                    path,
                    at + 1,
                    format!("`{LIMITATIONS}` is empty; write what it does not do"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;

    fn member(description: &str) -> Member {
        Member {
            name: "a".into(),
            folder: "crates/a".into(),
            description: description.into(),
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn a_package_must_describe_itself() {
        let good = "# a\n\n## Known limitations\n\n- None known to matter.\n";
        assert_findings(&check(&member("A thing"), Some(good)), &[]);
        assert_findings(&check(&member("TODO"), Some(good)), &["`description` does not say"]);
        assert_findings(&check(&member("A thing"), None), &["README.md: is missing"]);
        assert_findings(&check(&member("A thing"), Some("# a\n")), &["has no section"]);
        let empty = "# a\n## Known limitations\n\n## More\ntext\n";
        assert_findings(
            &check(&member("A thing"), Some(empty)),
            &["README.md:2: `## Known limitations` is empty"],
        );
    }
}
