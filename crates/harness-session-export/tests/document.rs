//! Whole logs as documents.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
use std::sync::Arc;

use harness_llm::{Block, Failure, FailureCode, Message, ToolCallBlock, ToolResultBlock, Usage};
use harness_session::{
    Body, Decoder, Event, SessionHeader, Step, SurfaceOp, ToolCall, ToolError, ToolResult, Turn, TurnEnd,
    TurnEndReason, UserMessage,
};
use harness_session_export::{Entry, Transcript, html, markdown};
use serde_json::json;

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\0 \u{202e}exe.jpg\u{2066} \
     ![p](http://example.invalid/p.png) `<b>` \"quoted\" & 'single' \u{1b}[31m";

/// A log in the making; times go up by a hundred milliseconds.
#[derive(Default)]
struct Log(Vec<Event>);
impl Log {
    fn add(&mut self, body: Body) -> u64 {
        let seq = self.0.len() as u64;
        let surface = matches!(body, Body::UserMessage(_) | Body::AssistantMessage(_) | Body::ToolResult(_))
            .then_some(SurfaceOp::Append);
        let time = 1_764_580_000_000 + i64::try_from(seq).unwrap() * 100;
        self.0.push(Event { seq, time, body, surface, sources: None });
        seq
    }
    fn said(&mut self, text: &str) {
        self.add(Body::UserMessage(UserMessage { message: Arc::new(Message::user(text)) }));
    }
    fn answer(&mut self, at: Step, text: &str, calls: &[(&str, &str, &str)]) {
        let mut content = vec![Block::text(text)];
        content.extend(calls.iter().map(|(id, name, arguments)| {
            Block::ToolCall(ToolCallBlock {
                id: (*id).to_owned(),
                name: (*name).to_owned(),
                arguments: (*arguments).to_owned(),
            })
        }));
        // Only a recorder or the reader of a log makes these.
        let mut line = json!({
            "type": "assistant/message", "seq": self.0.len(), "time": 1_764_580_000_000 + 100 * self.0.len(),
            "data": { "turn": at.turn, "step": at.step, "attempt": 1, "usage": { "input": 1200, "output": 34 },
                "finish": { "kind": "stop" } },
            "surface": "append",
        });
        line["data"]["message"] = serde_json::to_value(Message::assistant("p", "m", content)).unwrap();
        self.0.push(Decoder::default().decode(&line.to_string()).unwrap());
    }
    fn ran(&mut self, at: Step, position: u32, name: &str, arguments: &str) {
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        let call_id = format!("c{position}");
        self.add(Body::ToolCall(ToolCall {
            at,
            position,
            call_id,
            name,
            arguments,
            rewritten_by: Vec::new(),
        }));
    }
    fn result(
        &mut self,
        at: Step,
        position: u32,
        text: &str,
        error: Option<&str>,
        meta: Option<serde_json::Value>,
    ) {
        let result = ToolResultBlock {
            call_id: format!("c{position}"),
            content: vec![Block::text(text)],
            is_error: error.is_some(),
        };
        let error = error.map(|code| ToolError { code: code.to_owned(), message: text.to_owned() });
        let message = Arc::new(Message::tool_result(result));
        self.add(Body::ToolResult(ToolResult { at, position, message, error, meta, usage: None }));
    }
    fn transcript(&self) -> Transcript {
        let mut header = SessionHeader::new(1_764_580_000_000, Some("/w".to_owned()));
        header.id = "01a23161-7916-71c6-a993-8196200144ba".parse().unwrap();
        Transcript::of(&header, &self.0)
    }
}

fn turn(log: &mut Log, turn: u32, reason: TurnEndReason, within: impl FnOnce(&mut Log, Step)) {
    log.add(Body::TurnStart(Turn { turn }));
    let at = Step { turn, step: 1 };
    log.add(Body::StepStart(at));
    within(log, at);
    log.add(Body::StepEnd(at));
    log.add(Body::TurnEnd(TurnEnd { turn, reason }));
}

#[test]
fn hostile_text_is_text_wherever_it_stands() {
    let mut log = Log::default();
    turn(&mut log, 1, TurnEndReason::Blocked { reason: Some(HOSTILE.to_owned()) }, |log, at| {
        log.said(HOSTILE);
        let arguments = json!({ HOSTILE: HOSTILE, "file_path": HOSTILE }).to_string();
        log.answer(
            at,
            HOSTILE,
            &[("c0", HOSTILE, &arguments), ("c1", "bash", r#"{"command":"\ud800 <b>"}"#)],
        );
        log.ran(at, 0, HOSTILE, &arguments);
        log.result(at, 0, HOSTILE, Some(HOSTILE), None);
        log.result(at, 1, HOSTILE, None, None);
    });
    let page = html(&log.transcript());
    for bad in ["<script", "<img", "<b>", "\0", "\u{202e}", "\u{2066}", "\u{1b}", "onerror=alert(1)>"] {
        assert!(!page.contains(bad), "{bad:?} is in the page");
    }
    assert!(page.contains("⟨U+202E⟩") && page.contains("⟨NUL⟩") && page.contains("&lt;img src=x"), "{page}");
    assert!(page.contains(r"\ud800 &lt;b&gt;"), "arguments that are no JSON text are shown as they came");
    assert!(
        page.contains("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'")
    );
    for fetching in ["src=", "url(", "@import", "<link", "<script", "<iframe", "href=\"http"] {
        let markup = page.replace("&lt;img src=x", "").replace("&lt;img src=&#39;", "");
        assert!(!markup.contains(fetching), "{fetching} is in the page");
    }

    let text = markdown(&log.transcript());
    let outside = outside_of_fences(&text);
    for bad in ["<script", "<img", "![p]", "\0", "\u{202e}", "\u{1b}"] {
        assert!(!outside.contains(bad), "{bad:?} is in\n{outside}");
    }
}

/// The lines that a reader of Markdown takes for more than text.
fn outside_of_fences(text: &str) -> String {
    let (mut out, mut fence) = (String::new(), None::<usize>);
    for line in text.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) if ticks >= open && line.trim_start_matches('`').is_empty() => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(ticks),
            None => out.extend([line, "\n"]),
        }
    }
    out
}

