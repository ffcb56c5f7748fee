//! The `bash` tool.
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use harness_bash::{BashExecutor, RunRequest, RunResult, SetupFiles};
use harness_llm::Block;
use harness_tools::{Tool, ToolFailure, ToolFailureCode, ToolRun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::render::render;

/// Arguments of `bash`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BashInput {
    /// The command line
    pub command: String,
    /// Time limit in milliseconds
    #[serde(default, rename = "timeoutMs")]
    pub timeout_ms: Option<u64>,
}

/// Value of `bash`: the facts of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BashOutput {
    /// The output as kept: beginning and end of a long one.
    pub output: String,
    /// Its true length in bytes.
    pub total_bytes: u64,
    /// Bytes that were left out.
    pub omitted_bytes: u64,
    /// Exit code, if the command ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it, if one did.
    pub signal: Option<i32>,
    /// The time limit that it ran into.
    pub timed_out_ms: Option<u64>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Whether processes that it left behind were ended.
    pub descendants_killed: bool,
    /// Whether processes that it left behind could not be ended.
    pub descendants_left: bool,
    /// File with the whole output, when some was left out.
    pub full_output: Option<PathBuf>,
    /// What is wrong with that file, if anything is.
    pub full_output_problem: Option<String>,
}

impl From<RunResult> for BashOutput {
    fn from(result: RunResult) -> Self {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let spill = result.output.spill;
        let problem = spill.as_ref().and_then(|spill| match (&spill.error, spill.complete) {
            (Some(error), _) => Some(error.clone()),
            (None, false) => Some(format!("only the first {} bytes were saved", spill.bytes)),
            (None, true) => None,
        });
        Self {
            output: result.output.text,
            total_bytes: result.output.total_bytes,
            omitted_bytes: result.output.omitted_bytes,
            exit_code: result.exit_code,
            signal: result.signal,
            timed_out_ms: result.timed_out.then(|| millis(result.timeout)),
            duration_ms: millis(result.duration),
            descendants_killed: result.descendants_killed,
            descendants_left: result.descendants_left,
            full_output: spill.and_then(|spill| spill.path),
            full_output_problem: problem,
        }
    }
}

/// Runs a command line in a fresh shell.
pub struct Bash(pub(crate) Arc<dyn BashExecutor>);

impl Tool for Bash {
    type Input = BashInput;
    type Output = BashOutput;
    const NAME: &'static str = "bash";

    fn description(&self) -> String {
        let info = self.0.describe();
        format!(
            "Run a command line with {} in the working folder; stdout and stderr come back together, with the exit code \
             if it is not 0. There is no terminal and no input. Time limit {} s unless `timeoutMs` says otherwise (at \
             most {} s). Processes left in the background are ended. Long output is shortened in the middle and saved \
             to a file.",
            info.shell,
            info.default_timeout.as_secs(),
            info.max_timeout.as_secs()
        )
    }
    async fn run(&self, input: BashInput, run: ToolRun) -> Result<BashOutput, ToolFailure> {
        let mut request = RunRequest::new(input.command, run.cwd());
        if let Some(timeout) = input.timeout_ms {
            request = request.timeout(Duration::from_millis(timeout));
        }
        for setup in run.ctx().state_chain::<SetupFiles>() {
            request = setup.apply(request);
        }
        let result = self.0.run(request, run.cancel_token().clone()).await.map_err(|error| {
            let source =
                std::error::Error::source(&error).map_or_else(String::new, |source| format!(": {source}"));
            ToolFailure::new(ToolFailureCode::other(error.code()), format!("{error}{source}"))
        })?;
        let cancelled = result.cancelled;
        let output = BashOutput::from(result);
        let failure = match output.timed_out_ms {
            _ if cancelled => ToolFailure::new(ToolFailureCode::ABORTED, "cancelled; the command was ended"),
            Some(limit) => {
                let text = format!("the command timed out after {limit} ms and was ended");
                ToolFailure::new(ToolFailureCode::TOOL_TIMEOUT, text)
            }
            None => return Ok(output),
        };
        // What it said until then is what the model needs to see.
        let mut failure = failure.showing(vec![Block::text(render(&output, cancelled))]);
        failure.meta = self.meta(&output).map(Box::new);
        Err(failure)
    }
    fn render(&self, output: &BashOutput) -> Vec<Block> {
        vec![Block::text(render(output, false))]
    }
    fn meta(&self, output: &BashOutput) -> Option<serde_json::Value> {
        Some(serde_json::json!({
            "exit_code": output.exit_code,
            "signal": output.signal,
            "duration_ms": output.duration_ms,
            "total_bytes": output.total_bytes,
            "full_output": output.full_output,
        }))
    }
}
