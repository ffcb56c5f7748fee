//! A foreign server that breaks a fifth of its streams and refuses a fifth of all requests: retries carry a run through,
//! and nothing happens twice.
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use harness_session::{Body, Event};
use harness_testkit::{Finished, Rig};

use crate::llmock::Server;
use crate::wanted;

const RUNS: usize = 50;
const WORKERS: usize = 5;

/// What one run came to.
struct Outcome {
    finished: Finished,
    /// How often the tool's body really ran.
    ran: usize,
    events: Vec<Event>,
}
impl Outcome {
    fn count(&self, name: &str) -> usize {
        self.events.iter().filter(|event| event.body.type_name() == name).count()
    }
    fn retries_exhausted(&self) -> bool {
        self.count("llm/retry-stopped") == 1
    }
}

/// One task: the server calls `bash` with the command `mock-command`, and answers once the result is there.
fn run(server: &Server) -> Outcome {
    let rig = Rig::new(env!("CARGO_BIN_EXE_harness"), []);
    let program = rig.file("bin/mock-command", "#!/bin/sh\necho run >> \"$HOME/ran\"\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = rig.home().join(".config/harness/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    // A stalled stream is given up after a second.
    std::fs::write(config, "[providers.openai]\nidle_timeout = 1\nfirst_byte_timeout = 5\n").unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", program.parent().unwrap().display());
    let finished = rig
        .command(["run", "bash", "--base-url", &server.url, "--model", "gpt-4o"])
        .args(["read", "write", "edit"].into_iter().flat_map(|tool| ["--deny", tool]))
        .env("PATH", path)
        .env_remove("HARNESS_RETRY_MAX_RETRIES")
        .env("HARNESS_RETRY_BASE_DELAY_MS", "50")
        .run();
    let ran = std::fs::read_to_string(rig.home().join("ran")).unwrap_or_default().lines().count();
    Outcome { finished, ran, events: rig.events() }
}

#[test]
fn fifty_runs_against_a_server_that_breaks_things() {
    if !wanted("it installs PyPI llmock") {
        return;
    }
    let faults = ["disconnect", "truncate", "stall", "malformed"].map(|kind| format!("{kind}=0.05"));
    let mut args = vec!["--error-rate", "429=0.2", "--stream-stall-seconds", "30"];
    args.extend(faults.iter().flat_map(|fault| ["--stream-fault", fault.as_str()]));
    let server = Server::start(&args);
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let worker = || {
            let mut outcomes = Vec::new();
            while next.fetch_add(1, Ordering::Relaxed) < RUNS {
                outcomes.push(run(&server));
            }
            outcomes
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(outcomes.len(), RUNS);

    let (mut right, mut retries, mut classes) = (0, 0, std::collections::BTreeMap::<String, usize>::new());
    for outcome in &outcomes {
        let stderr = &outcome.finished.stderr;
        assert!(outcome.ran <= 1, "a tool ran {} times: {stderr}", outcome.ran);
        assert_eq!(outcome.ran, outcome.count("tool/call"), "what ran is what the log says: {stderr}");
        retries += outcome.count("llm/retry");
        for event in &outcome.events {
            if let Body::Plugin(data) = &event.body
                && data.name() == "llm/retry"
            {
                let data: serde_json::Value = serde_json::from_str(data.raw().get()).unwrap();
                *classes.entry(data["class"].as_str().unwrap().to_owned()).or_default() += 1;
            }
        }
        if outcome.finished.code == Some(0) {
            right += 1;
            assert_eq!((outcome.ran, outcome.count("assistant/message")), (1, 2), "{stderr}");
            assert!(!outcome.finished.stdout.trim().is_empty());
        } else {
            eprintln!("a run that failed:\n{stderr}");
            assert_eq!(outcome.finished.code, Some(1), "{stderr}");
            assert!(outcome.retries_exhausted(), "it failed before its retries were used up: {stderr}");
            assert!(
                stderr.lines().any(|line| line.starts_with("harness: ") && line.ends_with(']')),
                "{stderr}"
            );
        }
    }
    eprintln!("{right} of {RUNS} runs ended right; {retries} retries: {classes:?}");
    assert!(right >= 45, "only {right} of {RUNS} runs ended right");
    assert!(retries >= 20, "the server broke too little to prove anything: {retries} retries");
}
