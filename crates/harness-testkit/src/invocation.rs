//! One run of the program.
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::wait::{HANG, wait_until};

/// What the program finds on standard input.
#[derive(Debug)]
pub enum Input {
    /// The null device.
    Null,
    /// A file, pipe or other open thing.
    Open(std::fs::File),
}

/// A run that is about to start. Its environment holds nothing but what is set here.
#[derive(Debug)]
pub struct Invocation {
    program: PathBuf,
    args: Vec<OsString>,
    environment: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    input: Input,
    stdout_limit: usize,
    at_limit: AtLimit,
}

/// What the reader of standard output does after its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtLimit {
    Close,
    Stop,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// How long it took.
    pub elapsed: Duration,
}

impl Invocation {
    pub(crate) fn new(program: &Path, cwd: &Path) -> Self {
        Self {
            program: program.to_owned(),
            args: Vec::new(),
            environment: BTreeMap::new(),
            cwd: cwd.to_owned(),
            input: Input::Null,
            stdout_limit: usize::MAX,
            at_limit: AtLimit::Close,
        }
    }
    /// Closes standard output after so many bytes, as `head -c` would.
    #[must_use]
    pub fn stdout_limit(mut self, bytes: usize) -> Self {
        self.stdout_limit = bytes;
        self
    }
    /// Reads so many bytes of standard output and no more, as a pager does that waits for a key.
    #[must_use]
    pub fn stdout_stopped_after(mut self, bytes: usize) -> Self {
        self.stdout_limit = bytes;
        self.at_limit = AtLimit::Stop;
        self
    }
    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }
    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.insert(name.into(), value.as_ref().to_owned());
        self
    }
    /// Takes a variable away.
    #[must_use]
    pub fn env_remove(mut self, name: &str) -> Self {
        self.environment.remove(OsStr::new(name));
        self
    }
    /// Sets the folder that it starts in.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }
    /// Sets standard input.
    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }
    /// Starts it from a shell that does something before and then becomes the program.
    #[must_use]
    pub fn after_shell(mut self, script: &str) -> Self {
        let program = std::mem::replace(&mut self.program, "/bin/sh".into());
        let script = format!("{script}\nexec \"$0\" \"$@\"");
        self.args.splice(0..0, ["-c".into(), script.into(), program.into()]);
        self
    }
    /// Starts it.
    pub fn start(self) -> Started {
        let input = match self.input {
            Input::Null => Stdio::null(),
            Input::Open(file) => file.into(),
        };
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .envs(&self.environment)
            .current_dir(&self.cwd)
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stdout = Reader::start(child.stdout.take().unwrap(), self.stdout_limit, self.at_limit);
        let stderr = Reader::start(child.stderr.take().unwrap(), usize::MAX, AtLimit::Close);
        Started { child, stdout: Some(stdout), stderr: Some(stderr), since: Instant::now() }
    }
    /// Starts it and waits for its end.
    pub fn run(self) -> Finished {
        self.start().wait()
    }
}

/// Collects what a pipe says while the program runs.
#[derive(Debug)]
struct Reader {
    text: Arc<Mutex<Vec<u8>>>,
    /// Gives back the pipe if it stopped reading: that keeps it open.
    thread: JoinHandle<Option<Box<dyn Read + Send>>>,
}
impl Reader {
    fn start(mut from: impl Read + Send + 'static, limit: usize, at_limit: AtLimit) -> Self {
        let text: Arc<Mutex<Vec<u8>>> = Arc::default();
        let shared = Arc::clone(&text);
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            loop {
                let room = limit.saturating_sub(shared.lock().unwrap().len()).min(buffer.len());
                match from.read(&mut buffer[..room]).unwrap() {
                    0 if room == 0 && at_limit == AtLimit::Stop => {
                        return Some(Box::new(from) as Box<dyn Read + Send>);
                    }
                    0 => return None,
                    count => shared.lock().unwrap().extend(&buffer[..count]),
                }
            }
        });
        Self { text, thread }
    }
    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }
    fn end(self) -> String {
        self.thread.join().unwrap();
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }
}

/// A run that has started. Dropping it kills it.
#[derive(Debug)]
pub struct Started {
    child: Child,
    stdout: Option<Reader>,
    stderr: Option<Reader>,
    since: Instant,
}

impl Started {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
    /// The first line of standard output, once it is there.
    pub fn stdout_line(&self) -> Option<String> {
        let text = self.stdout.as_ref()?.so_far();
        text.split_once('\n').map(|(line, _)| line.to_owned())
    }
    /// Standard error up to now.
    pub fn stderr_so_far(&self) -> String {
        self.stderr.as_ref().map(Reader::so_far).unwrap_or_default()
    }
    /// Whether standard output was closed by its limit.
    pub fn stdout_closed(&self) -> bool {
        self.stdout.as_ref().is_none_or(|reader| reader.thread.is_finished())
    }
    /// Sends it a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }
    /// Ends it at once, as a crash would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
    /// Waits for its end.
    ///
    /// # Panics
    /// If it hangs.
    pub fn wait(mut self) -> Finished {
        let status = wait_until("the program ends", || self.child.try_wait().unwrap());
        let elapsed = self.since.elapsed();
        assert!(elapsed < HANG);
        // A process that outlives the program could hold the pipes open; that is for the test to notice.
        let stdout = self.stdout.take().unwrap().end();
        let stderr = self.stderr.take().unwrap().end();
        Finished { code: status.code(), stdout, stderr, elapsed }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Already ended is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
