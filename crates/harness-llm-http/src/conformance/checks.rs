//! What must come out of each scenario.
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use harness_llm::{
    Assembled, Assembler, Block, CallConfig, CheckedStream, Chunk, Failure, FailureCode, FinishReason,
    LlmAdapter, Message, Purpose, Request, ToolCallBlock, ToolResultBlock,
};
use tokio_util::sync::CancellationToken;

use super::framing::Framing;
use super::serve::{Server, serve};
use super::{
    ANSWER, Bench, COMPLAINT, HALVED, INPUT_TOKENS, KEY, LONG_ANSWER, OUTPUT_TOKENS, PARTIAL, REASONING,
    Scenario, USED_CALL_ID, WAIT_MS,
};

/// Plays all scenarios, with bodies that end well for HTTP and with bodies that do not, and the good ones in every
/// framing.
///
/// # Panics
/// If the adapter does not do what it must in one of them; the message names it.
pub async fn run(bench: &impl Bench) {
    for framing in [Framing::Plain, Framing::CutOff] {
        let mut ends = BTreeSet::new();
        for scenario in Scenario::ALL {
            let outcome = play_and_check(bench, scenario, framing).await;
            let is_end = matches!(
                scenario,
                Scenario::ClosedEarly | Scenario::CutInsideEvent | Scenario::Reset | Scenario::HeadersOnly
            );
            if let (true, Some(failure)) = (is_end, outcome.finish.reason.failure()) {
                let is_new = ends.insert(failure.message.clone());
                assert!(is_new, "{scenario:?}: told as another end of the stream: {failure}");
            }
        }
    }
    for framing in Framing::ODD {
        for scenario in [Scenario::Text, Scenario::Reasoning, Scenario::ParallelCalls] {
            play_and_check(bench, scenario, framing).await;
        }
    }
}

/// Plays one scenario and gives back what it added up to.
///
/// # Panics
/// If the adapter does not do what it must.
pub async fn check(bench: &impl Bench, scenario: Scenario) -> Assembled {
    play_and_check(bench, scenario, Framing::Plain).await
}

async fn play_and_check(bench: &impl Bench, scenario: Scenario, framing: Framing) -> Assembled {
    let Server { base_url, alive } = serve(bench.script(scenario), framing).await;
    let (adapter, config) = bench.adapter(base_url, scenario.patience());
    let subject = Subject { adapter, config };
    let (assembled, partial) = play(&subject, scenario).await;
    drop(alive);
    check_outcome(scenario, framing, assembled, &partial)
}

/// An adapter that talks to a server which plays one scenario.
struct Subject {
    adapter: Arc<dyn LlmAdapter>,
    config: CallConfig,
}

