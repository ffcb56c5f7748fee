//! Signals: the first one asks the turn to end, a second one ends the process.
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) name: &'static str,
    number: u8,
}
impl Asked {
    pub(crate) fn exit(self) -> Exit {
        Exit::Signal(self.number)
    }
}

/// The signals that are listened to.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}
impl Signals {
    /// Starts listening; from here on the signals do not end the process by themselves.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }
    /// The next signal. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => Asked { name: "SIGINT", number: 2 },
            _ = self.terminate.recv() => Asked { name: "SIGTERM", number: 15 },
            _ = self.hangup.recv() => Asked { name: "SIGHUP", number: 1 },
        }
    }
}
