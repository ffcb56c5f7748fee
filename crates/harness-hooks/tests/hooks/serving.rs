//! The line protocol over streams that are no process's.
use std::time::Duration;

use harness_hooks::{
    Engine, HookFile, HookSet, LONGEST_LINE, Listener, Origin, Profile, Scope, Served, serve,
};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

fn listener(rig: &Rig) -> Listener {
    Listener::new(Engine::new(Profile::Native), rig.place(), || {
        let hang = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "sleep 300.211" }] }] } });
        HookSet::merge([HookFile::parse(Origin::of("settings.json", Scope::User), &hang.to_string())])
    })
}

#[tokio::test]
async fn a_request_without_a_line_break_counts_and_a_long_line_is_skipped() {
    let rig = Rig::new(Profile::Native);
    let (requests, mut responses) =
        (["x".repeat(LONGEST_LINE + 1), "{\"op\":\"ping\"}".into()].join("\n"), Vec::new());
    let served =
        serve(&mut listener(&rig), requests.as_bytes(), &mut responses, &CancellationToken::new()).await;
    assert_eq!(served.unwrap(), Served::EndOfInput);
    let text = String::from_utf8(responses).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        ["{\"ok\":false,\"error\":\"the line has more than 16777216 bytes\"}", "{\"ok\":true,\"pong\":true}"]
    );
}

#[tokio::test]
async fn a_line_of_the_greatest_length_is_a_request() {
    let rig = Rig::new(Profile::Native);
    let head = "{\"op\":\"ping\",\"pad\":\"";
    let requests = format!("{head}{}\"}}\n", "x".repeat(LONGEST_LINE - head.len() - 2));
    let mut responses = Vec::new();
    serve(&mut listener(&rig), requests.as_bytes(), &mut responses, &CancellationToken::new()).await.unwrap();
    assert_eq!(responses, b"{\"ok\":true,\"pong\":true}\n");
}

#[tokio::test]
async fn a_cancelled_server_kills_its_hooks_and_ends() {
    let rig = Rig::new(Profile::Native);
    let (mut client, ours) = duplex(64 * 1024);
    let cancel = CancellationToken::new();
    let (requests, responses) = tokio::io::split(ours);
    let mut listener = listener(&rig);
    let serving = serve(&mut listener, requests, responses, &cancel);
    let driving = async {
        client.write_all(b"{\"op\":\"ping\"}\n{\"op\":\"dispatch\",\"event\":\"Stop\"}\n").await.unwrap();
        let mut line = [0; 24];
        client.read_exact(&mut line).await.unwrap();
        cancel.cancel();
    };
    let (served, ()) =
        tokio::time::timeout(Duration::from_mins(1), Box::pin(async { tokio::join!(serving, driving) }))
            .await
            .unwrap();
    assert_eq!(served.unwrap(), Served::Cancelled);
}

#[tokio::test]
async fn a_client_that_does_not_take_its_responses_is_an_error() {
    let rig = Rig::new(Profile::Native);
    let (client, ours) = duplex(64);
    drop(client);
    let served =
        serve(&mut listener(&rig), &b"{\"op\":\"ping\"}\n"[..], ours, &CancellationToken::new()).await;
    assert_eq!(served.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn an_error_does_not_repeat_all_that_was_wrong() {
    let rig = Rig::new(Profile::Native);
    let long = "x".repeat(100_000);
    let requests =
        format!("\"{long}\"\n{{\"op\":\"{long}\"}}\n{{\"op\":\"dispatch\",\"event\":\"{long}\"}}\n");
    let mut responses = Vec::new();
    serve(&mut listener(&rig), requests.as_bytes(), &mut responses, &CancellationToken::new()).await.unwrap();
    let text = String::from_utf8(responses).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert!(
        text.lines().all(|line| line.len() < 1000 && line.starts_with("{\"ok\":false")),
        "{} bytes",
        text.len()
    );
}
