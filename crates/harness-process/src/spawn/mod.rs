//! Starts a process as the leader of a session of its own, which the kernel kills when this program dies.
//!
//! Linux goes by [`vfork`](linux): a plain fork copies the page tables of the program, and the program then pays
//! for every page that it writes. Elsewhere the standard library forks.

use std::os::fd::OwnedFd;

#[cfg(target_os = "linux")]
mod arguments;
#[cfg(not(target_os = "linux"))]
mod fork;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use fork::spawn;
#[cfg(target_os = "linux")]
pub(crate) use linux::spawn;

/// What the process gets as its standard streams.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}
