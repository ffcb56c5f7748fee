//! One handler, from payload to answer.
mod command;
mod model;
mod webhook;

pub(crate) use command::{run as command, run_as_proxy};
pub(crate) use model::{ask, judge, prompt_with};
pub(crate) use webhook::{Allowed, post as webhook};

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::HookEvent;
use crate::answer::Answer;
use crate::codec::Reading;
use crate::entry::HookEntry;
use crate::fault::Fault;
use crate::place::Place;

/// One hook and all that running it takes.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) entry: &'a HookEntry,
    pub(crate) event: HookEvent,
    pub(crate) reading: Reading,
    pub(crate) place: &'a Place,
    /// The payload, without a line break at the end.
    pub(crate) text: &'a str,
    pub(crate) limit: Duration,
    pub(crate) cancel: &'a CancellationToken,
}

/// What running a handler came to.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) exit_code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) result: Result<Answer, Fault>,
    /// Whether processes that it started go on.
    pub(crate) left_behind: bool,
}
impl Attempt {
    pub(crate) fn of(result: Result<Answer, Fault>) -> Self {
        let (stdout, stderr) = (String::new(), String::new());
        Self { exit_code: None, stdout, stderr, result, left_behind: false }
    }
}
