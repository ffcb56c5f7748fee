//! The way of every Unix: the standard library forks.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::Pid;

use super::Streams;
use crate::spec::ProcessSpec;

/// Starts the process. The caller reaps it.
pub(crate) fn spawn(spec: &ProcessSpec, streams: Streams) -> io::Result<Pid> {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).current_dir(&spec.cwd).env_clear();
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    command.stdin(streams.stdin).stdout(streams.stdout).stderr(streams.stderr);
    lead_a_session(&mut command);
    Ok(Pid::from_child(&command.spawn()?))
}

#[expect(unsafe_code, reason = "`pre_exec` is the only way to run setsid(2) in the child")]
fn lead_a_session(command: &mut Command) {
    // SAFETY: after fork only async-signal-safe operations are allowed. The closure makes one plain system call
    // through rustix; it takes no lock, allocates nothing (an errno converts to `io::Error` without allocation),
    // touches no memory shared with the parent, and cannot panic.
    unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) };
}