fn check_outcome(scenario: Scenario, framing: Framing, assembled: Assembled, partial: &str) -> Assembled {
    let mut shown = format!("{scenario:?} {framing:?}: {assembled:?}");
    assert!(!shown.contains(KEY), "the key is shown: {shown}");
    shown.truncate(shown.floor_char_boundary(4_000));
    let usage = assembled.usage.map(|usage| (usage.input, usage.output));
    match scenario {
        Scenario::Text | Scenario::UnknownEvents | Scenario::OddUsage => {
            assert_eq!(texts(&assembled.content), ANSWER, "{shown}");
            assert_eq!(assembled.finish.reason, FinishReason::Stop, "{shown}");
            assert_eq!(usage, Some((INPUT_TOKENS, OUTPUT_TOKENS)), "{shown}");
        }
        Scenario::Reasoning => {
            let Some(Block::Reasoning { text, .. }) = assembled.content.first() else { panic!("{shown}") };
            assert_eq!(text, REASONING, "{shown}");
            assert_eq!(texts(&assembled.content), ANSWER, "{shown}");
            assert_eq!(assembled.finish.reason, FinishReason::Stop, "{shown}");
        }
        Scenario::NoUsage => {
            assert_eq!(texts(&assembled.content), ANSWER, "{shown}");
            assert_eq!(usage, None, "{shown}");
        }
        Scenario::LoneSurrogate => assert_eq!(texts(&assembled.content), HALVED, "{shown}"),
        Scenario::LongLine => {
            let answer = texts(&assembled.content);
            assert!(answer.len() == LONG_ANSWER && answer.bytes().all(|byte| byte == b'x'), "{shown}");
            assert_eq!(assembled.finish.reason, FinishReason::Stop, "{shown}");
        }
        Scenario::EmptyArguments => {
            let calls = calls(&assembled.content);
            assert!(calls.len() == 1 && matches!(&*calls[0].arguments, "" | "{}"), "{shown}");
            assert_eq!(assembled.finish.reason, FinishReason::ToolCalls, "{shown}");
        }
        Scenario::ParallelCalls | Scenario::UnnumberedCalls => {
            let calls = calls(&assembled.content);
            let said: Vec<_> = calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
            assert_eq!(said, [("first", r#"{"n":1}"#), ("second", r#"{"n":2}"#)], "{shown}");
            assert_eq!(assembled.finish.reason, FinishReason::ToolCalls, "{shown}");
        }
        Scenario::EmptyCallIds => {
            let ids: BTreeSet<_> = calls(&assembled.content).iter().map(|call| call.id.clone()).collect();
            assert!(ids.len() == 2 && !ids.contains(""), "{shown}");
        }
        Scenario::UsedCallId => {
            let calls = calls(&assembled.content);
            assert!(calls.len() == 1 && calls[0].id != USED_CALL_ID && !calls[0].id.is_empty(), "{shown}");
        }
        Scenario::CutAtLimit => assert_eq!(assembled.finish.reason, FinishReason::MaxTokens, "{shown}"),
        Scenario::ClosedEarly | Scenario::CutInsideEvent => {
            assert_eq!(partial, PARTIAL, "{shown}");
            failed(&assembled, &FailureCode::STREAM_CLOSED, &shown);
        }
        Scenario::HeadersOnly => {
            failed(&assembled, &FailureCode::STREAM_CLOSED, &shown);
        }
        Scenario::Reset => {
            // A reset can overtake what was sent before it, so that the text may be missing.
            failed(&assembled, &FailureCode::TRANSPORT, &shown);
        }
        Scenario::ErrorInStream => {
            assert_eq!(partial, PARTIAL, "{shown}");
            let failure = failed(&assembled, &FailureCode::SERVER, &shown);
            assert!(failure.message.contains(COMPLAINT), "{shown}");
        }
        Scenario::MalformedEvent => {
            failed(&assembled, &FailureCode::MALFORMED_RESPONSE, &shown);
        }
        Scenario::EmptyAnswer => {
            failed(&assembled, &FailureCode::EMPTY_RESPONSE, &shown);
            assert_eq!(usage, Some((INPUT_TOKENS, OUTPUT_TOKENS)), "{shown}");
        }
        Scenario::Unauthorized => {
            let failure = failed(&assembled, &FailureCode::AUTH, &shown);
            assert_eq!(failure.status, Some(401), "{shown}");
        }
        Scenario::RateLimited => {
            let failure = failed(&assembled, &FailureCode::RATE_LIMIT, &shown);
            assert_eq!((failure.status, failure.retry_after_ms), (Some(429), Some(WAIT_MS)), "{shown}");
        }
        Scenario::ServerError => {
            let failure = failed(&assembled, &FailureCode::SERVER, &shown);
            assert_eq!(failure.status, Some(500), "{shown}");
            assert!(failure.message.contains(COMPLAINT), "{shown}");
        }
        Scenario::Refused => {
            failed(&assembled, &FailureCode::TRANSPORT, &shown);
        }
        Scenario::Silent => {
            assert_eq!(partial, PARTIAL, "{shown}");
            failed(&assembled, &FailureCode::TIMEOUT, &shown);
        }
        Scenario::SilentFromTheStart => {
            failed(&assembled, &FailureCode::TIMEOUT, &shown);
        }
        Scenario::Cancelled | Scenario::CancelledBeforeTheHead => {
            assert!(matches!(assembled.finish.reason, FinishReason::Aborted { .. }), "{shown}");
            failed(&assembled, &FailureCode::ABORTED, &shown);
        }
    }
    assembled
}

/// Makes the call. The chunks pass the protocol checker; a broken rule shows as a failure of its own.
async fn play(subject: &Subject, scenario: Scenario) -> (Assembled, String) {
    let cancel = CancellationToken::new();
    let prepared = subject.adapter.prepare(&subject.config);
    let prepared = prepared.unwrap_or_else(|error| panic!("{scenario:?}: prepare failed: {error}"));
    let stream = prepared.stream(Arc::new(request(subject)), cancel.clone());
    let opened = if scenario == Scenario::CancelledBeforeTheHead {
        // Polled until it waits for the server, then cancelled: nothing else can end it.
        let mut stream = pin!(stream);
        let first = std::future::poll_fn(|context| Poll::Ready(stream.as_mut().poll(context))).await;
        cancel.cancel();
        match first {
            Poll::Ready(opened) => opened,
            Poll::Pending => stream.await,
        }
    } else {
        stream.await
    };
    let mut chunks = match opened {
        Ok(stream) => CheckedStream::boxed(stream, cancel.clone()),
        Err(error) => CheckedStream::failed(error, &cancel),
    };
    let mut assembler = Assembler::default();
    while let Some(chunk) = std::future::poll_fn(|context| chunks.as_mut().poll_next(context)).await {
        assembler.push(&chunk);
        if scenario == Scenario::Cancelled && matches!(chunk, Chunk::TextDelta { .. }) {
            cancel.cancel();
        }
    }
    let partial = texts(&assembler.interrupted());
    (assembler.finish(), partial)
}

/// A request whose history has used [`USED_CALL_ID`].
fn request(subject: &Subject) -> Request {
    let call = ToolCallBlock { id: USED_CALL_ID.into(), name: "first".into(), arguments: "{}".into() };
    let result =
        ToolResultBlock { call_id: USED_CALL_ID.into(), content: vec![Block::text("ok")], is_error: false };
    let config = subject.config.clone();
    let answer = Message::assistant(&config.provider, &config.model, vec![Block::ToolCall(call)]);
    let messages = [Message::user("go"), answer, Message::tool_result(result)].map(Arc::new).to_vec();
    Request { config, system: None, tools: [].into(), messages, session: None, purpose: Purpose::Step }
}

fn failed(assembled: &Assembled, code: &FailureCode, shown: &str) -> Failure {
    let failure = assembled.finish.reason.failure().unwrap_or_else(|| panic!("no failure: {shown}"));
    assert_eq!(failure.code, *code, "{shown}");
    failure.clone()
}

fn texts(content: &[Block]) -> String {
    content.iter().filter_map(Block::as_text).collect()
}

fn calls(content: &[Block]) -> Vec<&ToolCallBlock> {
    let mut calls = Vec::new();
    for block in content {
        if let Block::ToolCall(call) = block {
            calls.push(call);
        }
    }
    calls
}
