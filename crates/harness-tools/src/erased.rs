//! The erased twin of a typed tool, and tools that come with a raw schema.
use std::sync::Arc;

use async_trait::async_trait;
use harness_llm::{Block, ToolSpec};
use serde::Deserialize;
use serde_json::Value;

use crate::call::ToolCall;
use crate::failure::{ToolFailure, ToolFailureCode};
use crate::run::ToolRun;
use crate::schema::ArgumentViolation;
use crate::tool::Tool;

/// What a body produced.
#[derive(Debug, Clone, PartialEq)]
pub struct Produced {
    /// The canonical value.
    pub value: Value,
    /// What the model is shown.
    pub content: Vec<Block>,
    /// Facts for displays.
    pub meta: Option<Value>,
    /// Whether the turn ends with this step.
    pub concludes_turn: bool,
}

/// A tool over JSON: what the registry holds. Implement [`Tool`] and use [`erase`], or implement this for tools
/// whose schema is only known at run time.
#[async_trait]
pub trait AnyTool: Send + Sync {
    /// What the model is told.
    fn spec(&self) -> ToolSpec;
    /// Checks arguments by the input type.
    fn check(&self, arguments: &Value) -> Result<(), ArgumentViolation>;
    /// Whether this call may run beside others.
    fn parallel(&self, arguments: &Value) -> bool;
    /// The body.
    async fn run(&self, arguments: &Value, run: ToolRun) -> Result<Produced, ToolFailure>;
    /// Validates a value that somebody else made and renders it.
    fn produce(&self, value: Value) -> Result<Produced, String>;
    /// The tool's last word on content.
    fn finalize_content(&self, call: &ToolCall, content: &[Block], is_error: bool) -> Option<Vec<Block>>;
}

/// Erases a typed tool.
pub fn erase<T: Tool>(tool: T) -> Arc<dyn AnyTool> {
    Arc::new(Erased(tool))
}

struct Erased<T>(T);

impl<T: Tool> Erased<T> {
    fn input(arguments: &Value) -> Result<T::Input, ArgumentViolation> {
        serde_path_to_error::deserialize(arguments).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { String::new() } else { path };
            ArgumentViolation { path, message: error.into_inner().to_string() }
        })
    }
    fn produced(&self, output: &T::Output) -> Result<Produced, serde_json::Error> {
        Ok(Produced {
            value: serde_json::to_value(output)?,
            content: self.0.render(output),
            meta: self.0.meta(output),
            concludes_turn: self.0.concludes_turn(output),
        })
    }
}

#[async_trait]
impl<T: Tool> AnyTool for Erased<T> {
    fn spec(&self) -> ToolSpec {
        let mut settings = schemars::generate::SchemaSettings::draft2020_12();
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        let mut parameters = settings.into_generator().into_root_schema_for::<T::Input>().to_value();
        if let Some(object) = parameters.as_object_mut() {
            // The name says it already; the model need not read it twice.
            object.shift_remove("title");
        }
        ToolSpec { name: T::NAME.to_owned(), description: self.0.description(), parameters }
    }
    fn check(&self, arguments: &Value) -> Result<(), ArgumentViolation> {
        Self::input(arguments).map(drop)
    }
    fn parallel(&self, arguments: &Value) -> bool {
        Self::input(arguments).is_ok_and(|input| self.0.parallel(&input))
    }
    async fn run(&self, arguments: &Value, run: ToolRun) -> Result<Produced, ToolFailure> {
        let input = Self::input(arguments)
            .map_err(|violation| ToolFailure::new(ToolFailureCode::INVALID_ARGS, violation.to_string()))?;
        let output = self.0.run(input, run).await?;
        self.produced(&output).map_err(|error| {
            let text = format!("the tool's value is not JSON: {error}");
            ToolFailure::new(ToolFailureCode::INVALID_TOOL_OUTPUT, text)
        })
    }
    fn produce(&self, value: Value) -> Result<Produced, String> {
        let output = T::Output::deserialize(&value).map_err(|error| error.to_string())?;
        self.produced(&output).map_err(|error| error.to_string())
    }
    fn finalize_content(&self, call: &ToolCall, content: &[Block], is_error: bool) -> Option<Vec<Block>> {
        self.0.finalize_content(call, content, is_error)
    }
}
