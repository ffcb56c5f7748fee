//! The one thread that writes: `SQLite` has one writer at a time, and a connection stays on its thread.
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use harness_session_persistence::PersistenceError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::database::Place;

type Job = Box<dyn FnOnce(&mut Option<Connection>) + Send>;

/// The thread; it is started with the first work and ends with the backend and its writers.
#[derive(Debug)]
pub(crate) struct WriterThread {
    place: Place,
    jobs: Mutex<Option<Sender<Job>>>,
}

impl WriterThread {
    pub(crate) fn new(place: Place) -> Self {
        Self { place, jobs: Mutex::default() }
    }
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Does work on the connection, which is opened when there is none. It is carried through even if the caller
    /// stops waiting.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection, &Place) -> Result<T, PersistenceError> + Send + 'static,
    ) -> Result<T, PersistenceError> {
        let (reply, answer) = oneshot::channel();
        let place = self.place.clone();
        self.submit(Box::new(move |kept| {
            let connection = match kept.take() {
                Some(connection) => Ok(connection),
                None => place.writer(),
            };
            let result = connection.and_then(|connection| work(kept.insert(connection), &place));
            drop(reply.send(result)); // nobody may wait any more
        }))?;
        answer.await.unwrap_or_else(|_| Err(stopped("it panicked")))
    }

    fn submit(&self, job: Job) -> Result<(), PersistenceError> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match jobs.take() {
            None => job,
            Some(sender) => match sender.send(job) {
                Ok(()) => {
                    *jobs = Some(sender);
                    return Ok(());
                }
                // It ended by a panic: a new one takes over, with a new connection.
                Err(refused) => refused.0,
            },
        };
        let (sender, given) = channel::<Job>();
        let work = move || {
            let mut connection = None;
            while let Ok(job) = given.recv() {
                job(&mut connection);
            }
        };
        let thread = std::thread::Builder::new().name("harness-sqlite".into());
        thread.spawn(work).map_err(|error| stopped(&error.to_string()))?;
        sender.send(job).map_err(|_| stopped("it ended at once"))?;
        *jobs = Some(sender);
        Ok(())
    }
}

fn stopped(why: &str) -> PersistenceError {
    PersistenceError::Backend(format!("the thread that writes the sessions has stopped: {why}").into())
}
