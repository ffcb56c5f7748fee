#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod before_fork;
mod bridge;
#[cfg(feature = "contract")]
pub mod contract;
mod copy;
mod error;
mod forked;
mod health;
mod known;
mod lease;
mod loaded;
mod note;
mod notice;
mod recorded;
mod recorder;
mod repair;
mod salvage;
mod service;
mod summary;
mod worker;
mod writer;

pub use before_fork::{BeforeFork, BeforeForkDecision};
pub use copy::copy_session;
pub use error::{PersistenceError, Position};
pub use forked::{Fork, ForkError, fork_recorded};
pub use health::{Fault, Health, RepairReport};
pub use known::KnownTypes;
pub use lease::LeaseOwner;
pub use loaded::check_log;
pub use note::RepairNote;
pub use notice::{StorageFailed, StorageRecovered};
pub use recorded::{Recorded, RecordedError, resume_recorded, start_recorded};
pub use recorder::{Recorder, RecorderOptions};
pub use repair::{NOT_STARTED, OUTCOME_UNKNOWN, close_open_turn};
pub use salvage::{Loss, LostEvent, Record, Salvage, salvage};
pub use service::{Opened, SessionPersistence, Snapshot};
pub use summary::{Listing, SessionSummary, Unreadable, title};
pub use writer::{Durability, SessionWriter};
