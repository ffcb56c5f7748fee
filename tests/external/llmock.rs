//! A model server that this project did not write: `llmock` of the Python index, which calls the offered tool that fits the prompt with
//! example arguments from its schema, and answers once a tool result comes back.
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use harness_testkit::{Rig, wait_until};

use crate::{cache, succeed, wanted};

const VERSION: &str = "llmock==0.2.2";

pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}
impl Server {
    /// Starts it with further arguments.
    pub(crate) fn start(more: &[&str]) -> Self {
        let program = install();
        // A free port, as far as one can know.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new(program)
            .args(["serve", "--host", "127.0.0.1", "--tool-mode", "auto", "--log-level", "warning"])
            .args(["--port", &port.to_string()])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, url: format!("http://127.0.0.1:{port}/v1") };
        wait_until("llmock listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
        server
    }
}
impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn install() -> PathBuf {
    let venv = cache().join("venv");
    let program = venv.join("bin/llmock");
    if !program.exists() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv));
        succeed(Command::new(venv.join("bin/pip")).args(["install", "--quiet", VERSION]));
    }
    program
}

#[test]
fn real_files_are_made_read_and_edited_through_a_foreign_server() {
    if !wanted("it installs PyPI llmock") {
        return;
    }
    let server = Server::start(&[]);
    let rig = Rig::new(env!("CARGO_BIN_EXE_harness"), []);
    // It picks among the offered tools by the words of the whole prompt; a tool that is denied is not offered.
    let run = |task: &str, more: &[&str]| {
        let denied = ["bash", "read", "write", "edit"].into_iter().filter(|tool| *tool != task);
        let finished = rig
            .command(["run", task, "--base-url", &server.url, "--model", "gpt-4o"])
            .args(denied.flat_map(|tool| ["--deny", tool]))
            .args(more)
            .run();
        assert_eq!(finished.code, Some(0), "{task}: {}", finished.stderr);
        finished
    };
    // The server makes up `mock-<name>` for each argument.
    let made = run("write", &[]);
    assert_eq!(rig.bytes("mock-file_path"), b"mock-content", "{}", made.stderr);
    assert!(!made.stdout.trim().is_empty(), "it answers after the result");

    rig.file("mock-file_path", "before mock-old_string after\n");
    let session = rig.session();
    run("read", &["--resume", &session]);
    run("edit", &["--resume", &session]);
    assert_eq!(rig.bytes("mock-file_path"), b"before mock-new_string after\n", "{}", rig.story());
    let story = rig.story();
    for part in ["tool/call write", "tool/call read", "tool/call edit", "turn/end 3 completed"] {
        assert!(story.contains(part), "{part} is not in\n{story}");
    }
}
