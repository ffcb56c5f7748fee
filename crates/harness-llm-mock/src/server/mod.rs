//! The server: accepts, answers, and tells its owner what came.

mod answer;
mod player;
mod stream_flag;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::error::MockError;
use crate::gates::Gates;
use crate::http::Limits;
use crate::ledger::{Ledger, reach};
use crate::queue::ReplyQueue;
use crate::recorded::RecordedRequest;
use crate::script::Script;

const HEAD_LIMIT: usize = 64 * 1024;
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// How the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The port on 127.0.0.1; 0, the default, takes any free one.
    pub port: u16,
    /// Which requests are kept. Default: all.
    pub recording: Recording,
    /// Largest request body in bytes. Default 64 MiB.
    pub max_body: usize,
}

/// Which requests a server keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Recording {
    /// All of them. A long session's requests grow with its history, and so does the memory.
    #[default]
    All,
    /// The last ones, this many.
    Last(usize),
}

impl Default for Options {
    fn default() -> Self {
        Self { port: 0, recording: Recording::default(), max_body: 64 * 1024 * 1024 }
    }
}

/// What the connections share with the owner of the server.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) model: String,
    pub(crate) context_window: Option<u64>,
    pub(crate) queue: Mutex<ReplyQueue>,
    pub(crate) model_requests: Ledger,
    pub(crate) other_requests: Ledger,
    pub(crate) gates: Gates,
    pub(crate) disconnects: watch::Sender<usize>,
    pub(crate) limits: Limits,
}

/// A running server on 127.0.0.1. Dropping it ends all connections.
#[derive(Debug)]
pub struct MockServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl MockServer {
    /// Starts a server inside the current tokio runtime.
    ///
    /// # Errors
    /// [`MockError::Bind`] if the port is taken, [`MockError::Reply`] if a reply cannot be sent.
    pub async fn start(script: Script, options: Options) -> Result<Self, MockError> {
        script.check()?;
        let bind_fault = |source| MockError::Bind { port: options.port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await.map_err(bind_fault)?;
        let address = listener.local_addr().map_err(bind_fault)?;
        let kept = match options.recording {
            Recording::All => usize::MAX,
            Recording::Last(count) => count,
        };
        let shared = Arc::new(Shared {
            model: script.model.clone(),
            context_window: script.context_window,
            queue: Mutex::new(ReplyQueue::new(script)),
            model_requests: Ledger::new(kept),
            other_requests: Ledger::new(kept),
            gates: Gates::default(),
            disconnects: watch::Sender::new(0),
            limits: Limits { head: HEAD_LIMIT, body: options.max_body },
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, accepting })
    }

    /// `http://127.0.0.1:PORT`. Requests go to `/v1/chat/completions` or `/chat/completions` below
    /// it, so both this and this with `/v1` serve as the base URL of a client.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The model requests so far, oldest first, each of them whole.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.model_requests.all()
    }

    /// All other requests so far: the model list, and paths that do not exist.
    pub fn other_requests(&self) -> Vec<RecordedRequest> {
        self.shared.other_requests.all()
    }

    /// Waits until `count` model requests have arrived whole.
    pub async fn wait_for_requests(&self, count: usize) {
        self.shared.model_requests.wait_for(count).await;
    }

    /// Waits until a reply has come to this gate and all bytes before it are sent.
    pub async fn wait_for_gate(&self, name: &str) {
        self.shared.gates.reached(name).await;
    }

    /// Waits until `count` replies have been broken off because their client went away.
    pub async fn wait_for_disconnects(&self, count: usize) {
        reach(&self.shared.disconnects, count).await;
    }

    /// Lets all replies pass this gate, now and later.
    pub fn release(&self, gate: &str) {
        self.shared.gates.release(gate);
    }

    /// Ends the server and all its connections, and waits until they are gone.
    pub async fn shutdown(mut self) {
        self.accepting.abort();
        // The only way to fail is the abort just asked for.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Accepts until aborted; the connections end with this task.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(answer::serve(stream, Arc::clone(&shared)));
                }
                // Out of file descriptors, most likely: others may be given back meanwhile.
                Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
