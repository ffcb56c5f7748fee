//! Chromium without a window, spoken to over the two pipes of its debugging protocol.
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

/// The longest that the browser may be silent.
const HANG: Duration = Duration::from_mins(1);

/// A page in a browser of its own.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: mpsc::Receiver<Value>,
    next: u64,
    session: String,
    /// Every address that was asked for.
    pub(crate) requests: Vec<String>,
    /// Everything that the console was told: errors, refusals, exceptions.
    pub(crate) complaints: Vec<String>,
    /// Keeps its profile.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it and opens an empty page.
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        // It wants its commands on 3 and answers on 4: there are the pipes that we can give it.
        let mut child = Command::new("/bin/sh")
            .args(["-c", "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null", "chromium"])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let from = listen(child.stdout.take().unwrap());
        let (requests, complaints) = (Vec::new(), Vec::new());
        let mut browser = Self {
            child,
            to,
            from,
            next: 1,
            session: String::new(),
            requests,
            complaints,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach);
        attached["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        for domain in ["Page", "Network", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a file and waits until it is loaded, with all that it fetches.
    pub(crate) fn open(&mut self, file: &Path) {
        self.requests.clear();
        self.complaints.clear();
        let went = self.call("Page.navigate", &json!({ "url": format!("file://{}", file.display()) }));
        assert!(went.get("errorText").is_none(), "{went}");
        while self.take()["method"] != "Page.loadEventFired" {}
        // What the page did on the way was told before this is answered.
        self.evaluate("0");
    }
    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }
    /// Makes one call of the protocol.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut message = self.take();
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }
    /// The next message; what it says of the page is kept.
    fn take(&mut self) -> Value {
        let message = self.from.recv_timeout(HANG).expect("the browser is silent");
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                self.requests.push(params["request"]["url"].as_str().unwrap().to_owned());
            }
            Some("Log.entryAdded" | "Runtime.consoleAPICalled" | "Runtime.exceptionThrown") => {
                self.complaints.push(params.to_string());
            }
            _ => {}
        }
        message
    }
}

fn listen(pipe: impl Read + Send + 'static) -> mpsc::Receiver<Value> {
    let (tell, from) = mpsc::channel();
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut message = Vec::new();
        while pipe.read_until(0, &mut message).is_ok_and(|count| count > 0) {
            message.pop();
            if tell.send(serde_json::from_slice(&message).unwrap()).is_err() {
                return;
            }
            message.clear();
        }
    });
    from
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Asked to, it takes its helper processes along. One that has ended already needs no asking.
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        harness_testkit::wait_until("the browser ends", || self.child.try_wait().unwrap());
    }
}
