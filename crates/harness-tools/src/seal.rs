//! Phase 0: parse, validate, prepare, seal.
use std::sync::Arc;

use harness_kernel::{Ctx, contain};
use serde_json::Value;

use crate::call::{CallRequest, ToolCall};
use crate::events::{Prepare, Prepared};
use crate::failure::{ToolFailure, ToolFailureCode};
use crate::registry::{Entry, Tools};
use crate::schema::{ArgumentValidator, ArgumentViolation};

/// Most bytes of faulty arguments that an error quotes.
const QUOTE: usize = 200;

/// A call with an identity. From here on nothing about it changes.
pub struct SealedCall {
    pub(crate) call: ToolCall,
    pub(crate) entry: Option<Arc<Entry>>,
    pub(crate) refused: Option<ToolFailure>,
}
impl SealedCall {
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }
    /// Whether policy and body are still to come. A call whose arguments do not fit never gets there.
    pub fn proceeds(&self) -> bool {
        self.refused.is_none()
    }
    /// Whether it may run beside others.
    pub fn parallel(&self) -> bool {
        let classify = |entry: &Arc<Entry>| {
            harness_kernel::contain_sync(|| entry.tool.parallel(self.call.arguments())).unwrap_or(false)
        };
        self.proceeds() && self.entry.as_ref().is_some_and(classify)
    }
}

impl Tools {
    /// Parses and validates the arguments, runs `tools/prepare`, and seals the call.
    pub async fn seal(&self, ctx: &Ctx, request: CallRequest) -> SealedCall {
        let entry = self.find(ctx, &request.name);
        let arguments = match parse(&request.arguments) {
            Ok(arguments) => arguments,
            Err(failure) => return refuse(request, entry, failure),
        };
        if let Err(failure) = self.validate(ctx, entry.as_ref(), &arguments) {
            return refuse(request, entry, failure);
        }
        let shared = Arc::new(request);
        let event = Prepare { request: Arc::clone(&shared), arguments, rewritten_by: Vec::new() };
        let preparing = ctx.waterfall(event, |prepare: Prepare| async move {
            Ok(Prepared { arguments: prepare.arguments, rewritten_by: prepare.rewritten_by })
        });
        let prepared = contain(preparing).await;
        let mut request = Arc::unwrap_or_clone(shared);
        match prepared {
            Ok(Ok(Prepared { arguments, rewritten_by })) => {
                if !rewritten_by.is_empty() {
                    if let Err(mut failure) = self.validate(ctx, entry.as_ref(), &arguments) {
                        failure.message = format!(
                            "{} (arguments rewritten by {})",
                            failure.message,
                            rewritten_by.join(", ")
                        );
                        return refuse(request, entry, failure);
                    }
                    request.arguments = arguments.to_string();
                }
                SealedCall { call: ToolCall::seal(request, arguments, rewritten_by), entry, refused: None }
            }
            Ok(Err(error)) => refuse(request, entry, listener_failed("tools/prepare", &error.0)),
            Err(panic) => refuse(request, entry, listener_failed("tools/prepare", &panic.to_string())),
        }
    }

    fn validate(&self, ctx: &Ctx, entry: Option<&Arc<Entry>>, arguments: &Value) -> Result<(), ToolFailure> {
        // An unknown tool is reported at dispatch, so that policies see the name first.
        let Some(entry) = entry else { return Ok(()) };
        if !arguments.is_object() {
            return Err(not_an_object(&arguments.to_string(), "not a JSON object"));
        }
        let schema = entry.schema.get_or_init(|| {
            let validator = ctx.service::<dyn ArgumentValidator>()?;
            match validator.compile(&entry.spec.parameters) {
                Ok(schema) => Some(schema),
                Err(error) => {
                    tracing::warn!(tool = entry.spec.name, %error, "arguments are checked by type only");
                    None
                }
            }
        });
        if let Some(schema) = schema {
            schema.check(arguments).map_err(|violations| violated(&violations))?;
        }
        entry.tool.check(arguments).map_err(|violation| violated(&[violation]))
    }
}

pub(crate) fn listener_failed(event: &str, detail: &str) -> ToolFailure {
    let text = format!("a listener of {event} failed, so the call was not carried out: {detail}");
    ToolFailure::new(ToolFailureCode::LISTENER_FAILED, text)
}

fn refuse(request: CallRequest, entry: Option<Arc<Entry>>, failure: ToolFailure) -> SealedCall {
    SealedCall { call: ToolCall::seal(request, Value::Null, Vec::new()), entry, refused: Some(failure) }
}

fn violated(violations: &[ArgumentViolation]) -> ToolFailure {
    let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
    ToolFailure::new(ToolFailureCode::INVALID_ARGS, format!("invalid arguments: {}", list.join("; ")))
}

fn not_an_object(text: &str, problem: &str) -> ToolFailure {
    let end = text.floor_char_boundary(QUOTE.min(text.len()));
    let more = if end < text.len() { format!("… ({} bytes in all)", text.len()) } else { String::new() };
    let message = format!(
        "the arguments were cut off or are not a JSON object ({problem}); the tool was not run. Received: {}{more}",
        &text[..end]
    );
    ToolFailure::new(ToolFailureCode::INVALID_ARGS, message)
}

fn parse(text: &str) -> Result<Value, ToolFailure> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(not_an_object(text, "not a JSON object")),
        Err(error) => Err(not_an_object(text, &error.to_string())),
    }
}
