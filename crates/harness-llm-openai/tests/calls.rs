//! What goes out, what settings do, and what messages say.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use harness_kernel::App;
use harness_llm::{
    Assembled, Assembler, CallConfig, CheckedStream, Failure, FinishReason, Llm, LlmAdapter, LlmError,
    LlmPlugin, Message, ModelInfo, Purpose, Request,
};
use harness_llm_http::{HttpAdapter, RouteConfig};
use harness_llm_mock::{MockServer, Options, Reply, Script, txt};
use harness_llm_openai::{LlmOpenAi, OpenAiRoute, adapter as open_ai};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

const KEY: &str = "sk-very-secret";

async fn serve(replies: impl IntoIterator<Item = Reply>) -> MockServer {
    MockServer::start(Script::new(replies), Options::default()).await.unwrap()
}

fn settings(base_url: impl Into<String>) -> RouteConfig {
    RouteConfig::new("openai", base_url, "OPENAI_API_KEY")
}

fn openai(settings: RouteConfig) -> HttpAdapter {
    open_ai(OpenAiRoute::new(settings))
}

fn call_config() -> CallConfig {
    CallConfig { provider: "openai".into(), model: "m1".into(), ..CallConfig::default() }
}

async fn ask(adapter: &HttpAdapter, config: CallConfig) -> Assembled {
    let prepared = adapter.prepare(&config).unwrap();
    let messages = vec![Arc::new(Message::user("go"))];
    let request =
        Request { config, system: None, tools: [].into(), messages, session: None, purpose: Purpose::Step };
    let cancel = CancellationToken::new();
    let mut chunks = match prepared.stream(Arc::new(request), cancel.clone()).await {
        Ok(stream) => CheckedStream::boxed(stream, cancel),
        Err(error) => CheckedStream::failed(error, &cancel),
    };
    let mut assembler = Assembler::default();
    while let Some(chunk) = chunks.next().await {
        assembler.push(&chunk);
    }
    assembler.finish()
}

async fn fail(settings: RouteConfig) -> Failure {
    let assembled = ask(&openai(settings), call_config()).await;
    assembled.finish.reason.failure().unwrap_or_else(|| panic!("{assembled:?}")).clone()
}

fn refused(settings: RouteConfig, config: &CallConfig) -> LlmError {
    openai(settings).prepare(config).err().unwrap()
}

#[tokio::test]
async fn a_request_carries_key_headers_and_body() {
    let server = serve([txt("hello")]).await;
    let adapter = openai(RouteConfig {
        api_key: Some(format!(" {KEY}\n").into()),
        headers: BTreeMap::from([("x-team".into(), "blue".into())]),
        extra_body: json!({"thinking": {"type": "disabled"}}).as_object().unwrap().clone(),
        ..settings(server.base_url())
    });
    let config = CallConfig { max_tokens: Some(50), ..call_config() };
    let answer = ask(&adapter, config).await;
    assert_eq!(answer.finish.reason, FinishReason::Stop);
    assert_eq!(answer.content[0].as_text(), Some("hello"));
    let request = &server.requests()[0];
    assert_eq!(request.path(), "/v1/chat/completions");
    assert_eq!(request.raw_header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(request.raw_header("x-team"), Some("blue"));
    assert_eq!(request.raw_header("content-type"), Some("application/json"));
    assert_eq!(request.raw_header("accept"), Some("text/event-stream"));
    assert_eq!(
        *request.json().unwrap(),
        json!({
            "model": "m1",
            "messages": [{"role": "user", "content": "go"}],
            "max_tokens": 50,
            "stream": true,
            "stream_options": {"include_usage": true},
            "thinking": {"type": "disabled"}
        })
    );
}

#[tokio::test]
async fn a_loopback_server_needs_no_key_and_any_base_url_form_reaches_it() {
    let server = serve([txt("a"), txt("b"), txt("c"), txt("d")]).await;
    let bare = server.base_url();
    for base in
        [bare.clone(), format!("{bare}/"), format!("{bare}/v1"), format!("{bare}/v1/chat/completions")]
    {
        let answer = ask(&openai(settings(&base)), call_config()).await;
        assert_eq!(answer.finish.reason, FinishReason::Stop, "{base}");
    }
    assert!(server.requests().iter().all(|request| request.raw_header("authorization").is_none()));
}

#[tokio::test]
async fn one_connection_serves_several_calls() {
    let server = serve([txt("a"), txt("b"), txt("c")]).await;
    let relay = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (target, address) = (server.address(), relay.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    let relaying = tokio::spawn(async move {
        while let Ok((mut near, _)) = relay.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            let mut far = TcpStream::connect(target).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut near, &mut far).await });
        }
    });
    let adapter = openai(settings(format!("http://{address}")));
    for _ in 0..3 {
        assert_eq!(ask(&adapter, call_config()).await.finish.reason, FinishReason::Stop);
    }
    relaying.abort();
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[test]
fn a_missing_key_is_named_before_anything_is_sent() {
    for api_key in [None, Some("".into()), Some("  \n".into())] {
        let settings =
            RouteConfig { api_key, api_key_env: "ACME_KEY".into(), ..settings("https://api.acme.test/v1") };
        let error = refused(settings, &call_config());
        assert_eq!(error.code(), "MISSING_CREDENTIAL");
        assert!(error.0.message.contains("ACME_KEY"), "{error}");
    }
    let broken = RouteConfig { api_key: Some("sk-a\nsk-b".into()), ..settings("https://api.acme.test/v1") };
    let error = refused(broken, &call_config());
    assert_eq!(error.code(), "MISSING_CREDENTIAL");
    assert!(!error.0.message.contains("sk-a"), "{error}");
}

