//! What only the composed harness knows: its tools as a model sees them, and its configuration keys.
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::cargo;
use crate::workspace::Workspace;

/// The program that composes the default harness and prints [`Booted`] as JSON.
const EXAMPLE: &str = "xtask/examples/booted";

/// The composed harness.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Booted {
    /// The default tools, in the order in which a model is told of them.
    pub(super) tools: Vec<Tool>,
    /// Tables of the configuration file.
    pub(super) sections: Vec<Section>,
    /// What plugins provide.
    pub(super) services: Vec<Provided>,
    /// What plugins listen to.
    pub(super) listeners: Vec<Listening>,
}

/// A table of the configuration file.
#[derive(Debug, Deserialize)]
pub(super) struct Section {
    /// Its name.
    pub(super) name: String,
    /// JSON Schema of its keys.
    pub(super) schema: Value,
}

/// A service with its provider.
#[derive(Debug, Deserialize)]
pub(super) struct Provided {
    /// The service.
    pub(super) name: String,
    /// The plugin; `None` for the app itself.
    pub(super) plugin: Option<String>,
}

/// An event with one of its listeners.
#[derive(Debug, Deserialize)]
pub(super) struct Listening {
    /// The event.
    pub(super) event: String,
    /// The plugin; `None` for the app itself.
    pub(super) plugin: Option<String>,
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

/// Composes the harness and asks it.
pub(super) fn ask(workspace: &Workspace) -> Result<Booted> {
    // `--workspace` takes the features of the test run: nothing is built twice.
    let mut build = cargo::cargo(&workspace.root);
    build.args([
        "build",
        "--quiet",
        "--workspace",
        "--example",
        "booted",
        "--message-format",
        "json-render-diagnostics",
    ]);
    let messages = cargo::output(&mut build)?;
    let program =
        executable(&messages).with_context(|| format!("cargo did not say where it built {EXAMPLE}"))?;
    let printed = cargo::output(std::process::Command::new(program).current_dir(&workspace.root))?;
    serde_json::from_str(&printed).with_context(|| format!("{EXAMPLE} printed something unexpected"))
}

fn executable(messages: &str) -> Option<String> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "booted" && message["target"]["kind"][0] == "example")
        .find_map(|message| message["executable"].as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_what_cargo_says() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"harness\",\"kind\":[\"lib\"]},\"executable\":null}\n\
            {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"booted\",\"kind\":[\"example\"]},\"executable\":\"/x/booted\"}\n";
        assert_eq!(executable(messages).as_deref(), Some("/x/booted"));
        assert_eq!(executable("not json\n"), None);
    }

    #[test]
    fn an_unexpected_answer_is_refused() {
        assert!(
            serde_json::from_str::<Booted>(
                r#"{"tools":[],"sections":[],"services":[],"listeners":[],"more":1}"#
            )
            .is_err()
        );
    }
}
