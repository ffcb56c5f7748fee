//! What only the composed harness knows: its tools as a model sees them, and its configuration keys.
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::cargo;
use crate::workspace::Workspace;

/// The program that composes the default harness and prints [`Booted`] as JSON.
///
/// An example and not a program of its own, so that the builds of the test run already contain it.
const EXAMPLE: &str = "crates/harness-bundle/examples/catalog.rs";
/// Its pages; kept when it was not asked.
pub(super) const PAGES: &[&str] = &["tools.md", "config.md"];

/// The composed harness.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Booted {
    /// The default tools, in the order in which a model is told of them.
    pub(super) tools: Vec<Tool>,
    /// JSON Schema of the whole configuration file.
    pub(super) config: Value,
}

/// One tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    /// Name that a model calls.
    pub(crate) name: String,
    /// What a model is told.
    pub(crate) description: String,
    /// JSON Schema of the arguments.
    pub(crate) parameters: Value,
}
impl Tool {
    /// What it takes of each request, in bytes of compact JSON.
    pub(crate) fn bytes(&self) -> usize {
        serde_json::json!({
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        })
        .to_string()
        .len()
    }
}

/// Composes the harness and asks it; `None` while harness-bundle composes nothing.
pub(super) fn ask(workspace: &Workspace) -> Result<Option<Booted>> {
    if !workspace.files.iter().any(|path| path == EXAMPLE) {
        println!("skipped: {EXAMPLE} is not there yet, so {} are not looked at", PAGES.join(" and "));
        return Ok(None);
    }
    // `--workspace` takes the features of the test run: nothing is built twice.
    let mut build = cargo::cargo(&workspace.root);
    build.args([
        "build",
        "--quiet",
        "--workspace",
        "--example",
        "catalog",
        "--message-format",
        "json-render-diagnostics",
    ]);
    let messages = cargo::output(&mut build)?;
    let program =
        executable(&messages).with_context(|| format!("cargo did not say where it built {EXAMPLE}"))?;
    let printed = cargo::output(std::process::Command::new(program).current_dir(&workspace.root))?;
    Ok(Some(
        serde_json::from_str(&printed).with_context(|| format!("{EXAMPLE} printed something unexpected"))?,
    ))
}

fn executable(messages: &str) -> Option<String> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "catalog" && message["target"]["kind"][0] == "example")
        .find_map(|message| message["executable"].as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_what_cargo_says() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"harness\",\"kind\":[\"lib\"]},\"executable\":null}\n\
            {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"catalog\",\"kind\":[\"example\"]},\"executable\":\"/x/catalog\"}\n";
        assert_eq!(executable(messages).as_deref(), Some("/x/catalog"));
        assert_eq!(executable("not json\n"), None);
    }

    #[test]
    fn an_unexpected_answer_is_refused() {
        assert!(serde_json::from_str::<Booted>(r#"{"tools":[],"config":{},"more":1}"#).is_err());
    }
}
