//! The only unsafe code of the workspace's process handling: what happens between fork and exec.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Gives the child a session of its own (so it leads its own process group and has no controlling terminal) and,
/// on Linux, makes the kernel kill it when the thread that starts it ends, that is, when this process dies.
///
/// Linux ties the signal to the starting *thread* (prctl(2), `PR_SET_PDEATHSIG`): call this only on a thread that
/// lives as long as the process.
#[expect(unsafe_code, reason = "`pre_exec` is the only way to run setsid(2) and prctl(2) in the child")]
pub(crate) fn detach(command: &mut Command) {
    #[cfg(target_os = "linux")]
    let parent = rustix::process::getpid();
    let in_child = move || {
        rustix::process::setsid()?;
        #[cfg(target_os = "linux")]
        {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            // The parent may have died before the line above: then no signal will ever come.
            if rustix::process::getppid() != Some(parent) {
                return Err(rustix::io::Errno::SRCH.into());
            }
        }
        Ok(())
    };
    // SAFETY: after fork only async-signal-safe operations are allowed. The closure makes plain system calls
    // through rustix; it takes no lock, allocates nothing (an errno converts to `io::Error` without allocation),
    // touches no memory shared with the parent, and cannot panic.
    unsafe { command.pre_exec(in_child) };
}
