#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod admit;
mod annotate;
mod batch;
mod call;
mod cap;
mod decision;
mod dispatch;
mod erased;
mod events;
mod failure;
mod outcome;
mod plugin;
mod registry;
mod run;
mod schema;
mod seal;
mod settle;
mod tool;

pub use admit::AdmittedCall;
pub use annotate::{Annotate, ResultNotes};
pub use batch::{BatchError, BatchReport, BatchSink, run_batch};
pub use call::{CallRequest, CallToken, Narrowed, ToolCall};
pub use cap::ResultCap;
pub use decision::{ListenerError, PostToolDecision, PreToolDecision};
pub use dispatch::DispatchedCall;
pub use erased::{AnyTool, Produced, erase};
pub use events::{Execute, PostExecute, PreExecute, Prepare, Prepared, ToolResultNotice};
pub use failure::{ToolFailure, ToolFailureCode};
pub use outcome::{ToolOutcome, ToolReturn};
pub use plugin::ToolsPlugin;
pub use registry::{RegisterError, Restriction, Tools};
pub use run::ToolRun;
pub use schema::{ArgumentValidator, ArgumentViolation, CompiledSchema, SchemaError};
pub use seal::SealedCall;
pub use tool::Tool;
