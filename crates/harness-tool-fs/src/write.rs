//! The `write` tool.
use std::sync::Arc;

use harness_fs::{FileSystem, Format, WriteRequest};
use harness_llm::Block;
use harness_tools::{Tool, ToolFailure, ToolRun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{SeenFile, failure, open, saw};

/// Arguments of `write`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WriteInput {
    /// Path, absolute or relative to the working folder
    pub file_path: String,
    /// The whole new content
    pub content: String,
}

/// Value of `write`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteOutput {
    /// The path as asked for.
    pub path: String,
    /// Whether the file is new.
    pub created: bool,
    /// Bytes written.
    pub size: u64,
    /// Whether line endings or byte order mark of the old file were kept.
    pub format_kept: bool,
    pub(crate) file: SeenFile,
}

/// Writes a whole file.
pub struct Write(pub(crate) Arc<dyn FileSystem>);

impl Tool for Write {
    type Input = WriteInput;
    type Output = WriteOutput;
    const NAME: &'static str = "write";

    fn description(&self) -> String {
        "Create a file or replace its whole content; missing folders are made. An existing file must have been read \
         first. To change a part of a file, use `edit`."
            .to_owned()
    }
    async fn run(&self, input: WriteInput, run: ToolRun) -> Result<WriteOutput, ToolFailure> {
        let access = open(&self.0, &run, &input.file_path).await?;
        let precondition = access.may_write(run.ctx()).await.map_err(failure)?;
        let request = WriteRequest::new(access.path().clone(), input.content)
            .with_precondition(precondition)
            .with_format(Format::Keep);
        let written = self.0.write_text(request).await.map_err(failure)?;
        let file = saw(run.ctx(), &access, written.version);
        Ok(WriteOutput {
            path: input.file_path,
            created: written.created,
            size: written.size,
            format_kept: written.format_kept,
            file,
        })
    }
    fn render(&self, output: &WriteOutput) -> Vec<Block> {
        let did = if output.created { "created" } else { "replaced" };
        let kept = if output.format_kept { "; its line endings and byte order mark were kept" } else { "" };
        vec![Block::text(format!("{did} {} ({} bytes{kept})", output.path, output.size))]
    }
    fn meta(&self, output: &WriteOutput) -> Option<serde_json::Value> {
        crate::resume::meta(&output.file, None)
    }
}
