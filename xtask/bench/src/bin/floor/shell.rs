//! One command, run to its end.
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

#[derive(Deserialize)]
struct Arguments {
    command: String,
}

/// Runs the command of a tool call and gives what it printed.
pub(crate) fn run(arguments: &str) -> Result<String> {
    let arguments: Arguments =
        serde_json::from_str(arguments).context("the model's arguments are not as expected")?;
    let output = Command::new("bash").args(["-c", &arguments.command]).stdin(Stdio::null()).output();
    let output = output.context("bash could not be started")?;
    Ok(format!(
        "{}{}exit code {}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        output.status.code().unwrap_or(-1)
    ))
}
