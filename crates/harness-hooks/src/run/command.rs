//! Programs.
use std::ffi::OsString;
use std::time::Duration;

use harness_process::{Leftover, OutputLimits, ProcessError, ProcessOutcome, ProcessSpec};

use super::{Attempt, Job};
use crate::codec::{Ended, decode};
use crate::fault::{Fault, FaultKind};
use crate::handler::CommandHandler;
use crate::place::Place;

/// Most bytes that are read of each stream: an answer is small.
const CAP: usize = 1024 * 1024;

/// Runs a command handler.
pub(crate) async fn run(job: Job<'_>, handler: &CommandHandler) -> Attempt {
    let origin = &job.entry.origin;
    let command = job.place.substitute(origin, &handler.command);
    let (program, args) = match &handler.args {
        Some(args) => {
            let args = args.iter().map(|arg| job.place.substitute(origin, arg).into()).collect();
            (OsString::from(command), args)
        }
        None => shell(job.place, handler.shell.as_deref(), command),
    };
    let env = handler.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    execute(job, program, args, env).await
}

/// Runs the runner program of a proxy: the payload on stdin, the task in `HOOK_PROMPT`.
pub(crate) async fn run_as_proxy(job: Job<'_>, command: &str, prompt: &str) -> Attempt {
    let (program, args) = shell(job.place, None, job.place.substitute(&job.entry.origin, command));
    execute(job, program, args, vec![("HOOK_PROMPT".into(), prompt.into())]).await
}

/// Bash where there is one: people write `[[ … ]]`, which other shells do not know.
fn shell(place: &Place, wanted: Option<&str>, command: String) -> (OsString, Vec<OsString>) {
    match wanted {
        Some("powershell") => ("pwsh".into(), vec!["-NoProfile".into(), "-Command".into(), command.into()]),
        Some(other) if other != "bash" => (other.into(), vec!["-c".into(), command.into()]),
        _ => {
            let shell = place.program("bash").map_or_else(|| "/bin/sh".into(), OsString::from);
            (shell, vec!["-c".into(), command.into()])
        }
    }
}

async fn execute(
    job: Job<'_>,
    program: OsString,
    args: Vec<OsString>,
    more: Vec<(OsString, OsString)>,
) -> Attempt {
    let mut env = job.place.environment(&job.entry.origin);
    env.extend(more);
    let stdin = format!("{}\n", job.text);
    let mut spec = ProcessSpec::new(program, job.place.folder()).args(args).env(env).stdin(stdin);
    spec.timeout = Some(job.limit);
    // Nobody waits for a hook that is out of time to tidy up.
    spec.kill_grace = Duration::from_millis(100);
    spec.limits = OutputLimits { head_bytes: CAP, tail_bytes: 0 };
    // Hooks start things that are meant to go on, such as a sound or a server.
    spec.leftover = Leftover::Leave;
    finish(job, harness_process::run(spec, job.cancel.clone()).await)
}

fn finish(job: Job<'_>, seen: Result<ProcessOutcome, ProcessError>) -> Attempt {
    let outcome = match seen {
        Ok(outcome) => outcome,
        Err(ProcessError::CancelledBeforeStart) => {
            return Attempt::of(Err(Fault::new(FaultKind::Cancelled, "cancelled before it was started")));
        }
        Err(error) => return Attempt::of(Err(Fault::new(FaultKind::Start, error.to_string()))),
    };
    let flooded = outcome.stdout.truncated();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let stdout = text(&outcome.stdout.kept.head);
    let stderr = outcome.stderr.as_ref().map(|stream| text(&stream.kept.head)).unwrap_or_default();
    let result = if outcome.cancelled {
        Err(Fault::new(FaultKind::Cancelled, "cancelled; it was killed"))
    } else if outcome.timed_out {
        let message = format!("no answer within {} s; it was killed", job.limit.as_secs_f64());
        Err(Fault::new(FaultKind::Timeout, message))
    } else if let Some(code) = outcome.exit_code {
        if flooded && code != 2 {
            let message =
                format!("it printed {} bytes; an answer has at most {CAP}", outcome.stdout.total_bytes());
            Err(Fault::new(FaultKind::Flood, message))
        } else {
            decode(
                job.event,
                job.reading,
                Ended { code, stdout: if flooded { "" } else { &stdout }, stderr: &stderr },
            )
        }
    } else {
        let message = format!("signal {} ended it", outcome.signal.unwrap_or_default());
        Err(Fault::new(FaultKind::Signal, message))
    };
    Attempt { exit_code: outcome.exit_code, stdout, stderr, result, left_behind: outcome.descendants_left }
}
