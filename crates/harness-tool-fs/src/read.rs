//! The `read` tool.
use std::fmt::Write as _;
use std::sync::Arc;

use harness_fs::{FileSystem, FsError, Seen, TextWindow};
use harness_llm::Block;
use harness_tools::{Tool, ToolFailure, ToolRun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{SeenFile, failure, open, saw};

/// Most lines that one call may ask for.
const MAX_LINES: usize = 2_000;

/// Arguments of `read`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReadInput {
    /// Path, absolute or relative to the working folder
    pub file_path: String,
    /// First line, counted from 1
    #[serde(default)]
    pub offset: Option<u64>,
    /// Most lines (at most 2000)
    #[serde(default)]
    pub limit: Option<usize>,
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadLine {
    /// Its number, counted from 1.
    pub number: u64,
    /// Its text without the ending.
    pub text: String,
    /// How many characters at its end were left out.
    pub omitted_chars: u64,
}

/// Value of `read`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadOutput {
    /// The lines of the window.
    pub lines: Vec<ReadLine>,
    /// The line to go on at, if the file goes on.
    pub next_line: Option<u64>,
    /// How many lines the file has, if the end was reached.
    pub total_lines: Option<u64>,
    /// Size of the whole file in bytes.
    pub size: u64,
    /// Whether the lines seen end in CRLF.
    pub crlf: bool,
    pub(crate) file: SeenFile,
}

/// Reads a window of a text file.
pub struct Read(pub(crate) Arc<dyn FileSystem>);

impl Tool for Read {
    type Input = ReadInput;
    type Output = ReadOutput;
    const NAME: &'static str = "read";

    fn description(&self) -> String {
        "Read a text file. Lines come numbered, as `number<TAB>text`. Long files come in windows: go on with `offset`. \
         Read a file before you edit or replace it."
            .to_owned()
    }
    async fn run(&self, input: ReadInput, run: ToolRun) -> Result<ReadOutput, ToolFailure> {
        let access = open(&self.0, &run, &input.file_path).await?;
        access.may_read(run.ctx()).await.map_err(failure)?;
        let window = TextWindow {
            max_lines: input.limit.unwrap_or(MAX_LINES).clamp(1, MAX_LINES),
            ..TextWindow::starting_at(input.offset.unwrap_or(1).max(1))
        };
        let page = match self.0.read_text(access.path(), window).await {
            Ok(page) => page,
            Err(error) => {
                if matches!(error, FsError::NotFound { .. }) {
                    access.observed(run.ctx(), Seen::Absent);
                }
                return Err(failure(error));
            }
        };
        let file = saw(run.ctx(), &access, page.version);
        let crlf = page.slice.endings.only() == Some(harness_fs::LineEnding::CrLf);
        let lines = page.slice.lines.into_iter().map(|line| ReadLine {
            number: line.number,
            text: line.text,
            omitted_chars: line.omitted_chars,
        });
        Ok(ReadOutput {
            lines: lines.collect(),
            next_line: page.slice.next_line,
            total_lines: page.slice.total_lines,
            size: page.size,
            crlf,
            file,
        })
    }
    fn render(&self, output: &ReadOutput) -> Vec<Block> {
        let mut text = String::new();
        for line in &output.lines {
            // Writing to a string cannot fail.
            let _ = match line.omitted_chars {
                0 => writeln!(text, "{}\t{}", line.number, line.text),
                omitted => writeln!(text, "{}\t{}… ({omitted} characters left out)", line.number, line.text),
            };
        }
        let note = match (output.lines.is_empty(), output.next_line, output.total_lines) {
            (_, Some(next), _) => {
                Some(format!("the file goes on ({} bytes in all); go on with offset {next}", output.size))
            }
            (true, None, _) if output.size == 0 => Some("the file is empty".to_owned()),
            (true, None, Some(total)) => Some(format!("the file has only {total} lines")),
            _ => None,
        };
        let endings = output.crlf.then(|| "lines end in CRLF, which edits keep".to_owned());
        for note in note.into_iter().chain(endings) {
            let _ = writeln!(text, "({note})");
        }
        vec![Block::text(text)]
    }
    fn parallel(&self, _input: &ReadInput) -> bool {
        true
    }
    fn meta(&self, output: &ReadOutput) -> Option<serde_json::Value> {
        crate::resume::meta(&output.file, None)
    }
}
