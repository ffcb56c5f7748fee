//! What hooks cost a tool call that they do not match.
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::options::Options;
use crate::stats::median;
use crate::table::{Limit, Row};

/// Runs the measuring example of the bridge: the tool pipeline with and without hooks.
pub(super) fn not_matching(options: &Options) -> Result<Vec<Row>> {
    let program = options.binaries.join("examples").join("overhead");
    let mut extra = Vec::new();
    for _ in 0..options.long_runs(3) {
        let output = Command::new(&program)
            .arg("--bare")
            .output()
            .with_context(|| format!("{} could not be started", program.display()))?;
        ensure!(output.status.success(), "{} failed: {}", program.display(), output.status);
        let text = String::from_utf8_lossy(&output.stdout);
        extra.push(text.trim().parse().with_context(|| format!("`{}` is no number", text.trim()))?);
    }
    Ok(vec![Row {
        figure: "tool call, hooks that do not match".into(),
        ours: median(&extra),
        floor: None,
        unit: "us",
        limit: Limit::AtMost(50.0),
    }])
}
