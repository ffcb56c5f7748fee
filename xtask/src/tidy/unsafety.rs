//! Where `unsafe` is allowed, by file.
use crate::finding::Finding;
use crate::source::{SourceFile, words};

/// Files that may relax `unsafe_code`, each with what needs it.
const UNSAFE_FILES: &[(&str, &str)] = &[
    ("crates/harness-process/src/spawn/fork.rs", "setsid, between fork and exec"),
    (
        "crates/harness-process/src/spawn/linux.rs",
        "setsid and the parent-death signal, between vfork and exec",
    ),
];

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    against(UNSAFE_FILES, files)
}

fn against(listed: &[(&str, &str)], files: &[SourceFile]) -> Vec<Finding> {
    const LIST: &str = "xtask/src/tidy/unsafety.rs";
    let mut findings = Vec::new();
    for file in files {
        let word =
            words(&file.tokens).into_iter().find(|word| word.text == "unsafe" || word.text == "unsafe_code");
        let allowed = listed.iter().any(|(path, _)| *path == file.path);
        match word {
            Some(word) if !allowed => findings.push(Finding::at(
                &file.path,
                word.line,
                format!("`{}` outside of the files that {LIST} names", word.text),
            )),
            None if allowed => {
                findings.push(Finding::whole(
                    &file.path,
                    format!("has no `unsafe` any more; take it off the list in {LIST}"),
                ));
            }
            _ => {}
        }
    }
    for (path, _) in listed {
        if !files.iter().any(|file| file.path == *path) {
            findings.push(Finding::whole(LIST, format!("lists {path}, which does not exist")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;
    use crate::source::Role;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile::parse(path, "a", Role::Product, text).unwrap()
    }

    #[test]
    fn unsafe_code_is_allowed_by_name_only() {
        let files = [
            file("crates/a/src/listed.rs", "fn a() { unsafe { b() } }"),
            file("crates/a/src/other.rs", "// unsafe in a comment\nfn a() { unsafe { b() } }"),
            file("crates/a/src/relaxed.rs", "#![expect(unsafe_code, reason = \"c\")]"),
            file("crates/a/src/clean.rs", "fn a() {}"),
        ];
        let listed =
            [("crates/a/src/listed.rs", ""), ("crates/a/src/clean.rs", ""), ("crates/a/src/gone.rs", "")];
        assert_findings(
            &against(&listed, &files),
            &[
                "other.rs:2: `unsafe` outside",
                "relaxed.rs:1: `unsafe_code` outside",
                "clean.rs: has no `unsafe` any more",
                "lists crates/a/src/gone.rs, which does not exist",
            ],
        );
    }
}
