//! clone(2) with `CLONE_VM | CLONE_VFORK`, as `posix_spawn(3)` does it, plus what that cannot: the parent-death signal.
//!
//! The child runs on a stack of its own in this program's memory while the calling thread is suspended, until it
//! becomes the new program or gives up. So it must not allocate, lock or panic, and no handler of this program may
//! run in it.

use std::ffi::{CString, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::Pid;

use super::Streams;
use super::arguments::{Strings, arguments, by_shell, candidates, environment};
use crate::spec::ProcessSpec;

/// Bytes of the child's stack. It calls a few system calls and nothing deep.
const STACK: usize = 64 << 10;

/// Starts the process. The caller reaps it.
///
/// Linux ties the parent-death signal to the starting *thread* (prctl(2), `PR_SET_PDEATHSIG`): call this only on a
/// thread that lives as long as the program.
pub(crate) fn spawn(spec: &ProcessSpec, streams: Streams) -> io::Result<Pid> {
    let args = arguments(&spec.program, &spec.args)?;
    let files = candidates(&spec.program, &spec.env)?
        .into_iter()
        .map(|path| File { by_shell: Strings::new(by_shell(&path, &args)), path });
    let plan = Plan {
        parent: rustix::process::getpid().as_raw_pid(),
        streams: [
            above_the_standard(streams.stdin)?,
            above_the_standard(streams.stdout)?,
            above_the_standard(streams.stderr)?,
        ],
        cwd: CString::new(std::os::unix::ffi::OsStrExt::as_bytes(spec.cwd.as_os_str()))?,
        files: files.collect(),
        args: Strings::new(args),
        env: Strings::new(environment(&spec.env)?),
        failed: AtomicI32::new(0),
    };
    plan.start()
}

/// A stream that lies on the number of another one would be overwritten before it is put in place.
fn above_the_standard(stream: OwnedFd) -> io::Result<OwnedFd> {
    Ok(if stream.as_raw_fd() > 2 { stream } else { rustix::io::fcntl_dupfd_cloexec(&stream, 3)? })
}

struct File {
    path: CString,
    by_shell: Strings,
}

/// All that the child needs, made before it exists.
struct Plan {
    parent: RawFd,
    streams: [OwnedFd; 3],
    cwd: CString,
    files: Vec<File>,
    args: Strings,
    env: Strings,
    /// The number of the error that ended the child; 0 if it became the program.
    failed: AtomicI32,
}

#[expect(
    unsafe_code,
    reason = "the standard library has no way to set the parent-death signal without a fork"
)]
impl Plan {
    fn start(&self) -> io::Result<Pid> {
        let mut stack = vec![MaybeUninit::<u128>::uninit(); STACK / size_of::<u128>()];
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the signal sets are written before they are read. The stack is large enough, aligned, and
        // outlives the child's use of it, because CLONE_VFORK suspends this thread until the child has become
        // another program or has ended. `child` is given this plan, which lives as long. All signals are blocked
        // meanwhile, so that no handler runs in the child before the child has taken them off.
        let pid = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
            let top = stack.as_mut_ptr_range().end.cast::<c_void>();
            let pid = libc::clone(child, top, flags, std::ptr::from_ref(self).cast_mut().cast());
            let error = io::Error::last_os_error();
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
            if pid == -1 {
                return Err(error);
            }
            pid
        };
        let failed = self.failed.load(Ordering::Relaxed);
        if failed != 0 {
            // SAFETY: `pid` is our child, has ended, and is not waited for elsewhere.
            unsafe { libc::waitpid(pid, null_mut(), 0) };
            return Err(io::Error::from_raw_os_error(failed));
        }
        Pid::from_raw(pid).ok_or_else(|| io::Error::other("clone(2) gave no process number"))
    }

    /// Becomes the program. Returns only if that failed, with the number of the error.
    ///
    /// # Safety
    /// Only in a child made by [`Plan::start`]: it changes the directory, the streams and the signals of the process.
    unsafe fn become_program(&self) -> c_int {
        // SAFETY: system calls and their libc wrappers that are async-signal-safe, on data that is laid out already.
        unsafe {
            if libc::setsid() == -1 || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == -1 {
                return errno();
            }
            // The parent may have died before the signal was set: then it will never come.
            if libc::getppid() != self.parent {
                return libc::ESRCH;
            }
            for (target, stream) in (0..).zip(&self.streams) {
                if libc::dup2(stream.as_raw_fd(), target) == -1 {
                    return errno();
                }
            }
            if libc::chdir(self.cwd.as_ptr()) == -1 {
                return errno();
            }
            default_signals();
            self.execute()
        }
    }

    /// Tries each file as execvp(3) does: one that may not be run is remembered, but does not end the search.
    unsafe fn execute(&self) -> c_int {
        let mut worst = libc::ENOENT;
        for file in &self.files {
            // SAFETY: null-terminated strings and lists, owned by this plan.
            let error = unsafe {
                libc::execve(file.path.as_ptr(), self.args.as_ptr(), self.env.as_ptr());
                if errno() == libc::ENOEXEC {
                    libc::execve(c"/bin/sh".as_ptr(), file.by_shell.as_ptr(), self.env.as_ptr());
                }
                errno()
            };
            match error {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => worst = error,
                _ => return error,
            }
        }
        worst
    }
}

#[expect(unsafe_code, reason = "runs between clone and exec")]
extern "C" fn child(plan: *mut c_void) -> c_int {
    // SAFETY: `Plan::start` passes itself and waits; this is the child that it made.
    unsafe {
        let plan = &*plan.cast::<Plan>();
        plan.failed.store(plan.become_program(), Ordering::Relaxed);
    }
    127
}

/// Takes off every handler, lets SIGPIPE end the program again (the Rust runtime ignores it), and unblocks all.
///
/// # Safety
/// Only in the child.
#[expect(unsafe_code, reason = "runs between clone and exec")]
unsafe fn default_signals() {
    // SAFETY: the structures are written before they are read; numbers that are no signals are refused by the kernel.
    unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        for signal in 1..=libc::SIGRTMAX() {
            let known = libc::sigaction(signal, null(), &raw mut action) == 0;
            let handled = action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN;
            if known && (handled || signal == libc::SIGPIPE) {
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const action, null_mut());
            }
        }
        let mut none = MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), null_mut());
    }
}

/// The number of the last error; reads it and allocates nothing.
fn errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
