//! `cargo xtask test`: everything that must hold, cheapest first, with the time that each part took.
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cargo::{cargo, has_subcommand, run as run_command};
use crate::workspace::Workspace;
use crate::{catalog, tidy};

type Part<'a> = (&'static str, Box<dyn Fn() -> Result<()> + 'a>);

/// Runs the parts until one fails.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let cargo_part = |words: &'static [&'static str]| move || run_command(cargo(&workspace.root).args(words));
    let parts: Vec<Part<'_>> = vec![
        ("format", Box::new(cargo_part(&["fmt", "--all", "--check"]))),
        ("tidy", Box::new(|| tidy::run(workspace))),
        ("lints", Box::new(cargo_part(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))),
        ("tests", Box::new(|| tests(workspace))),
        ("doc tests", Box::new(cargo_part(&["test", "--workspace", "--doc"]))),
        ("catalog", Box::new(|| catalog::check(workspace))),
    ];
    let mut times = Vec::new();
    let outcome = parts.iter().try_for_each(|(name, part)| {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = part().with_context(|| format!("{name} failed"));
        times.push((*name, start.elapsed(), outcome.is_ok()));
        outcome
    });
    print!("\n{}", summary(&times, parts.len()));
    outcome
}

fn tests(workspace: &Workspace) -> Result<()> {
    if has_subcommand(&workspace.root, "nextest") {
        return run_command(cargo(&workspace.root).args(["nextest", "run", "--workspace"]));
    }
    println!("cargo-nextest is not installed: `cargo test` runs the same tests, one binary at a time");
    run_command(cargo(&workspace.root).args([
        "test",
        "--workspace",
        "--lib",
        "--bins",
        "--tests",
        "--examples",
    ]))
}

fn summary(times: &[(&str, Duration, bool)], parts: usize) -> String {
    let mut text = String::from("== time\n");
    for (name, time, passed) in times {
        let verdict = if *passed { "" } else { "  FAILED" };
        let _ = writeln!(text, "{name:<10} {:>7.1} s{verdict}", time.as_secs_f64());
    }
    if times.len() < parts {
        let _ = writeln!(text, "not run: {} part(s) after the failure", parts - times.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_the_failure_and_what_was_not_run() {
        let times =
            [("format", Duration::from_millis(1500), true), ("tidy", Duration::from_millis(40), false)];
        let expected = "== time\nformat         1.5 s\ntidy           0.0 s  FAILED\nnot run: 4 part(s) after the failure\n";
        assert_eq!(summary(&times, 6), expected);
    }
}
