//! Small rooms: how long files and whole packages may be.
use crate::finding::Finding;
use crate::source::{Role, SourceFile};

/// Most lines of any Rust file, tests included.
const FILE_LINES: usize = 600;
/// Most lines that half of the product's files may have.
const MEDIAN_LINES: usize = 150;
/// Most lines of code of a package without its tests, comments and blank lines. See docs/decisions/0005.
const PACKAGE_LINES: &[(&str, usize)] = &[("harness-kernel", 1100), ("harness-agent-loop", 700)];

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings: Vec<_> = files
        .iter()
        .filter(|file| file.lines > FILE_LINES)
        .map(|file| {
            Finding::at(
                &file.path,
                FILE_LINES + 1,
                format!("{} lines; a file has at most {FILE_LINES}: split it by concept", file.lines),
            )
        })
        .collect();
    for (package, limit) in PACKAGE_LINES {
        let lines: usize =
            files.iter().filter(|file| file.package == *package).map(SourceFile::product_lines).sum();
        if lines > *limit {
            findings.push(Finding::whole(
                format!("crates/{package}/src"),
                format!("{lines} lines of code without tests; at most {limit}, so that it can be read in one sitting"),
            ));
        }
    }
    findings.extend(median(files));
    findings
}

fn median(files: &[SourceFile]) -> Option<Finding> {
    let mut sizes: Vec<_> = files
        .iter()
        .filter(|file| file.path.starts_with("crates/") && file.in_src() && file.role != Role::Orphan)
        .map(|file| file.lines)
        .collect();
    sizes.sort_unstable();
    let middle = sizes.get(sizes.len() / 2).copied()?;
    let message =
        format!("the middle source file has {middle} lines, at most {MEDIAN_LINES}: split the largest");
    (middle > MEDIAN_LINES).then(|| Finding::whole("crates", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;

    fn file(path: &str, package: &str, lines: usize) -> SourceFile {
        SourceFile::parse(path, package, Role::Product, &"fn a() {}\n".repeat(lines)).unwrap()
    }

    #[test]
    fn a_long_file_is_refused_wherever_it_is() {
        let files = [file("tests/cases/a.rs", "", 601), file("tests/cases/b.rs", "", 600)];
        assert_findings(&check(&files), &["tests/cases/a.rs:601: 601 lines"]);
    }

    #[test]
    fn the_median_is_bounded() {
        let files = [10, 151, 152].map(|lines| file(&format!("crates/a/src/f{lines}.rs"), "a", lines));
        assert_findings(&check(&files), &["the middle source file has 151 lines"]);
        let files = [10, 150, 500].map(|lines| file(&format!("crates/a/src/f{lines}.rs"), "a", lines));
        assert_findings(&check(&files), &[]);
    }

    #[test]
    fn the_kernel_and_the_loop_are_bounded_without_tests() {
        let path = |number: usize| format!("crates/harness-kernel/src/f{number}.rs");
        let mut files: Vec<_> = (0..11).map(|number| file(&path(number), "harness-kernel", 100)).collect();
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "fn a() {}\n".repeat(90));
        files.push(SourceFile::parse(&path(11), "harness-kernel", Role::Product, &tests).unwrap());
        assert_findings(&check(&files), &[]);
        files.push(file(&path(12), "harness-kernel", 1));
        assert_findings(&check(&files), &["1101 lines of code without tests"]);
    }
}
