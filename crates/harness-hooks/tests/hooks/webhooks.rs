//! K8: webhooks on the loopback interface.
use harness_hooks::{Decision, FaultKind, HookEvent, HookFile, HookSet, Origin, Profile, Report, Scope};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::rig::{Rig, bash};

/// Answers one request with these bytes and gives the request back; an empty answer never comes.
async fn server(answer: &'static str) -> (String, oneshot::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (seen, request) = oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut text, mut buffer) = (String::new(), [0; 4096]);
        while !text.ends_with("}\n") {
            let read = stream.read(&mut buffer).await.unwrap();
            text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        seen.send(text).unwrap();
        if answer.is_empty() {
            std::future::pending::<()>().await;
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    (url, request)
}

async fn post(profile: Profile, url: &str, mut extra: Value, settings: Value) -> Report {
    extra["type"] = "http".into();
    extra["url"] = url.into();
    let mut value = settings;
    value["hooks"] = json!({ "PreToolUse": [{ "hooks": [extra] }] });
    let rig = Rig::new(profile);
    let set = HookSet::merge([HookFile::parse(Origin::of("settings.json", Scope::User), &value.to_string())]);
    let mut dispatch = rig.dispatch_of(HookEvent::PreToolUse, bash("ls"));
    dispatch.place.env.extend([("TOKEN".into(), "t0".into()), ("SECRET".into(), "s3".into())]);
    rig.engine.dispatch(&set, &dispatch, &CancellationToken::new()).await
}
fn fault(report: &Report) -> Option<FaultKind> {
    report.runs[0].error.as_ref().map(|fault| fault.kind)
}

#[tokio::test]
async fn k08_an_empty_answer_is_yes_and_the_body_is_the_payload() {
    let (url, request) = server("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
    let report = post(Profile::Claude, &url, json!({}), json!({})).await;
    assert_eq!((fault(&report), report.outcome.decision), (None, None));
    let request = request.await.unwrap();
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(
        (&body["hook_event_name"], &body["tool_input"]["command"]),
        (&json!("PreToolUse"), &json!("ls"))
    );
}

#[tokio::test]
async fn k08_a_json_answer_is_read_like_stdout() {
    let (url, _request) =
        server("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"decision\":\"block\",\"reason\":\"no\"}")
            .await;
    let report = post(Profile::Claude, &url, json!({}), json!({})).await;
    assert_eq!(
        (report.outcome.decision, report.outcome.reason.as_deref()),
        (Some(Decision::Deny), Some("no"))
    );
}

#[tokio::test]
async fn k08_text_status_500_a_closed_port_and_silence_block_nothing_but_are_told() {
    let cases: [(&str, FaultKind); 3] = [
        ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello", FaultKind::Schema),
        ("HTTP/1.1 500 Oops\r\nconnection: close\r\n\r\nbroken", FaultKind::Http),
        ("", FaultKind::Timeout),
    ];
    for (answer, kind) in cases {
        let (url, _request) = server(answer).await;
        let report = post(Profile::Claude, &url, json!({ "timeout": 0.5 }), json!({})).await;
        assert_eq!((fault(&report), report.outcome.decision), (Some(kind), None), "{answer}");
        assert_eq!(report.warnings().count(), 1);
    }
    let closed = post(Profile::Claude, "http://127.0.0.1:1/", json!({}), json!({})).await;
    assert_eq!(fault(&closed), Some(FaultKind::Http));
    let (url, _request) = server("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello").await;
    assert_eq!(
        fault(&post(Profile::Native, &url, json!({}), json!({})).await),
        None,
        "the native contract takes text"
    );
}

#[tokio::test]
async fn k08_headers_use_listed_variables_only() {
    let headers = json!({ "headers": { "Authorization": "Bearer $TOKEN", "X-Other": "${SECRET}!" }, "allowedEnvVars": ["TOKEN"] });
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let (url, request) = server(ok).await;
    post(Profile::Claude, &url, headers.clone(), json!({})).await;
    let request = request.await.unwrap().to_lowercase();
    assert!(request.contains("authorization: bearer t0") && request.contains("x-other: !"), "{request}");
    let (url, request) = server(ok).await;
    post(Profile::Claude, &url, headers, json!({ "httpHookAllowedEnvVars": [] })).await;
    assert!(!request.await.unwrap().contains("t0"), "an empty list allows none");
}

#[tokio::test]
async fn k08_urls_off_the_list_are_not_asked() {
    let closed = json!({ "allowedHttpHookUrls": ["https://hooks.example/*"] });
    let report = post(Profile::Claude, "http://127.0.0.1:1/", json!({}), closed).await;
    assert_eq!(fault(&report), Some(FaultKind::Forbidden));
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let (url, _request) = server(ok).await;
    let open = json!({ "allowedHttpHookUrls": ["http://127.0.0.1:*"] });
    assert_eq!(fault(&post(Profile::Claude, &url, json!({}), open).await), None);
}
