//! Rows around a tool call.
use std::sync::Arc;
use std::sync::atomic::Ordering;

use harness_llm::{Block, Usage};
use harness_session::{Body, ToolResult};
use harness_tools::{
    Annotate, PostExecute, PostToolDecision, PreExecute, PreToolDecision, ResultNotes, ToolFailureCode,
};
use serde_json::{Value, json};

use crate::rig::tools::Echo;
use crate::rig::{Rig, calls, text};
use crate::{Notes, note, said};

fn results(rig: &Rig) -> Vec<ToolResult> {
    let result = |body: &Body| match body {
        Body::ToolResult(result) => Some(result.clone()),
        _ => None,
    };
    rig.events().iter().filter_map(|event| result(&event.body)).collect()
}

#[tokio::test]
async fn before_tool_call() {
    let echo = Echo::default();
    let runs = Arc::clone(&echo.runs);
    let both = calls(&[("c1", "echo", r#"{"text":"rm"}"#), ("c2", "echo", r#"{"text":"ls"}"#)]);
    let rig = Rig::with([both, text("ok")], |ctx, tools| {
        tools.register(ctx, echo).unwrap();
        ctx.around::<PreExecute, _>(|PreExecute(call), next| async move {
            // Valid arguments, a token to heed; the history is the session's.
            assert!(!call.cancel_token().is_cancelled());
            if call.arguments()["text"] == "rm" {
                return Ok(PreToolDecision::deny("not that"));
            }
            next.run(PreExecute(call)).await
        });
    })
    .await;
    rig.go("go").await;
    assert_eq!(said(&rig.script.requests()[1])[2..], ["c1=Error: not that!", "c2=ls"]);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn tool_call() {
    let audit = Notes::<(String, String, Value)>::default();
    let seen = Arc::clone(&audit);
    let call = calls(&[("c1", "echo", r#"{"text":"hi"}"#)]);
    let rig = Rig::with([call, text("ok")], |ctx, tools| {
        tools.register(ctx, Echo::default()).unwrap();
        ctx.around::<PreExecute, _>(move |PreExecute(call), next| {
            let entry = (call.id().to_owned(), call.name().to_owned(), call.arguments().clone());
            seen.lock().unwrap().push(entry);
            next.run(PreExecute(call))
        });
    })
    .await;
    rig.go("go").await;
    assert_eq!(*audit.lock().unwrap(), [("c1".to_owned(), "echo".to_owned(), json!({"text": "hi"}))]);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn after_tool_call() {
    let usage = Usage { input: 7, output: 3, ..Usage::default() };
    let call = calls(&[("c1", "echo", r#"{"text":"key=hush"}"#)]);
    // One reply: the turn ends though the model has not seen the result.
    let rig = Rig::with([call], |ctx, tools| {
        tools.register(ctx, Echo::default()).unwrap();
        ctx.around::<PostExecute, _>(|event, next| async move {
            let shown = event.returned.content();
            let PostToolDecision::Accept { contexts } = next.run(event).await? else { unreachable!() };
            let hidden = |block: &Block| Block::text(block.as_text().unwrap().replace("hush", "…"));
            Ok(PostToolDecision::AcceptContent { content: shown.iter().map(hidden).collect(), contexts })
        });
        ctx.around::<Annotate, _>(move |event, next| async move {
            assert_eq!(event.content[0], Block::text("key=…"), "the decision comes first");
            let notes = next.run(event).await?;
            assert_eq!(notes, ResultNotes::default());
            Ok(ResultNotes {
                details: Some(json!({"redacted": 1})),
                usage: Some(usage),
                concludes_turn: true,
            })
        });
    })
    .await;
    rig.go("go").await;
    let result = results(&rig).pop().unwrap();
    assert_eq!(crate::line(&result.message), "c1=key=…");
    assert_eq!(result.meta, Some(json!({"redacted": 1})));
    assert_eq!(result.usage, Some(usage));
    let stored = serde_json::to_string(&result).unwrap();
    assert_eq!(serde_json::from_str::<ToolResult>(&stored).unwrap(), result, "and all of it is stored");
    assert_eq!(rig.story().last().unwrap(), "turn/end completed");
    assert_eq!(rig.script.requests().len(), 1);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn after_tool_call_is_error() {
    let both = calls(&[("c1", "echo", r#"{"text":"FAILED"}"#), ("c2", "nosuch", "{}")]);
    let rig = Rig::with([both, text("ok")], |ctx, tools| {
        tools.register(ctx, Echo::default()).unwrap();
        ctx.around::<PostExecute, _>(|event, next| async move {
            // A success becomes an error. The other way round takes a value that fits the tool.
            match event.returned.result() {
                Ok(value) if value == "FAILED" => {
                    Ok(PostToolDecision::Block { feedback: "it failed".into(), contexts: vec![note("why")] })
                }
                _ => next.run(event).await,
            }
        });
    })
    .await;
    rig.go("go").await;
    let said = said(&rig.script.requests()[1]);
    assert_eq!((said[2].as_str(), said[4].as_str()), ("c1=Error: it failed!", "why"));
    let codes: Vec<_> = results(&rig).into_iter().map(|result| result.error.unwrap().code).collect();
    assert_eq!(codes, [ToolFailureCode::BLOCKED.as_str(), ToolFailureCode::UNKNOWN_TOOL.as_str()]);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn tool_result() {
    let audit = Notes::<String>::default();
    let seen = Arc::clone(&audit);
    let both = calls(&[("c1", "echo", r#"{"text":"hi"}"#), ("c2", "echo", r#"{"text":"no"}"#)]);
    let rig = Rig::with([both, text("ok")], |ctx, tools| {
        tools.register(ctx, Echo::default()).unwrap();
        ctx.around::<PreExecute, _>(|PreExecute(call), next| async move {
            if call.id() == "c2" {
                return Ok(PreToolDecision::deny("no"));
            }
            next.run(PreExecute(call)).await
        });
        ctx.around::<Annotate, _>(move |event, next| {
            let text: String = event.content.iter().filter_map(Block::as_text).collect();
            let (call, is_error) = (&event.call, event.is_error);
            let entry = format!("{} {} {} {text} {is_error}", call.id(), call.name(), call.arguments());
            seen.lock().unwrap().push(entry);
            next.run(event)
        });
    })
    .await;
    rig.go("go").await;
    let audit = audit.lock().unwrap().clone();
    assert_eq!(audit, [r#"c1 echo {"text":"hi"} hi false"#, r#"c2 echo {"text":"no"} Error: no true"#]);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_failing_annotation_withholds_the_result() {
    let replies = [calls(&[("c1", "echo", r#"{"text":"hi"}"#)]), text("ok")];
    let rig = Rig::with(replies, |ctx, tools| {
        tools.register(ctx, Echo { context: Some("kept"), ..Echo::default() }).unwrap();
        ctx.around::<Annotate, _>(|_, _| async { panic!("no idea") });
    })
    .await;
    rig.go("go").await;
    let result = results(&rig).pop().unwrap();
    assert_eq!(result.error.unwrap().code, "LISTENER_FAILED");
    let said = said(&rig.script.requests()[1]);
    assert!(said[2].contains("no idea") && !said[2].contains("hi!"), "{said:?}");
    assert_eq!(said[3], "kept");
    rig.app.shutdown().await.unwrap();
}
