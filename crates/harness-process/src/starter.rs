//! Threads that start processes and never end.
//!
//! The parent-death signal is sent when the starting thread ends, and the threads of a runtime come and go. So
//! starts happen here. A thread that hangs in a start (a dead network file system) delays nobody: each start
//! takes an idle thread or makes a new one.

use std::io;
use std::sync::{Mutex, PoisonError, mpsc};

use tokio::sync::oneshot;

/// What a thread is given to do; it gets its own address, to be called idle again.
struct Job(Box<dyn FnOnce(StarterThread) + Send>);

struct StarterThread(mpsc::Sender<Job>);

static IDLE: Mutex<Vec<StarterThread>> = Mutex::new(Vec::new());

/// Runs `start` on a thread that lives as long as the process. A result that nobody waits for is dropped.
pub(crate) async fn on_lasting_thread<T: Send + 'static>(
    start: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (reply, result) = oneshot::channel();
    submit(Job(Box::new(move |thread| {
        let started = start();
        // Before the reply, so that a caller's next start finds the thread idle.
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        drop(reply.send(started));
    })))?;
    result.await.map_err(|_| io::Error::other("the starting thread panicked"))
}

fn submit(job: Job) -> io::Result<()> {
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let Some(thread) = idle else { return new_thread(job) };
    // An idle thread waits for its next job and cannot have ended; if it has, a new one takes over.
    thread.0.send(job).or_else(|mpsc::SendError(job)| new_thread(job))
}

fn new_thread(first: Job) -> io::Result<()> {
    let (sender, jobs) = mpsc::channel();
    let run = move || {
        let mut job = Some(first);
        while let Some(Job(run)) = job {
            run(StarterThread(sender.clone()));
            job = jobs.recv().ok();
        }
    };
    std::thread::Builder::new().name("harness-starter".into()).spawn(run).map(drop)
}