#[test]
fn unusable_settings_are_named_before_anything_is_sent() {
    let loopback = || settings("http://127.0.0.1:1");
    let headers = |name: &str, value: &str| RouteConfig {
        headers: BTreeMap::from([(name.to_owned(), value.to_owned())]),
        ..loopback()
    };
    let extra_body = json!({"messages": []}).as_object().unwrap().clone();
    for (settings, code, part) in [
        (settings("api.acme.test"), "INVALID_ENDPOINT", "not a URL"),
        (headers("Authorization", "Bearer x"), "INVALID_REQUEST", "api_key"),
        (headers("x y", "z"), "INVALID_REQUEST", "x y"),
        (headers("x-a", "b\nc"), "INVALID_REQUEST", "x-a"),
        (RouteConfig { extra_body, ..loopback() }, "INVALID_REQUEST", "messages"),
    ] {
        let error = refused(settings, &call_config());
        assert_eq!(error.code(), code, "{error}");
        assert!(error.0.message.contains(part), "{error}");
    }
    let hot = CallConfig { temperature: Some(f64::NAN), ..call_config() };
    assert_eq!(refused(loopback(), &hot).code(), "INVALID_REQUEST");
    let nameless = CallConfig { model: " ".into(), ..call_config() };
    assert_eq!(refused(loopback(), &nameless).code(), "UNKNOWN_MODEL");
}

#[tokio::test]
async fn a_refused_connection_names_the_address_and_the_remedy() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let failure = fail(settings(format!("http://{address}"))).await;
    assert_eq!(failure.code.as_str(), "TRANSPORT");
    assert!(failure.message.contains(&address.to_string()), "{failure}");
    assert!(failure.message.contains("is the server running?"), "{failure}");
}

#[tokio::test]
async fn a_bad_certificate_authority_file_is_named() {
    let mut settings = settings("http://127.0.0.1:1");
    settings.http.extra_ca = vec!["/does/not/exist.pem".into()];
    let failure = fail(settings).await;
    assert_eq!(failure.code.as_str(), "HTTP_EXTRA_CA_UNREADABLE");
    assert!(failure.message.contains("/does/not/exist.pem"), "{failure}");
}

#[tokio::test]
async fn error_responses_keep_status_wait_and_request_id() {
    let server = serve([
        Reply::error(401, &format!("bad key {KEY}")).header("x-request-id", "r-1"),
        Reply::error(404, "model `m1` does not exist"),
        Reply::error(429, "slow down").header("retry-after", "3"),
    ])
    .await;
    let settings = RouteConfig { api_key: Some(KEY.into()), ..settings(server.base_url()) };
    let unauthorized = fail(settings.clone()).await;
    assert_eq!((unauthorized.code.as_str(), unauthorized.status), ("AUTH", Some(401)));
    assert_eq!(unauthorized.request_id.as_deref(), Some("r-1"));
    assert!(unauthorized.message.contains("OPENAI_API_KEY"), "{unauthorized}");
    assert!(!unauthorized.message.contains(KEY), "{unauthorized}");
    let unknown = fail(settings.clone()).await;
    assert_eq!(unknown.code.as_str(), "UNKNOWN_MODEL");
    assert!(unknown.message.contains("`m1`"), "{unknown}");
    let limited = fail(settings).await;
    assert_eq!((limited.code.as_str(), limited.retry_after_ms), ("RATE_LIMIT", Some(3_000)));
}

