//! Every relaxed lint says why.
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Meta, Token};

use crate::finding::Finding;
use crate::source::SourceFile;

pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    let mut visitor = Relaxed { file, findings: Vec::new() };
    visitor.visit_file(&file.syntax);
    visitor.findings
}

struct Relaxed<'a> {
    file: &'a SourceFile,
    findings: Vec<Finding>,
}
impl<'ast> Visit<'ast> for Relaxed<'_> {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let path = attribute.path();
        if !(path.is_ident("allow") || path.is_ident("expect")) {
            return;
        }
        let reasoned = attribute
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|arguments| arguments.iter().any(|argument| argument.path().is_ident("reason")));
        if !reasoned {
            let message = "a relaxed lint needs a reason: `#[expect(lint, reason = \"…\")]`";
            self.findings.push(Finding::at(&self.file.path, attribute.span().start().line, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;
    use crate::source::Role;

    #[test]
    fn a_relaxed_lint_without_a_reason_is_refused() {
        let text = "#![allow(missing_docs)]\n#[expect(dead_code, reason = \"later\")]\nfn a() {\n    #[expect(unused)]\n    let b = 1;\n}\n";
        let file = SourceFile::parse("tests/a.rs", "", Role::Test, text).unwrap();
        assert_findings(&check(&file), &["tests/a.rs:1: a relaxed lint", "tests/a.rs:4: a relaxed lint"]);
    }
}
