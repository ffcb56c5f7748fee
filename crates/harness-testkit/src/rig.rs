//! A throw-away world: a home, a workspace, a scripted model.
use std::fs;
use std::path::{Path, PathBuf};

use harness_llm_mock::{MockServer, Options, Reply, Script};
use harness_session::{Decoder, Event};
use serde_json::Value;

use crate::invocation::{Finished, Invocation};
use crate::story::story;

/// The key that runs are given; it must never be seen anywhere.
pub const KEY: &str = "sk-test-5f0c9a3b7e";

/// The world of one test.
pub struct Rig {
    program: PathBuf,
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    server: MockServer,
}

impl Rig {
    /// A world whose model gives these replies.
    pub fn new(program: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with_script(program, Script::new(replies))
    }
    /// A world with this script.
    pub fn with_script(program: &str, script: Script) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(MockServer::start(script, Options::default())).unwrap();
        let rig = Self { program: program.into(), folder: tempfile::tempdir().unwrap(), runtime, server };
        fs::create_dir_all(rig.workspace()).unwrap();
        fs::create_dir_all(rig.home()).unwrap();
        rig
    }
    /// The folder of the whole world, links resolved.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }
    /// The workspace.
    pub fn workspace(&self) -> PathBuf {
        self.root().join("ws")
    }
    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }
    /// The scripted server.
    pub fn server(&self) -> &MockServer {
        &self.server
    }
    /// Waits for something of the server.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
    /// Puts a file into the workspace.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
    /// Bytes of a file of the workspace.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.workspace().join(name)).unwrap()
    }

    /// A run of any command, in the workspace, with a home and a key.
    pub fn command<A: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Invocation {
        Invocation::new(&self.program, &self.workspace())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home())
            .env("OPENAI_API_KEY", KEY)
            // A script says what each request gets; tests of retries turn them on.
            .env("HARNESS_RETRY_MAX_RETRIES", "0")
            .args(args)
    }
    /// `harness run` against the scripted server, with further arguments.
    pub fn run_with<'a>(&self, task: &str, args: impl IntoIterator<Item = &'a str>) -> Invocation {
        let url = self.server.base_url();
        self.command(["run", task, "--base-url", &url, "--model", "mock-model"]).args(args)
    }
    /// `harness run`, to its end.
    pub fn run(&self, task: &str) -> Finished {
        self.run_with(task, []).run()
    }
    /// `harness run --resume`, to its end.
    pub fn resume(&self, task: &str) -> Finished {
        let id = self.session();
        self.run_with(task, ["--resume", &id]).run()
    }

    /// The body of the nth request, counted from 1, as the model got it.
    pub fn request(&self, n: usize) -> Value {
        let requests = self.server.requests();
        let request =
            requests.get(n - 1).unwrap_or_else(|| panic!("there were only {} requests", requests.len()));
        request.json().unwrap().clone()
    }
    /// Texts of the tool messages of the nth request, oldest first.
    pub fn tool_results(&self, n: usize) -> Vec<String> {
        let request = self.request(n);
        let messages = request["messages"].as_array().unwrap().iter();
        let tool = messages.filter(|message| message["role"] == "tool");
        tool.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    }
    /// The text of the last tool message of the nth request.
    pub fn tool_result(&self, n: usize) -> String {
        self.tool_results(n).pop().expect("the request has a tool message")
    }

    /// The folder with all sessions.
    pub fn sessions(&self) -> PathBuf {
        self.home().join(".local/state/harness/sessions")
    }
    /// Ids of the stored sessions.
    pub fn session_ids(&self) -> Vec<String> {
        let entries = fs::read_dir(self.sessions()).into_iter().flatten().flatten();
        let mut ids: Vec<String> = entries
            .filter(|entry| entry.path().join("log.jsonl").exists())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        ids.sort();
        ids
    }
    /// Id of the only session.
    pub fn session(&self) -> String {
        let ids = self.session_ids();
        assert_eq!(ids.len(), 1, "there is one session: {ids:?}");
        ids.into_iter().next().unwrap()
    }
    /// The only session's log file.
    pub fn log_file(&self) -> PathBuf {
        self.sessions().join(self.session()).join("log.jsonl")
    }
    /// The events of the only session.
    pub fn events(&self) -> Vec<Event> {
        events(&self.log_file())
    }
    /// The only session as text.
    pub fn story(&self) -> String {
        story(&self.events())
    }
    /// Asserts that the key is nowhere: not in the output, not in any file of home and workspace.
    pub fn assert_no_key(&self, finished: &Finished) {
        assert!(!finished.stdout.contains(KEY) && !finished.stderr.contains(KEY), "the key was printed");
        search(&self.root(), KEY.as_bytes());
    }
}

fn events(path: &Path) -> Vec<Event> {
    let text = fs::read_to_string(path).unwrap();
    let mut decoder = Decoder::default();
    text.lines().skip(1).filter(|line| !line.is_empty()).map(|line| decoder.decode(line).unwrap()).collect()
}

fn search(folder: &Path, needle: &[u8]) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            search(&path, needle);
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(needle.len()).any(|window| window == needle);
            assert!(!found, "the key is in {}", path.display());
        }
    }
}
