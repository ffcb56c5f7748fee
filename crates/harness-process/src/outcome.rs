//! What is known after a process has ended: independent facts, none of which implies another.

use std::time::Duration;

use crate::collector::Kept;
use crate::spill::SpillOutcome;

/// The facts of one run.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not the states of one machine")]
#[non_exhaustive]
pub struct ProcessOutcome {
    /// Exit code, if the process ended by itself.
    pub exit_code: Option<i32>,
    /// Number of the signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Whether the deadline passed first. Never together with `cancelled`.
    pub timed_out: bool,
    /// Whether the caller's token, or [`crate::kill_all`], came first.
    pub cancelled: bool,
    /// Whether descendants were alive that had to be killed.
    pub descendants_killed: bool,
    /// Whether descendants are still alive: because they may ([`crate::Leftover::Leave`]), or because they could
    /// not be killed (another user's, or stuck in the kernel).
    pub descendants_left: bool,
    /// Wall time from the call to the last byte read.
    pub duration: Duration,
    /// What became of the bytes for stdin.
    pub stdin: StdinOutcome,
    /// Standard output, or both streams if they were merged.
    pub stdout: CapturedOutput,
    /// Standard error, unless merged.
    pub stderr: Option<CapturedOutput>,
}

impl ProcessOutcome {
    /// Whether the process ended by itself with exit code 0.
    pub fn success(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out && !self.cancelled
    }
}

/// What became of the bytes for stdin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StdinOutcome {
    /// Bytes that were to be written.
    pub total_bytes: u64,
    /// Bytes that the pipe took. The process may have read fewer.
    pub written_bytes: u64,
    /// Whether the process closed its stdin before everything was written (EPIPE).
    pub closed_early: bool,
}

/// One collected stream.
#[derive(Debug)]
#[non_exhaustive]
pub struct CapturedOutput {
    /// Head, tail and true length.
    pub kept: Kept,
    /// Whether end-of-file was seen. If not, something still held the pipe when reading stopped, and what it
    /// wrote later is not counted.
    pub ended: bool,
    /// The full copy, if the stream was longer than the limits and a spill policy was set.
    pub spill: Option<SpillOutcome>,
}

impl CapturedOutput {
    /// The kept bytes as text with a marker line where bytes are missing; see [`Kept::text`].
    pub fn text(&self) -> String {
        self.kept.text()
    }

    /// The true length of the stream in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.kept.total_bytes
    }

    /// Whether the kept bytes are not the whole stream.
    pub fn truncated(&self) -> bool {
        self.kept.truncated()
    }
}

/// Which stream a live chunk came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output only.
    Stdout,
    /// Standard error only.
    Stderr,
    /// Both, merged.
    Merged,
}
