#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![expect(
    clippy::format_push_string,
    reason = "a document is put together from pieces; `write!` would ask for a result each time"
)]

mod build;
mod change;
mod html;
mod known_files;
mod markdown;
mod notes;
mod quoting;
mod transcript;
mod visible;
mod words;

pub use change::{Change, ChangeKind, Line, LineKind};
pub use html::html;
pub use markdown::markdown;
pub use transcript::{
    Answer, Call, CallResult, Entry, Facts, FailedAttempt, Note, Piece, Said, Speaker, StepFacts, Tone,
    Transcript, TurnClose, TurnOpen,
};
