//! Tools without bodies: the record has their results.
use std::sync::Arc;

use async_trait::async_trait;
use harness_llm::{Block, ToolSpec};
use harness_tools::{AnyTool, ArgumentViolation, Produced, ToolCall, ToolFailure, ToolFailureCode, ToolRun};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::CallRecord;
use crate::script::Script;

/// The beginning of what the pipeline says of arguments that do not fit.
const INVALID: &str = "invalid arguments: ";

/// A tool by its recorded description.
pub(crate) struct RecordedTool {
    pub(crate) spec: ToolSpec,
    pub(crate) script: Arc<Script>,
}

/// A recorded success, as the value of a call.
#[derive(Serialize, Deserialize)]
pub(crate) struct Success {
    pub(crate) content: Vec<Block>,
    pub(crate) meta: Option<Value>,
}

impl RecordedTool {
    fn calls(&self, arguments: &Value) -> impl Iterator<Item = &CallRecord> {
        let same = |call: &&CallRecord| {
            let ran = call.started.as_ref().map_or(&call.asked.arguments, |started| &started.arguments);
            let equal =
                |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value == *arguments);
            call.asked.name == self.spec.name && (equal(ran) || equal(&call.asked.arguments))
        };
        let step = self.script.step().into_iter();
        step.flat_map(|step| &step.calls).filter(same).collect::<Vec<_>>().into_iter()
    }
}

#[async_trait]
impl AnyTool for RecordedTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }
    /// The schema was checked before: what it cannot say, the record does.
    fn check(&self, arguments: &Value) -> Result<(), ArgumentViolation> {
        let refused = self.calls(arguments).find_map(|call| {
            let (_, result) = call.result.as_ref().filter(|_| call.started.is_none())?;
            result.error.as_ref()?.message.strip_prefix(INVALID)
        });
        match refused {
            Some(message) => Err(ArgumentViolation { path: String::new(), message: message.to_owned() }),
            None => Ok(()),
        }
    }
    fn parallel(&self, arguments: &Value) -> bool {
        self.calls(arguments).any(|call| call.overlapped)
    }
    async fn run(&self, _: &Value, _: ToolRun) -> Result<Produced, ToolFailure> {
        // A listener answers every call before it comes here.
        Err(ToolFailure::new(ToolFailureCode::other("NOT_RECORDED"), "the record has no result of this call"))
    }
    fn produce(&self, value: Value) -> Result<Produced, String> {
        let Success { content, meta } = serde_json::from_value(value).map_err(|error| error.to_string())?;
        Ok(Produced { value: Value::Null, content, meta, concludes_turn: false })
    }
    fn finalize_content(&self, _: &ToolCall, _: &[Block], _: bool) -> Option<Vec<Block>> {
        None
    }
}