#[test]
fn a_rewritten_file_is_compared_with_what_was_seen_of_it() {
    let mut log = Log::default();
    turn(&mut log, 1, TurnEndReason::Completed, |log, at| {
        let read = r#"{"file_path":"a.txt"}"#;
        let write = r#"{"file_path":"a.txt","content":"one\nTWO\nthree\n"}"#;
        let edit = r#"{"file_path":"a.txt","old_string":"three","new_string":"3"}"#;
        log.answer(at, "", &[("c0", "read", read), ("c1", "write", write), ("c2", "edit", edit)]);
        let meta = |diff: Option<&str>| Some(json!({ "fs": { "path": "/w/a.txt" }, "diff": diff }));
        log.ran(at, 0, "read", read);
        log.result(at, 0, "1\tone\n2\ttwo\n3\tthree\n", None, meta(None));
        log.ran(at, 1, "write", write);
        log.result(at, 1, "replaced a.txt (14 bytes)", None, meta(None));
        log.ran(at, 2, "edit", edit);
        log.result(at, 2, "edited a.txt: 1 replacement\n", None, meta(Some("@@ -3,1 +3,1 @@\n-three\n+3\n")));
    });
    let transcript = log.transcript();
    let changes: Vec<_> = transcript
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Call(call) => call.change.as_ref(),
            _ => None,
        })
        .collect();
    let shown: Vec<String> = changes
        .iter()
        .flat_map(|change| change.lines.iter().map(|line| format!("{}{}", line.kind.sign(), line.text)))
        .collect();
    assert_eq!(shown, [" one", "-two", "+TWO", " three", "-three", "+3"]);
    let page = html(&transcript);
    assert!(page.contains("<del class=\"line\">") && page.contains("<ins class=\"line\">"));
}

#[test]
fn failed_attempts_and_ends_are_told() {
    let failure = Failure::new(FailureCode::TRANSPORT, "the connection broke");
    let mut log = Log::default();
    log.add(Body::TurnStart(Turn { turn: 1 }));
    let at = Step { turn: 1, step: 1 };
    log.add(Body::StepStart(at));
    log.said("go");
    let line = run_of_a_failed_attempt(3);
    log.0.push(Decoder::default().decode(&line).unwrap());
    log.add(Body::StepEnd(at));
    log.add(Body::TurnEnd(TurnEnd { turn: 1, reason: TurnEndReason::Error { failure } }));
    let text = markdown(&log.transcript());
    assert!(text.contains("**Attempt 1 failed**: the connection broke \\[TRANSPORT\\]"), "{text}");
    assert!(text.contains("half a word"), "{text}");
    assert!(
        text.contains("*Turn 1 failed: the connection broke \\[TRANSPORT\\] after 500 ms; 0 in, 0 out*"),
        "{text}"
    );
}

/// Half a word and a failure, as stored.
fn run_of_a_failed_attempt(seq: u64) -> String {
    let failure =
        json!({ "kind": "error", "failure": { "message": "the connection broke", "code": "TRANSPORT" } });
    let items = json!([
        { "start": [0, { "type": "text" }] },
        { "text": [0, "half a word", "W"] },
        { "finish": { "reason": failure } },
    ]);
    let run = json!({ "turn": 1, "step": 1, "attempt": 1, "started": 1, "gaps": "ACC", "items": items });
    json!({ "type": "assistant/chunks", "seq": seq, "time": 1_764_580_000_300_i64, "data": run }).to_string()
}

#[test]
fn every_figure_is_there() {
    let mut log = Log::default();
    turn(&mut log, 1, TurnEndReason::Completed, |log, at| {
        log.said("What is 1 + 1?");
        log.answer(at, "It is **2**.", &[]);
    });
    let transcript = log.transcript();
    assert_eq!(transcript.facts.usage, Usage { input: 1200, output: 34, ..Usage::default() });
    assert_eq!(transcript.facts.title.as_deref(), Some("What is 1 + 1?"));
    let page = html(&transcript);
    for part in [
        "1,200 in, 34 out",
        "p/m",
        "01a23161-7916-71c6-a993-8196200144ba",
        "2025-12-01 09:06:40 UTC",
        "500 ms",
        "It is <strong>2</strong>.",
    ] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
}

#[test]
fn an_empty_log_and_an_open_turn_are_documents_too() {
    let page = html(&Log::default().transcript());
    assert!(page.contains("A session without a prompt") && page.ends_with("</html>\n"));
    let mut log = Log::default();
    log.add(Body::TurnStart(Turn { turn: 1 }));
    let page = html(&log.transcript());
    assert!(page.contains("The turn has no end in the log"));
    assert_eq!(page.matches("<section").count(), page.matches("</section>").count());
}
