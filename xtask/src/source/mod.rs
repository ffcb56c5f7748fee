//! Parsed Rust files, and what part each plays.
mod attributes;
mod modules;
mod tokens;

use std::ops::RangeInclusive;

use anyhow::{Context, Result, anyhow};
use proc_macro2::TokenStream;
use syn::spanned::Spanned;

pub(crate) use attributes::{doc_text, is_test_only, requires_feature};
pub(crate) use modules::load;
pub(crate) use tokens::words;

/// How a file is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Part of a library or program.
    Product,
    /// Behind the feature `contract`: a suite that implementations run.
    Contract,
    /// Only in tests, examples or benchmarks.
    Test,
    /// Below `src` without being part of any target.
    Orphan,
}

/// One Rust file.
pub(crate) struct SourceFile {
    /// Relative to the workspace root.
    pub(crate) path: String,
    /// The package that it belongs to; empty outside of packages.
    pub(crate) package: String,
    /// How it is compiled.
    pub(crate) role: Role,
    /// Number of lines.
    pub(crate) lines: usize,
    /// The parsed file.
    pub(crate) syntax: syn::File,
    /// Its tokens, comments left out.
    pub(crate) tokens: TokenStream,
    test_lines: Vec<RangeInclusive<usize>>,
    code_lines: Vec<bool>,
}

impl SourceFile {
    /// Parses a file.
    pub(crate) fn parse(path: &str, package: &str, role: Role, text: &str) -> Result<Self> {
        let tokens: TokenStream = text.parse().map_err(|error| anyhow!("{path}: {error}"))?;
        let syntax = syn::parse_file(text).with_context(|| format!("{path} is not Rust"))?;
        let mut test_lines = Vec::new();
        collect_test_lines(&syntax.items, &mut test_lines);
        Ok(Self {
            path: path.to_owned(),
            package: package.to_owned(),
            role,
            lines: text.lines().count(),
            syntax,
            tokens,
            test_lines,
            code_lines: text.lines().map(is_code).collect(),
        })
    }
    /// Whether it is below a `src` folder.
    pub(crate) fn in_src(&self) -> bool {
        self.path.split('/').any(|part| part == "src")
    }
    /// The last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
    /// Whether the line is compiled only for tests.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.role == Role::Test || self.test_lines.iter().any(|range| range.contains(&line))
    }
    /// Lines of code that are not only for tests: blank lines and comments cost a reader nothing.
    pub(crate) fn product_lines(&self) -> usize {
        if self.role == Role::Product {
            (1..=self.lines).filter(|line| self.is_code_line(*line) && !self.is_test_line(*line)).count()
        } else {
            0
        }
    }
    fn is_code_line(&self, line: usize) -> bool {
        self.code_lines.get(line - 1).copied().unwrap_or(false)
    }
}

/// Whether a line holds more than white space and a comment. Block comments are not used in this workspace.
fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

fn collect_test_lines(items: &[syn::Item], ranges: &mut Vec<RangeInclusive<usize>>) {
    for item in items {
        let span = item.span();
        if is_test_only(attributes::of_item(item)) {
            ranges.push(span.start().line..=span.end().line);
        } else if let syn::Item::Mod(syn::ItemMod { content: Some((_, inner)), .. }) = item {
            collect_test_lines(inner, ranges);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_are_not_product_lines() {
        let text = "//! A\nfn a() {}\n\n/// Tests.\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let file = SourceFile::parse("src/a.rs", "p", Role::Product, text).unwrap();
        assert_eq!((file.lines, file.product_lines()), (9, 2));
        assert!(file.is_test_line(7) && !file.is_test_line(9));
    }

    #[test]
    fn a_file_that_is_not_rust_is_named() {
        let error = SourceFile::parse("src/a.rs", "p", Role::Product, "fn (").err().unwrap();
        assert!(format!("{error:#}").contains("src/a.rs"));
    }
}
