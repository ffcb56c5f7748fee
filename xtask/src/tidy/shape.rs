//! The shape of a Rust file: module docs, a thin `lib.rs`, nothing left unfinished, nothing left over.
use syn::spanned::Spanned;
use syn::{Item, Visibility};

use crate::finding::Finding;
use crate::source::{Role, SourceFile, doc_text, words};

/// Most lines of a `lib.rs`.
const LIB_LINES: usize = 60;
const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];

pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !file.in_src() {
        return findings;
    }
    let name = file.name();
    if file.role == Role::Orphan {
        findings.push(Finding::whole(&file.path, "no `mod` declares this file, so nothing compiles it"));
    }
    if file.role != Role::Test && !starts_with_doc(&file.syntax) {
        findings.push(Finding::at(
            &file.path,
            1,
            "the file does not start with a `//!` line that says what it is for",
        ));
    }
    if name == "lib.rs" {
        if file.lines > LIB_LINES {
            findings.push(Finding::at(
                &file.path,
                LIB_LINES + 1,
                format!("lib.rs has {} lines, at most {LIB_LINES}", file.lines),
            ));
        }
        for item in file.syntax.items.iter().filter(|item| !belongs_in_lib(item)) {
            let message = "lib.rs holds docs, `mod` and `pub use` only; move this to a module of its own";
            findings.push(Finding::at(&file.path, item.span().start().line, message));
        }
    }
    for word in words(&file.tokens) {
        if word.bang && UNFINISHED.contains(&word.text.as_str()) && !file.is_test_line(word.line) {
            findings.push(Finding::at(
                &file.path,
                word.line,
                format!("`{}!` is left in the source", word.text),
            ));
        }
    }
    findings
}

fn starts_with_doc(syntax: &syn::File) -> bool {
    let included = |attribute: &syn::Attribute| attribute.path().is_ident("doc");
    !doc_text(&syntax.attrs).is_empty() || syntax.attrs.iter().any(included)
}

fn belongs_in_lib(item: &Item) -> bool {
    match item {
        Item::Mod(module) => module.content.is_none(),
        Item::Use(item) => !matches!(item.vis, Visibility::Inherited),
        // `#[cfg(doctest)] struct ReadmeExamples;` carries the README's examples.
        Item::Struct(item) => item.attrs.iter().any(|attribute| {
            attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("doctest"))
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;

    #[track_caller]
    fn found(path: &str, role: Role, text: &str, expected: &[&str]) {
        assert_findings(&check(&SourceFile::parse(path, "a", role, text).unwrap()), expected);
    }

    #[test]
    fn a_good_file_has_no_findings() {
        let text = "//! A.\nmod b;\npub use b::B;\n#[cfg(doctest)]\nstruct ReadmeExamples;\n";
        found("crates/a/src/lib.rs", Role::Product, text, &[]);
        found(
            "crates/a/src/lib.rs",
            Role::Product,
            "#![doc = include_str!(\"../README.md\")]\nmod b;\n",
            &[],
        );
        found("crates/a/tests/b.rs", Role::Test, "fn a() { todo!() }\n", &[]);
    }

    #[test]
    fn a_module_without_docs_is_refused() {
        found(
            "crates/a/src/b.rs",
            Role::Product,
            "// not a doc\nfn a() {}\n",
            &["b.rs:1: the file does not start"],
        );
        found(
            "crates/a/src/b.rs",
            Role::Product,
            "#![deny(missing_docs)]\n",
            &["b.rs:1: the file does not start"],
        );
    }

    #[test]
    fn code_in_lib_is_refused() {
        let text = "//! A.\nmod b;\nfn helper() {}\nuse b::B;\nmod c { }\nstruct D;\n";
        found(
            "crates/a/src/lib.rs",
            Role::Product,
            text,
            &["lib.rs:3:", "lib.rs:4:", "lib.rs:5:", "lib.rs:6:"],
        );
        let long = format!("//! A.\n{}", "pub use b::B;\n".repeat(60));
        found("crates/a/src/lib.rs", Role::Product, &long, &["lib.rs:61: lib.rs has 61 lines"]);
    }

    #[test]
    fn unfinished_code_is_refused_outside_tests() {
        let text = "//! A.\nfn a() { vec![dbg!(1)]; }\nfn b() { todo!() }\n#[cfg(test)]\nmod tests { fn c() { unimplemented!() } }\n";
        found("crates/a/src/b.rs", Role::Product, text, &["b.rs:2: `dbg!`", "b.rs:3: `todo!`"]);
    }

    #[test]
    fn a_file_that_nothing_compiles_is_refused() {
        found("crates/a/src/old.rs", Role::Orphan, "//! A.\n", &["no `mod` declares this file"]);
    }
}
