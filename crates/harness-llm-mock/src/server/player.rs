//! Plays a plan to a client.

use std::io;
use std::time::Duration;

use crate::gates::Gates;
use crate::http::{Connection, Framing, chunk, end_of_chunks, head};
use crate::plan::{Action, Plan, estimated_usage};
use crate::reply::End;
use crate::step::Drip;

/// Largest chunk of the HTTP framing.
const CHUNK: usize = 16 * 1024;
/// What is collected before it is written, if nothing asks for a write earlier.
const WRITE: usize = 64 * 1024;

/// What a reply needs to know of its request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cue<'a> {
    pub(crate) request: usize,
    pub(crate) prompt_bytes: usize,
    pub(crate) is_http11: bool,
    pub(crate) keep_alive: bool,
    pub(crate) gates: &'a Gates,
}

/// What becomes of the connection after a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    KeepAlive,
    Close,
    Reset,
}

/// Sends the reply.
///
/// # Errors
/// If the client goes away before the reply is over.
pub(crate) async fn play(connection: &mut Connection, plan: &Plan, cue: Cue<'_>) -> io::Result<After> {
    let framing = match (&plan.whole, cue.is_http11) {
        (Some(body), _) => Framing::Length(body.len()),
        (None, true) => Framing::Chunked,
        (None, false) => Framing::UntilClose,
    };
    let keep_alive = cue.keep_alive && matches!(plan.end, End::Done | End::WithoutDone | End::Eof);
    let mut response_head = Vec::new();
    let mut headers = plan.headers.clone();
    headers.push(("x-request-id".to_owned(), format!("mock-{}", cue.request)));
    head(&mut response_head, plan.status, &headers, framing, keep_alive);
    let mut player = Player { connection, framing, head: Some(response_head), out: Vec::new(), drip: None };

    for action in &plan.actions {
        match action {
            Action::Body(bytes) => player.body(bytes).await?,
            Action::EstimatedUsage { completion_bytes } => {
                let usage = estimated_usage(plan, cue.prompt_bytes, *completion_bytes);
                player.body(&usage).await?;
            }
            Action::Head => player.head(),
            Action::Pause(length) => player.wait(tokio::time::sleep(*length)).await?,
            Action::Gate(name) => player.wait(cue.gates.pass(name)).await?,
            Action::Stall => player.wait(std::future::pending()).await?,
            Action::Drip(pace) => player.drip = Some(*pace),
        }
    }
    player.end(plan.end, plan.whole.as_deref()).await?;
    Ok(match plan.end {
        End::Reset => After::Reset,
        _ if keep_alive => After::KeepAlive,
        _ => After::Close,
    })
}

struct Player<'a> {
    connection: &'a mut Connection,
    framing: Framing,
    /// The response head, until it is sent.
    head: Option<Vec<u8>>,
    /// What will be written next.
    out: Vec<u8>,
    drip: Option<Drip>,
}

impl Player<'_> {
    fn head(&mut self) {
        self.out.extend(self.head.take().unwrap_or_default());
    }

    async fn body(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.head();
        if let Some(pace) = self.drip {
            for part in bytes.chunks(pace.bytes) {
                chunk(&mut self.out, self.framing, part);
                self.wait(tokio::time::sleep(Duration::from_millis(pace.every_ms))).await?;
            }
            return Ok(());
        }
        for part in bytes.chunks(CHUNK) {
            chunk(&mut self.out, self.framing, part);
            if self.out.len() >= WRITE {
                self.flush().await?;
            }
        }
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.connection.write(&self.out).await?;
        self.out.clear();
        Ok(())
    }

    /// Sends what there is, then waits for `event`.
    async fn wait(&mut self, event: impl Future<Output = ()>) -> io::Result<()> {
        self.flush().await?;
        tokio::select! {
            biased;
            () = event => Ok(()),
            () = self.connection.gone() => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }

    async fn end(&mut self, end: End, whole: Option<&[u8]>) -> io::Result<()> {
        if matches!(end, End::Done | End::WithoutDone | End::Eof) {
            self.head();
            chunk(&mut self.out, self.framing, whole.unwrap_or_default());
            end_of_chunks(&mut self.out, self.framing);
        }
        self.flush().await
    }
}
