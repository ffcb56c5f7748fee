//! Writes the bytes for stdin while the output is being read.

use std::io;
use std::os::fd::OwnedFd;

use bytes::Bytes;
use tokio::net::unix::pipe::Sender;

use crate::outcome::StdinOutcome;

pub(crate) struct StdinWriter {
    pipe: Option<Sender>,
    bytes: Bytes,
    outcome: StdinOutcome,
}

impl StdinWriter {
    /// Needs a runtime with IO enabled.
    pub(crate) fn new(pipe: OwnedFd, bytes: Bytes) -> io::Result<Self> {
        let outcome = StdinOutcome { total_bytes: bytes.len() as u64, ..StdinOutcome::default() };
        let pipe = if bytes.is_empty() { None } else { Some(Sender::from_owned_fd(pipe)?) };
        Ok(Self { pipe, bytes, outcome })
    }

    pub(crate) fn finished(&self) -> bool {
        self.pipe.is_none()
    }

    pub(crate) fn outcome(&self) -> StdinOutcome {
        self.outcome
    }

    pub(crate) fn close(&mut self) {
        self.pipe = None;
    }

    /// Writes once and closes the pipe after the last byte. Cancel safe.
    pub(crate) async fn step(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let written = match pipe.writable().await {
            Ok(()) => pipe.try_write(&self.bytes),
            Err(error) => Err(error),
        };
        match written {
            Ok(count) => {
                bytes::Buf::advance(&mut self.bytes, count);
                self.outcome.written_bytes += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) => {
                self.outcome.closed_early = error.kind() == io::ErrorKind::BrokenPipe;
                if !self.outcome.closed_early {
                    tracing::warn!(%error, "writing the input of a process failed");
                }
                self.bytes.clear();
            }
        }
        if self.bytes.is_empty() {
            self.pipe = None;
        }
    }
}
