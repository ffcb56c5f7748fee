#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod log;
mod request;
mod resolve;

pub use log::{ApprovalAsked, ApprovalDecided, ApprovalLog};
pub use request::{Answer, Approval, ApprovalOutcome, ApprovalRequest};
pub use resolve::{ApprovalNotice, resolve};