#[tokio::test]
async fn a_document_in_place_of_a_stream_is_said_to_be_one() {
    let page = Reply { body: Some("<html>Sign in</html>".into()), ..Reply::new() }
        .header("content-type", "text/html");
    let json = Reply { body: Some(r#"{"error":{"message":"busy","code":429}}"#.into()), ..Reply::new() };
    let server = serve([page, json.header("content-type", "application/json; charset=utf-8")]).await;
    let failure = fail(settings(server.base_url())).await;
    assert_eq!(failure.code.as_str(), "MALFORMED_RESPONSE");
    assert!(failure.message.contains("text/html") && failure.message.contains("Sign in"), "{failure}");
    let failure = fail(settings(server.base_url())).await;
    assert_eq!(failure.code.as_str(), "RATE_LIMIT");
}

#[tokio::test]
async fn a_failure_in_mid_stream_names_the_request() {
    let reply =
        Reply::new().pieces(["Let me "]).header("x-request-id", "r-9").end(harness_llm_mock::End::Eof);
    let server = serve([reply]).await;
    let failure = fail(settings(server.base_url())).await;
    assert_eq!((failure.code.as_str(), failure.request_id.as_deref()), ("STREAM_CLOSED", Some("r-9")));
}

#[tokio::test]
async fn cancelling_closes_the_connection() {
    let server = serve([Reply::new().pieces(["Let me "]).step(harness_llm_mock::Step::Stall)]).await;
    let prepared = openai(settings(server.base_url())).prepare(&call_config()).unwrap();
    let request = Request {
        config: call_config(),
        system: None,
        tools: [].into(),
        messages: vec![],
        session: None,
        purpose: Purpose::Step,
    };
    let cancel = CancellationToken::new();
    let mut stream = prepared.stream(Arc::new(request), cancel.clone()).await.unwrap();
    stream.next().await.unwrap().unwrap();
    cancel.cancel();
    while stream.next().await.is_some() {}
    // The stream itself is still held: cancelling alone must let go of the server.
    server.wait_for_disconnects(1).await;
    drop(stream);
}

#[tokio::test]
async fn the_plugin_registers_a_route_for_each_provider() {
    let server = serve([txt("hello")]).await;
    let local = RouteConfig {
        name: "local".into(),
        models: vec![ModelInfo { model: "m1".into(), context_window: Some(8192), max_output: None }],
        ..settings(server.base_url())
    };
    let broken = RouteConfig { name: "broken".into(), ..settings("not a url") };
    let providers = vec![OpenAiRoute::new(local), OpenAiRoute::new(broken)];
    let app = App::default().with(LlmPlugin).with(LlmOpenAi { providers }).start().await.unwrap();
    let llm = app.ctx().service::<Llm>().unwrap();
    let names: Vec<_> = llm.routes().into_iter().map(|(name, models)| (name, models.len())).collect();
    assert_eq!(names, [("broken".to_owned(), 0), ("local".to_owned(), 1)]);
    let config = |provider: &str| CallConfig { provider: provider.into(), ..call_config() };
    assert_eq!(llm.prepare(&config("local")).unwrap().model().context_window, Some(8192));
    assert_eq!(llm.prepare(&config("broken")).err().unwrap().code(), "INVALID_ENDPOINT");
    app.shutdown().await.unwrap();

    let twice = vec![OpenAiRoute::default(), OpenAiRoute::default()];
    let start = App::default().with(LlmPlugin).with(LlmOpenAi { providers: twice }).start().await;
    assert!(start.is_err(), "two routes of one name");
}

async fn extended(
    settings: RouteConfig,
    extend: impl FnOnce(&mut harness_llm::RequestExtras) -> Result<(), harness_llm::OptionRefused>,
) -> Result<(), LlmError> {
    let config = call_config();
    let prepared = openai(settings).prepare(&config)?;
    let messages = vec![Arc::new(Message::user("go"))];
    let request =
        Request { config, system: None, tools: [].into(), messages, session: None, purpose: Purpose::Step };
    let shown = serde_json::Value::from(prepared.payload_fields(&request)).to_string();
    assert!(!shown.contains(KEY) && !shown.contains("messages"), "{shown}");
    let mut extras = harness_llm::RequestExtras::default();
    extend(&mut extras)?;
    let cancel = CancellationToken::new();
    let stream = prepared.stream_with(Arc::new(request), extras, cancel.clone()).await?;
    let mut chunks = CheckedStream::boxed(stream, cancel);
    while chunks.next().await.is_some() {}
    Ok(())
}

#[tokio::test]
async fn additions_of_listeners_are_sent_and_never_replace_what_is_there() {
    let server = serve([txt("ok")]).await;
    let mut settings = settings(server.base_url());
    settings.api_key = Some(KEY.into());
    settings.headers = BTreeMap::from([("x-org".to_owned(), "ours".to_owned())]);
    extended(settings.clone(), |extras| {
        extras.options.header("x-team", "blue")?;
        extras.options.metadata.insert("run".into(), "7".into());
        let retention = harness_llm::CacheRetention::Long;
        extras.options.cache = Some(harness_llm::CacheOptions { key: Some("k".into()), retention });
        extras.fields.set("service_tier", json!("flex"))
    })
    .await
    .unwrap();
    let requests = server.requests();
    let sent = &requests[0];
    assert_eq!(sent.raw_header("x-team"), Some("blue"));
    assert_eq!(sent.raw_header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let body = sent.json().unwrap();
    assert_eq!(body["metadata"], json!({"run": "7"}));
    assert_eq!((&body["prompt_cache_key"], &body["prompt_cache_retention"]), (&json!("k"), &json!("24h")));
    assert_eq!(body["service_tier"], "flex");

    let taken =
        extended(settings.clone(), |extras| extras.options.header("x-org", "theirs")).await.unwrap_err();
    assert!(taken.0.message.contains("x-org") && !taken.0.message.contains("ours"), "{taken}");
    let own =
        extended(settings, |extras| extras.options.header("Authorization", "Bearer x")).await.unwrap_err();
    assert!(own.0.message.contains("authorization") && !own.0.message.contains(KEY), "{own}");
    assert_eq!(server.requests().len(), 1, "a refused addition sends nothing");
}
