//! One run from start to facts.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::error::ProcessError;
use crate::exit::ExitWatch;
use crate::launch::{Launched, launch};
use crate::leader::{Leader, OwnedTree};
use crate::live::LiveOutput;
use crate::outcome::{OutputStream, ProcessOutcome};
use crate::pump::Pump;
use crate::registry::Registration;
use crate::spec::{Capture, DrainLimits, Leftover, ProcessSpec, Stdin};
use crate::starter::on_lasting_thread;
use crate::stdin::StdinWriter;
use crate::stream::StreamReader;
use crate::terminate::Descendants;

/// Bound on reading what was in the pipes when the process ended; only a spill disk that hangs can reach it.
const OWED_PATIENCE: Duration = Duration::from_secs(5);

/// How long a start that nobody wants any more may take to answer; only a file system that hangs reaches it.
const START_PATIENCE: Duration = Duration::from_secs(5);

/// Runs a process to its end and returns the facts.
///
/// Waits for the process, not for its pipes: a background child that keeps stdout open delays the result by
/// [`DrainLimits`] at most, and is then killed unless the specification says otherwise. The deadline and `cancel`
/// end the whole tree. Dropping the future kills it at once.
///
/// # Errors
/// Only if the process could not be started or cannot be ended; see [`ProcessError`].
///
/// # Panics
/// Outside a Tokio runtime with IO and time enabled.
pub async fn run(spec: ProcessSpec, cancel: CancellationToken) -> Result<ProcessOutcome, ProcessError> {
    if cancel.is_cancelled() {
        return Err(ProcessError::CancelledBeforeStart);
    }
    let begun = Instant::now();
    let deadline = spec.timeout.and_then(|timeout| begun.checked_add(timeout));
    let registration = Registration::new(spec.kill_grace);
    let stop = End::of(&cancel, registration.stop(), deadline);
    let mut stop = pin!(stop);

    let spec = Arc::new(spec);
    let abandoned = CancellationToken::new();
    let _abandoned_with_this_future = abandoned.clone().drop_guard();
    let mut start = pin!(Running::start(&spec, &abandoned));
    let (started, stopped) = tokio::select! {
        biased;
        started = &mut start => (started, None),
        end = &mut stop => {
            // The process may be running by now. Only the starting thread knows, so its answer decides.
            abandoned.cancel();
            let started = tokio::time::timeout(START_PATIENCE, start).await;
            (started.unwrap_or_else(|_| Err(spec.start_timed_out(begun.elapsed()))), Some(end))
        }
    };
    let mut running = match (started, stopped) {
        (Err(ProcessError::CancelledBeforeStart), Some(End::TimedOut)) => {
            return Err(spec.start_timed_out(begun.elapsed()));
        }
        (started, _) => started?,
    };
    registration.attach(running.leader());

    let end = loop {
        if let Some(end) = stopped {
            break end;
        }
        tokio::select! {
            biased;
            () = running.exit.wait() => break End::Exited,
            end = &mut stop => break end,
            () = running.pump.step() => {}
        }
    };
    let mut descendants = Descendants::default();
    if end != End::Exited {
        descendants = running.terminate(spec.kill_grace).await;
    }
    running.drain(spec.drain).await;
    let status = running.collect_status()?;
    if running.leader().group_remains() || !running.pump.outputs_finished() {
        let rest = match spec.leftover {
            Leftover::Leave if end == End::Exited => running.look_for_descendants().await,
            Leftover::Kill | Leftover::Leave => running.terminate(spec.kill_grace).await,
        };
        descendants = Descendants { killed: descendants.killed || rest.killed, left: rest.left };
    }
    running.tree.disarm();
    let (stdin, stdout, stderr) = running.pump.finish().await;
    Ok(ProcessOutcome {
        exit_code: status.code(),
        signal: status.signal(),
        timed_out: end == End::TimedOut,
        cancelled: end == End::Cancelled,
        descendants_killed: descendants.killed,
        descendants_left: descendants.left,
        duration: begun.elapsed(),
        stdin,
        stdout,
        stderr,
    })
}

/// What ended the wait for the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Exited,
    TimedOut,
    Cancelled,
}

impl End {
    /// Resolves to whichever of cancellation and deadline comes first.
    async fn of(cancel: &CancellationToken, shutdown: &CancellationToken, deadline: Option<Instant>) -> Self {
        let deadline = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Self::Cancelled,
            () = shutdown.cancelled() => Self::Cancelled,
            () = deadline => Self::TimedOut,
        }
    }
}

/// A started process with all that belongs to it.
pub(crate) struct Running {
    pub(crate) tree: OwnedTree,
    pub(crate) exit: ExitWatch,
    pub(crate) pump: Pump,
}

impl Running {
    async fn start(spec: &Arc<ProcessSpec>, abandoned: &CancellationToken) -> Result<Self, ProcessError> {
        let (for_thread, abandoned) = (Arc::clone(spec), abandoned.clone());
        let failed = |source| ProcessError::Start { program: spec.program.clone(), source };
        let launched = on_lasting_thread(move || launch(&for_thread, &abandoned)).await.map_err(failed)??;
        Self::attend(launched, spec).map_err(failed)
    }

    fn attend(launched: Launched, spec: &ProcessSpec) -> io::Result<Self> {
        let Launched { tree, stdin, stdout, stderr } = launched;
        let reader = |pipe, stream| {
            StreamReader::new(
                pipe,
                spec.limits,
                spec.spill.clone(),
                LiveOutput::new(stream, spec.live.clone()),
            )
        };
        let stdout_is = match spec.capture {
            Capture::Merged => OutputStream::Merged,
            Capture::Separate => OutputStream::Stdout,
        };
        let stdin = match (&spec.stdin, stdin) {
            (Stdin::Bytes(bytes), Some(pipe)) => Some(StdinWriter::new(pipe, bytes.clone())?),
            _ => None,
        };
        let stdout = reader(stdout, stdout_is)?;
        let stderr = stderr.map(|pipe| reader(pipe, OutputStream::Stderr)).transpose()?;
        let exit = ExitWatch::new(tree.leader().pid())?;
        Ok(Self { tree, exit, pump: Pump { stdin, stdout, stderr } })
    }

    pub(crate) fn leader(&self) -> &Arc<Leader> {
        self.tree.leader()
    }

    /// Reads what the ended process left in the pipes, and a little longer while others keep them open.
    async fn drain(&mut self, limits: DrainLimits) {
        self.pump.close_stdin();
        self.pump.begin_drain();
        let begun = Instant::now();
        let mut idle_end = begun + limits.idle;
        while !self.pump.outputs_finished() {
            let owed = self.pump.owed();
            let until = if owed { begun + OWED_PATIENCE } else { idle_end.min(begun + limits.total) };
            if !owed && Instant::now() >= begun + limits.total {
                break;
            }
            tokio::select! {
                biased;
                () = self.pump.step() => idle_end = Instant::now() + limits.idle,
                () = sleep_until(until) => break,
            }
        }
    }

    fn collect_status(&self) -> Result<ExitStatus, ProcessError> {
        let pid = self.leader().pid().as_raw_pid();
        match self.leader().try_reap() {
            Ok(Some(status)) => Ok(status),
            Ok(None) => Err(ProcessError::Unkillable { pid }),
            Err(source) => Err(ProcessError::StatusLost { pid, source }),
        }
    }
}
