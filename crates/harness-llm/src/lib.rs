#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod adapter;
mod assembler;
mod block;
mod chunk;
mod failure;
mod id;
mod message;
mod open;
mod options;
mod payload;
mod plugin;
mod protocol;
mod request;
mod runtime;
mod sanitize;

pub use adapter::{AdapterStream, LlmAdapter, ModelInfo, PreparedCall};
pub use assembler::{Assembled, Assembler};
pub use block::{Attachment, Block, BlockKind, BlockVocabulary, ToolCallBlock, ToolResultBlock};
pub use chunk::{Chunk, Finish, FinishReason, Usage};
pub use failure::{Failure, FailureCode, LlmError};
pub use id::{MessageId, ParseIdError};
pub use message::{ContextForm, Message, MessageSource, Role, SourceVocabulary};
pub use open::{Open, Vocabulary};
pub use options::{
    CacheOptions, CacheRetention, OptionRefused, RequestExtras, RequestOptions, RequestOptionsEvent,
};
pub use payload::{PayloadEvent, PayloadFields};
pub use plugin::LlmPlugin;
pub use protocol::{CheckedStream, ProtocolChecker, Violation};
pub use request::{CallConfig, GateRefusal, Purpose, Request, RequestGate, ToolSpec};
pub use runtime::{ChunkStream, Llm, LlmStream, RouteError, RouteRegistration, StreamCall};
pub use sanitize::sanitize_message;
