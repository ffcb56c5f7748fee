//! File system calls leave the async threads.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harness_fs::FsError;

/// Runs a whole operation on a thread that may block. It runs to its end, even when the caller stops waiting.
pub(crate) async fn run<T: Send + 'static>(
    path: &str,
    work: impl FnOnce() -> Result<T, FsError> + Send + 'static,
) -> Result<T, FsError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(FsError::Internal { path: path.to_owned(), reason: error.to_string() }),
    }
}

/// Runs a read that may take long; it ends soon after the caller stops waiting.
pub(crate) async fn run_read<T: Send + 'static>(
    path: &str,
    work: impl FnOnce(&Stop) -> Result<T, FsError> + Send + 'static,
) -> Result<T, FsError> {
    let stop = Stop::default();
    let _on_drop = StopOnDrop(stop.clone());
    run(path, move || work(&stop)).await
}

/// Tells a read that nobody waits for it any more.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl Stop {
    /// The same reader, which fails once nobody waits.
    pub(crate) fn reader<R>(&self, inner: R) -> Stoppable<R> {
        Stoppable { inner, stop: self.clone() }
    }
}

pub(crate) struct Stoppable<R> {
    inner: R,
    stop: Stop,
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.0.load(Ordering::Relaxed) {
            return Err(io::Error::other("nobody waits for this read any more"));
        }
        self.inner.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc;

    use super::run_read;

    #[tokio::test]
    async fn an_endless_read_ends_when_its_caller_is_gone() {
        let (started, wait_for_start) = tokio::sync::oneshot::channel();
        let (ended, wait_for_end) = mpsc::channel();
        let read = tokio::spawn(run_read("x", move |stop| {
            started.send(()).unwrap();
            let copied = io::copy(&mut stop.reader(io::repeat(0)), &mut io::sink());
            ended.send(copied.is_err()).unwrap();
            Ok(())
        }));
        wait_for_start.await.unwrap();
        read.abort();
        assert!(read.await.unwrap_err().is_cancelled());
        assert!(wait_for_end.recv().unwrap());
    }
}
