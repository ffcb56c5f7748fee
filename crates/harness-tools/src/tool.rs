//! A tool as its author writes it.
use harness_llm::Block;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::ToolCall;
use crate::failure::ToolFailure;
use crate::run::ToolRun;

/// A tool with typed input and output.
///
/// ```
/// use harness_llm::Block;
/// use harness_tools::{Tool, ToolFailure, ToolRun};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Input { /** Text to repeat. */ text: String }
/// struct Echo;
/// impl Tool for Echo {
///     type Input = Input;
///     type Output = String;
///     const NAME: &'static str = "echo";
///     fn description(&self) -> String { "Repeats a text.".into() }
///     async fn run(&self, input: Input, _run: ToolRun) -> Result<String, ToolFailure> { Ok(input.text) }
///     fn render(&self, output: &String) -> Vec<Block> { vec![Block::text(output)] }
/// }
/// ```
pub trait Tool: Send + Sync + 'static {
    /// Arguments. Its JSON Schema is what the model is told.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// Canonical value: what programs read. The model sees what [`Tool::render`] makes of it.
    type Output: Serialize + DeserializeOwned + Send + 'static;
    /// Name the model calls it by: letters, digits, `_` and `-`, at most 64.
    const NAME: &'static str;

    /// What it does, for the model.
    fn description(&self) -> String;
    /// The body. When the run's token is cancelled, stop soon and return; the body is always awaited.
    fn run(
        &self,
        input: Self::Input,
        run: ToolRun,
    ) -> impl Future<Output = Result<Self::Output, ToolFailure>> + Send;
    /// What the model is shown of a value.
    fn render(&self, output: &Self::Output) -> Vec<Block>;

    /// Whether this call may run beside others: true only for calls without side effects.
    fn parallel(&self, input: &Self::Input) -> bool {
        let _ = input;
        false
    }
    /// Facts for displays, never shown to the model.
    fn meta(&self, output: &Self::Output) -> Option<serde_json::Value> {
        let _ = output;
        None
    }
    /// Whether a success ends the turn.
    fn concludes_turn(&self, output: &Self::Output) -> bool {
        let _ = output;
        false
    }
    /// The tool's last word on content only; called exactly once for every outcome, denials included.
    fn finalize_content(&self, call: &ToolCall, content: &[Block], is_error: bool) -> Option<Vec<Block>> {
        let _ = (call, content, is_error);
        None
    }
}
