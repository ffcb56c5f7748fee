//! Moves bytes between a process and the caller, all streams at once.

use crate::outcome::{CapturedOutput, StdinOutcome};
use crate::stdin::StdinWriter;
use crate::stream::StreamReader;

pub(crate) struct Pump {
    pub(crate) stdin: Option<StdinWriter>,
    pub(crate) stdout: StreamReader,
    pub(crate) stderr: Option<StreamReader>,
}

impl Pump {
    /// Makes progress on one stream; never returns when none is left. Cancel safe.
    pub(crate) async fn step(&mut self) {
        let Self { stdin, stdout, stderr } = self;
        tokio::select! {
            Some(()) = step_stdin(stdin) => {}
            Some(()) = step_output(Some(stdout)) => {}
            Some(()) = step_output(stderr.as_mut()) => {}
            else => std::future::pending().await,
        }
    }

    /// The process has ended: what it did not read is not needed any more.
    pub(crate) fn close_stdin(&mut self) {
        if let Some(stdin) = &mut self.stdin {
            stdin.close();
        }
    }

    pub(crate) fn begin_drain(&mut self) {
        self.stdout.begin_drain();
        if let Some(stderr) = &mut self.stderr {
            stderr.begin_drain();
        }
    }

    pub(crate) fn owed(&self) -> bool {
        self.stdout.owed() || self.stderr.as_ref().is_some_and(StreamReader::owed)
    }

    pub(crate) fn outputs_finished(&self) -> bool {
        self.stdout.finished() && self.stderr.as_ref().is_none_or(StreamReader::finished)
    }

    pub(crate) async fn finish(self) -> (StdinOutcome, CapturedOutput, Option<CapturedOutput>) {
        let stdin = self.stdin.map(|stdin| stdin.outcome()).unwrap_or_default();
        let stdout = self.stdout.finish().await;
        let stderr = match self.stderr {
            Some(stderr) => Some(stderr.finish().await),
            None => None,
        };
        (stdin, stdout, stderr)
    }
}

async fn step_stdin(stdin: &mut Option<StdinWriter>) -> Option<()> {
    let stdin = stdin.as_mut().filter(|stdin| !stdin.finished())?;
    stdin.step().await;
    Some(())
}

async fn step_output(output: Option<&mut StreamReader>) -> Option<()> {
    let output = output.filter(|output| !output.finished())?;
    output.step().await;
    Some(())
}
