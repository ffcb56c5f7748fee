#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod body;
mod call_ids;
mod clock;
mod codec;
mod derivation;
mod envelope;
mod event;
mod gate;
mod grammar;
mod header;
mod id;
mod live;
mod log;
mod packed;
mod plugin;
mod plugin_event;
mod recorder;
mod session;
mod store;
mod vlq;

pub use body::{
    AbortCause, AgentParked, AssistantMessage, Body, HeaderReason, InboxSpliced, InboxTarget, RequestContext,
    RequestHeader, SessionResumed, Step, ToolCall, ToolError, ToolResult, Turn, TurnEnd, TurnEndReason,
    UserMessage,
};
pub use clock::{Clock, ManualClock, SystemClock};
pub use codec::{DecodeError, Decoder, Form, decode_header, encode_event, encode_header};
pub use derivation::{Derivation, SurfaceError};
pub use event::{Draft, Event, EventClass, Seq, SurfaceOp};
pub use gate::SessionGate;
pub use grammar::{Grammar, GrammarError, OpenCall, OpenTurn};
pub use header::{FORMAT_VERSION, SessionHeader};
pub use id::SessionId;
pub use live::{LiveChunk, LiveError, LiveReceiver};
pub use log::LogView;
pub use packed::{ChunkRun, PackedItem, TimedChunk, UnpackError};
pub use plugin::SessionPlugin;
pub use plugin_event::{EventTypeInfo, PluginData, PluginEvent};
pub use recorder::ChunkRecorder;
pub use session::{AppendError, FlushError, Session, SessionEvent, SessionFlush};
pub use store::{SessionCreated, SessionDisposed, Sessions, SessionsError};
