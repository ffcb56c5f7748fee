//! Waits for a process to end, without reaping it: its number stays ours until everything is cleaned up.

use std::io;

use rustix::process::{Pid, WaitId, WaitIdOptions};
use tokio::sync::oneshot;

/// Tells when a child has ended.
pub(crate) struct ExitWatch {
    source: Source,
    ended: bool,
}

enum Source {
    /// A pidfd becomes readable when its process ends (`pidfd_open(2)`, Linux 5.3).
    #[cfg(target_os = "linux")]
    Pidfd(tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>),
    /// Elsewhere, and on older kernels, a thread waits.
    Thread(oneshot::Receiver<()>),
}

impl ExitWatch {
    /// Needs a runtime with IO enabled.
    pub(crate) fn new(pid: Pid) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Ok(pidfd) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            return Ok(Self { source: Source::Pidfd(register(pidfd)?), ended: false });
        }
        Self::by_thread(pid)
    }

    fn by_thread(pid: Pid) -> io::Result<Self> {
        let (sender, receiver) = oneshot::channel();
        let wait = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(WaitId::Pid(pid), options) {}
            // The run may have been given up; then there is nobody to tell.
            let _ = sender.send(());
        };
        std::thread::Builder::new().name("harness-exit-watch".into()).spawn(wait)?;
        Ok(Self { source: Source::Thread(receiver), ended: false })
    }

    /// Whether [`Self::wait`] has returned.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Returns when the process has ended, at once if that was seen before. Cancel safe.
    pub(crate) async fn wait(&mut self) {
        if self.ended {
            return;
        }
        match &mut self.source {
            #[cfg(target_os = "linux")]
            Source::Pidfd(pidfd) => {
                if let Err(error) = pidfd.readable().await {
                    tracing::warn!(%error, "the runtime stopped watching a process");
                }
            }
            // An error means that the thread is gone, which it is only after the process.
            Source::Thread(receiver) => drop(receiver.await),
        }
        self.ended = true;
    }
}

#[cfg(target_os = "linux")]
#[expect(
    deprecated,
    reason = "an `OwnedFd` cannot break I/O safety, and the replacement would be one more `unsafe`"
)]
fn register(pidfd: std::os::fd::OwnedFd) -> io::Result<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>> {
    tokio::io::unix::AsyncFd::with_interest(pidfd, tokio::io::Interest::READABLE)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[tokio::test]
    async fn both_ways_see_the_end_and_leave_the_status_to_be_collected() {
        for watch in [ExitWatch::new, ExitWatch::by_thread] {
            let mut child = Command::new("/bin/sh").args(["-c", "exit 7"]).spawn().unwrap();
            let mut watch = watch(Pid::from_child(&child)).unwrap();
            watch.wait().await;
            watch.wait().await;
            assert!(watch.ended());
            assert_eq!(child.try_wait().unwrap().and_then(|status| status.code()), Some(7));
        }
    }
}
