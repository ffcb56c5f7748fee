//! Reads one output pipe into a collector, a spill file and a live channel.

use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::Receiver;

use crate::collector::{Collector, OutputLimits};
use crate::live::LiveOutput;
use crate::outcome::CapturedOutput;
use crate::spill::{Spill, SpillPolicy};

/// As much as a pipe holds by default on Linux (pipe(7)).
const READ_BUFFER: usize = 64 * 1024;

pub(crate) struct StreamReader {
    pipe: Option<Receiver>,
    buffer: Box<[u8]>,
    collector: Collector,
    policy: Option<SpillPolicy>,
    spill: Option<Spill>,
    live: LiveOutput,
    ended: bool,
    owed: u64,
}

impl StreamReader {
    /// Needs a runtime with IO enabled.
    pub(crate) fn new(
        pipe: OwnedFd,
        limits: OutputLimits,
        policy: Option<SpillPolicy>,
        live: LiveOutput,
    ) -> io::Result<Self> {
        Ok(Self {
            pipe: Some(Receiver::from_owned_fd(pipe)?),
            buffer: vec![0; READ_BUFFER].into_boxed_slice(),
            collector: Collector::new(limits),
            policy,
            spill: None,
            live,
            ended: false,
            owed: 0,
        })
    }

    /// Whether there is nothing more to read.
    pub(crate) fn finished(&self) -> bool {
        self.pipe.is_none()
    }

    /// Whether bytes that were in the pipe at [`Self::begin_drain`] are still unread.
    pub(crate) fn owed(&self) -> bool {
        self.owed > 0 && !self.finished()
    }

    /// Notes how much the pipe holds now: this much must be read before reading may stop.
    pub(crate) fn begin_drain(&mut self) {
        if let Some(pipe) = &self.pipe {
            self.owed = rustix::io::ioctl_fionread(pipe).unwrap_or(0);
        }
    }

    /// Reads once. Cancel safe: no byte is lost when the future is dropped.
    pub(crate) async fn step(&mut self) {
        if let Some(spill) = self.spill.as_mut().filter(|spill| spill.backed_up()) {
            spill.settle().await;
        }
        let Some(pipe) = &mut self.pipe else { return };
        if let Err(error) = pipe.readable().await {
            return self.give_up(&error);
        }
        match pipe.try_read(&mut self.buffer) {
            Ok(0) => {
                self.ended = true;
                self.pipe = None;
            }
            Ok(count) => self.accept(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => self.give_up(&error),
        }
    }

    /// Closes the pipe and says what was collected.
    pub(crate) async fn finish(mut self) -> CapturedOutput {
        self.pipe = None;
        let spill = match self.spill {
            Some(spill) => Some(spill.finish().await),
            None => None,
        };
        CapturedOutput { kept: self.collector.finish(), ended: self.ended, spill }
    }

    fn accept(&mut self, count: usize) {
        let bytes = &self.buffer[..count];
        self.owed = self.owed.saturating_sub(count as u64);
        if self.collector.would_overflow(count)
            && let Some(policy) = self.policy.take()
        {
            let spill = self.spill.insert(Spill::new(policy));
            if let Some((head, tail)) = self.collector.whole() {
                spill.push(head);
                spill.push(tail);
            }
        }
        if let Some(spill) = &mut self.spill {
            spill.push(bytes);
        }
        self.collector.push(bytes);
        self.live.send(bytes);
    }

    /// The stream stays marked as not ended, which is how the caller learns of it.
    fn give_up(&mut self, error: &io::Error) {
        tracing::warn!(%error, "reading the output of a process failed");
        self.pipe = None;
    }
}
