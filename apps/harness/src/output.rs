//! Standard output is data, standard error is talk; a reader that goes away is noticed, not mourned.
//!
//! A thread of its own writes both, in the order in which they were given: a full pipe or a stopped terminal
//! blocks that thread, and not the runtime with its signals and streams.
use std::io::{ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::signals::Signals;

/// What may wait to be written before [`Output::room`] asks the giver to wait, in bytes.
const ROOM: usize = 1 << 20;

/// How long after a signal the output may take to be written.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// Where a run writes.
#[derive(Debug, Default)]
pub(crate) struct Output {
    shared: Arc<Shared>,
    /// Hears, for [`Output::settle`], signals that come when a run no longer looks at its own listener.
    late: Mutex<Option<Signals>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    given: Condvar,
    written: Notify,
    gone: CancellationToken,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<(Stream, String)>,
    /// Bytes given and not yet written.
    bytes: usize,
    /// The thread exists.
    started: bool,
    /// The thread waits for something to do.
    idle: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Data,
    Talk,
}

impl Output {
    /// Writes data.
    pub(crate) fn data(&self, text: &str) {
        if !text.is_empty() && !self.shared.gone.is_cancelled() {
            self.give(Stream::Data, text);
        }
    }
    /// Writes a line for the person.
    pub(crate) fn talk(&self, line: &str) {
        self.give(Stream::Talk, &format!("{line}\n"));
    }
    fn give(&self, stream: Stream, text: &str) {
        let mut queue = self.shared.queue();
        queue.bytes += text.len();
        match queue.waiting.last_mut() {
            Some((last, waiting)) if *last == stream => waiting.push_str(text),
            _ => queue.waiting.push((stream, text.to_owned())),
        }
        if queue.idle {
            queue.idle = false;
            self.shared.given.notify_one();
        }
        if !queue.started {
            queue.started = true;
            drop(queue);
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("harness-output".into());
            if thread.spawn(move || shared.write_on()).is_err() {
                self.shared.queue().started = false;
                self.shared.write_waiting();
            }
        }
    }
    /// Returns when not too much waits to be written.
    pub(crate) async fn room(&self) {
        self.below(ROOM).await;
    }
    async fn below(&self, bytes: usize) {
        loop {
            let written = self.shared.written.notified();
            if self.shared.queue().bytes <= bytes {
                return;
            }
            written.await;
        }
    }
    /// How a command ended; its error is told.
    pub(crate) fn exit(&self, result: anyhow::Result<Exit>) -> Exit {
        result.unwrap_or_else(|error| {
            self.talk(&format!("harness: {error:#}"));
            Exit::Failed
        })
    }
    /// Listens from now on for signals that end the wait of [`Output::settle`].
    pub(crate) fn listen(&self) -> std::io::Result<()> {
        *self.late.lock().unwrap_or_else(PoisonError::into_inner) = Some(Signals::listen()?);
        Ok(())
    }
    /// Waits until everything is written; a signal gives up on it. Data that was not written is no success.
    pub(crate) async fn settle(&self, exit: Exit) -> Exit {
        let given_up = async {
            let late = self.late.lock().unwrap_or_else(PoisonError::into_inner).take();
            match (exit, late.map_or_else(Signals::listen, Ok)) {
                (Exit::Signal(_), _) => {
                    tokio::time::sleep(PATIENCE).await;
                    exit
                }
                (_, Ok(mut signals)) => signals.next().await.exit(),
                // The signals end the process by themselves.
                (_, Err(_)) => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.below(0) => {}
            exit = given_up => return exit,
        }
        if exit == Exit::Done && self.gone().is_cancelled() { Exit::OUTPUT_CLOSED } else { exit }
    }
    /// Cancelled when standard output is closed.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.shared.gone
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The thread's work, as long as the process lives.
    fn write_on(&self) {
        loop {
            self.write_waiting();
            let mut queue = self.queue();
            while queue.waiting.is_empty() {
                queue.idle = true;
                queue = self.given.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            queue.idle = false;
        }
    }
    fn write_waiting(&self) {
        let waiting = std::mem::take(&mut self.queue().waiting);
        for (stream, text) in waiting {
            match stream {
                Stream::Data => self.write_data(&text),
                // If even that fails there is nobody left to tell.
                Stream::Talk => drop(std::io::stderr().lock().write_all(text.as_bytes())),
            }
            self.queue().bytes -= text.len();
            self.written.notify_waiters();
        }
    }
    fn write_data(&self, text: &str) {
        if self.gone.is_cancelled() {
            return;
        }
        let mut stdout = std::io::stdout().lock();
        if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            self.gone.cancel();
            if error.kind() != ErrorKind::BrokenPipe {
                drop(writeln!(std::io::stderr().lock(), "harness: standard output failed: {error}"));
            }
        }
    }
}
