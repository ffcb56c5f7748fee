//! The `edit` tool.
use std::fmt::Write as _;
use std::sync::Arc;

use harness_fs::{EditRequest, FileSystem};
use harness_llm::Block;
use harness_tools::{Tool, ToolFailure, ToolRun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{SeenFile, failure, open, saw};

/// Most lines of changes that the model is shown.
const SHOWN_LINES: usize = 40;

/// Arguments of `edit`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EditInput {
    /// Path, absolute or relative to the working folder
    pub file_path: String,
    /// The exact text to replace, without line numbers; it must occur once
    pub old_string: String,
    /// The text to put there
    pub new_string: String,
    /// Replace every occurrence
    #[serde(default)]
    pub replace_all: bool,
}

/// Value of `edit`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EditOutput {
    /// The path as asked for.
    pub path: String,
    /// How many occurrences were replaced.
    pub replacements: usize,
    /// Lines at which the first of them start.
    pub lines: Vec<u64>,
    /// The changes in the notation of `diff -u`.
    pub diff: String,
    pub(crate) file: SeenFile,
}

/// Replaces text in a file.
pub struct Edit(pub(crate) Arc<dyn FileSystem>);

impl Tool for Edit {
    type Input = EditInput;
    type Output = EditOutput;
    const NAME: &'static str = "edit";

    fn description(&self) -> String {
        "Replace text in a file that has been read. `old_string` must match exactly, white space included, and occur \
         once: add surrounding lines to make it unique, or set `replace_all`. Line endings are matched as LF and kept \
         as they are in the file."
            .to_owned()
    }
    async fn run(&self, input: EditInput, run: ToolRun) -> Result<EditOutput, ToolFailure> {
        let access = open(&self.0, &run, &input.file_path).await?;
        let guard = access.may_edit(run.ctx()).await.map_err(failure)?;
        let request = EditRequest::new(access.path().clone(), input.old_string, input.new_string)
            .replacing_all(input.replace_all)
            .expecting(guard);
        let edited = self.0.edit_text(request).await.map_err(failure)?;
        let file = saw(run.ctx(), &access, edited.version);
        let mut diff: String = edited.changes.hunks.iter().map(ToString::to_string).collect();
        if edited.changes.hunks_truncated {
            diff.push_str("… (more changes)\n");
        }
        Ok(EditOutput {
            path: input.file_path,
            replacements: edited.changes.replacements,
            lines: edited.changes.lines,
            diff,
            file,
        })
    }
    fn render(&self, output: &EditOutput) -> Vec<Block> {
        let times = match output.replacements {
            1 => "1 replacement".to_owned(),
            n => format!("{n} replacements"),
        };
        let mut text = format!("edited {}: {times}\n", output.path);
        for line in output.diff.lines().take(SHOWN_LINES) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        }
        let more = output.diff.lines().count().saturating_sub(SHOWN_LINES);
        if more > 0 {
            let _ = writeln!(text, "… ({more} more lines of changes)");
        }
        vec![Block::text(text)]
    }
    fn meta(&self, output: &EditOutput) -> Option<serde_json::Value> {
        crate::resume::meta(&output.file, Some(&output.diff))
    }
}
