//! Standard output is data, standard error is talk; a reader that goes away is noticed, not mourned.
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// Where a run writes.
#[derive(Debug, Default)]
pub(crate) struct Output {
    closed: AtomicBool,
    gone: CancellationToken,
}

impl Output {
    /// Writes data and flushes it.
    pub(crate) fn data(&self, text: &str) {
        if self.closed.load(Ordering::Relaxed) || text.is_empty() {
            return;
        }
        let mut stdout = std::io::stdout().lock();
        if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            self.closed.store(true, Ordering::Relaxed);
            self.gone.cancel();
            if error.kind() != ErrorKind::BrokenPipe {
                self.talk(&format!("harness: standard output failed: {error}"));
            }
        }
    }
    /// Writes a line for the person. If even that fails there is nobody left to tell.
    #[expect(clippy::unused_self, reason = "talk and data belong together")]
    pub(crate) fn talk(&self, line: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }
    /// How a command ended: its error is told, and data that was not written is no success.
    pub(crate) fn exit(&self, result: anyhow::Result<Exit>) -> Exit {
        match result {
            Ok(Exit::Done) if self.gone.is_cancelled() => Exit::OUTPUT_CLOSED,
            Ok(exit) => exit,
            Err(error) => {
                self.talk(&format!("harness: {error:#}"));
                Exit::Failed
            }
        }
    }
    /// Cancelled when standard output is closed.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.gone
    }
}
