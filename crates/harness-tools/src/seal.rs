//! Phase 0: parse, validate, prepare, seal.
use std::sync::Arc;

use harness_kernel::{Ctx, contain, contain_sync};
use serde_json::Value;

use crate::admit::aborted_before;
use crate::call::{CallRequest, CallToken, ToolCall};
use crate::events::{Prepare, Prepared};
use crate::failure::{ToolFailure, ToolFailureCode, listener_failed};
use crate::registry::{Entry, Tools};
use crate::schema::{ArgumentValidator, ArgumentViolation};

/// Most bytes that an error quotes of faulty arguments, and of each violation.
const QUOTE: usize = 200;
/// Most violations that an error lists.
const LISTED: usize = 20;

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
        let overlap = |entry: &Arc<Entry>| overlaps(entry, self.call.arguments());
        self.proceeds() && self.entry.as_ref().is_some_and(overlap)
    }
    /// Turns a call that would proceed into one that fails: neither policy nor body sees it.
    pub(crate) fn refuse(&mut self, failure: ToolFailure) {
        self.refused.get_or_insert(failure);
    }
}

impl Tools {
    /// Parses and validates the arguments, runs `tools/prepare`, and seals the call.
    pub async fn seal(&self, ctx: &Ctx, request: CallRequest) -> SealedCall {
        let entry = Self::find(ctx, &request.name);
        let arguments = match parse(&request.arguments) {
            Ok(arguments) => arguments,
            Err(failure) => return refuse(request, entry, failure),
        };
        if let Err(failure) = validate(ctx, entry.as_ref(), &arguments) {
            return refuse(request, entry, failure);
        }
        let (token, cancel) = (CallToken::mint(), request.cancel.clone());
        let shared = Arc::new(request);
        let event = Prepare { token, request: Arc::clone(&shared), arguments, rewritten_by: Vec::new() };
        let preparing = ctx.waterfall(event, |prepare: Prepare| async move {
            let Prepare { token, arguments, rewritten_by, .. } = prepare;
            Ok(Prepared { token, arguments, rewritten_by })
        });
        let prepared = cancel.run_until_cancelled(contain(preparing)).await;
        let mut request = Arc::unwrap_or_clone(shared);
        let fault = match prepared {
            Some(Ok(Ok(prepared))) if prepared.token == token => {
                let Prepared { arguments, rewritten_by, .. } = prepared;
                if !rewritten_by.is_empty() {
                    if let Err(mut failure) = validate(ctx, entry.as_ref(), &arguments) {
                        let by = rewritten_by.join(", ");
                        failure.message = format!("{} (arguments rewritten by {by})", failure.message);
                        return refuse(request, entry, failure);
                    }
                    request.arguments = arguments.to_string();
                }
                let call = ToolCall::seal(request, arguments, rewritten_by, token);
                return SealedCall { call, entry, refused: None };
            }
            Some(Ok(Ok(_))) => "it answered with what was prepared for another call".to_owned(),
            Some(Ok(Err(error))) => error.0,
            Some(Err(panic)) => panic.to_string(),
            None => return refuse(request, entry, aborted_before()),
        };
        refuse(request, entry, listener_failed("tools/prepare", "the tool was not run", &fault))
    }
    /// Seals a call that is not to be carried out.
    pub(crate) fn seal_refused(ctx: &Ctx, request: CallRequest, failure: ToolFailure) -> SealedCall {
        let entry = Self::find(ctx, &request.name);
        refuse(request, entry, failure)
    }
    /// Whether a call that is not sealed yet may run beside others, as far as its arguments tell by now.
    pub(crate) fn may_overlap(ctx: &Ctx, request: &CallRequest) -> bool {
        let Some(entry) = Self::find(ctx, &request.name) else { return false };
        parse(&request.arguments).is_ok_and(|arguments| overlaps(&entry, &arguments))
    }
}

fn overlaps(entry: &Entry, arguments: &Value) -> bool {
    contain_sync(|| entry.tool.parallel(arguments)).unwrap_or_else(|panic| {
        tracing::warn!(tool = entry.spec.name, %panic, "classifying a call failed; it runs alone");
        false
    })
}

fn validate(ctx: &Ctx, entry: Option<&Arc<Entry>>, arguments: &Value) -> Result<(), ToolFailure> {
    if !arguments.is_object() {
        return Err(not_an_object(&arguments.to_string(), "not a JSON object"));
    }
    // An unknown tool is reported at dispatch, so that policies see the name first.
    let Some(entry) = entry else { return Ok(()) };
    contain_sync(|| fits(ctx, entry, arguments)).unwrap_or_else(|panic| {
        let text = format!("checking the arguments of tool `{}` failed: {panic}", entry.spec.name);
        Err(ToolFailure::new(ToolFailureCode::TOOL_PANICKED, text))
    })
}

fn fits(ctx: &Ctx, entry: &Entry, arguments: &Value) -> Result<(), ToolFailure> {
    if entry.schema.get().is_none()
        && let Some(validator) = ctx.service::<dyn ArgumentValidator>()
    {
        let compiled = validator.compile(&entry.spec.parameters).map_err(|error| {
            tracing::warn!(tool = entry.spec.name, %error, "arguments are checked by type only");
        });
        entry.schema.get_or_init(|| compiled.ok());
    }
    if let Some(Some(schema)) = entry.schema.get() {
        schema.check(arguments).map_err(|violations| violated(&violations))?;
    }
    entry.tool.check(arguments).map_err(|violation| violated(&[violation]))
}

fn refuse(request: CallRequest, entry: Option<Arc<Entry>>, failure: ToolFailure) -> SealedCall {
    let call = ToolCall::seal(request, Value::Null, Vec::new(), CallToken::mint());
    SealedCall { call, entry, refused: Some(failure) }
}

fn violated(violations: &[ArgumentViolation]) -> ToolFailure {
    let mut list: Vec<String> =
        violations.iter().take(LISTED).map(|violation| quoted(&violation.to_string())).collect();
    if violations.len() > LISTED {
        list.push(format!("and {} more", violations.len() - LISTED));
    }
    ToolFailure::new(ToolFailureCode::INVALID_ARGS, format!("invalid arguments: {}", list.join("; ")))
}

/// The beginning of a text, and how long it is if that is not all.
fn quoted(text: &str) -> String {
    let end = text.floor_char_boundary(QUOTE.min(text.len()));
    if end == text.len() {
        text.to_owned()
    } else {
        format!("{}… ({} bytes in all)", &text[..end], text.len())
    }
}

fn not_an_object(text: &str, problem: &str) -> ToolFailure {
    let quote = quoted(text);
    let message = format!(
        "the arguments were cut off or are not a JSON object ({problem}); the tool was not run. Received: {quote}"
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
