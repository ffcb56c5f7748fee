#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "reading hook files and looking at their scripts is this crate's job"
)]

mod answer;
mod chat_oracle;
mod codec;
mod condition;
mod diagnostic;
mod dispatch;
mod engine;
mod entry;
mod event;
mod fault;
mod file;
mod fold;
mod handler;
mod lint;
mod listener;
mod matcher;
mod models;
mod parse_handler;
mod payload;
mod place;
mod profile;
mod run;
mod schema;
mod serve;
mod set;
mod shell_words;

pub use answer::{
    Answer, Decision, HookOutput, LegacyDecision, OracleOutput, PermissionAnswer, SpecificOutput,
};
pub use chat_oracle::ChatOracle;
pub use codec::{Ended, Reading, decode};
pub use condition::{Condition, ConditionError, ToolFacts};
pub use diagnostic::{Diagnostic, Severity};
pub use dispatch::{Dispatch, Report, Run, RunOutcome};
pub use engine::Engine;
pub use entry::{HookEntry, HookRef, Origin, Scope};
pub use event::{EventInfo, HookEvent};
pub use fault::{Fault, FaultKind};
pub use file::HookFile;
pub use fold::{Outcome, fold};
pub use handler::{
    CommandHandler, Handler, HandlerKind, OnError, OracleHandler, ProxyHandler, Waiting, WebhookHandler,
};
pub use listener::{Listener, Reply};
pub use matcher::{Matcher, MatcherError, MatcherStyle};
pub use models::{Oracle, Proxy, Question};
pub use payload::{BatchedCall, Common, EventFields, Payload, ToolFields};
pub use place::Place;
pub use profile::{Dialect, Profile};
pub use schema::schemas;
pub use serve::{LONGEST_LINE, Served, serve};
pub use set::HookSet;
