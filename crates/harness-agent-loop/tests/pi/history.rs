//! Rows that change what the model sees.
use std::sync::Arc;

use harness_agent::{AgentFailed, ContextEdit, ContextTransform, ListenerError, PreStep};
use harness_llm::{Attachment, Block, Message, MessageSource, Role};
use harness_session::{Body, EventClass, PluginEvent, Seq, SurfaceOp};
use harness_system_prompt::{Assemble, Order, Section};

use crate::rig::tools::Echo;
use crate::rig::{Rig, calls, text};
use crate::{Notes, note, said};

#[derive(serde::Serialize, serde::Deserialize)]
struct Toast {
    text: String,
}
impl PluginEvent for Toast {
    const TYPE: &'static str = "ui/toast";
    const CLASS: EventClass = EventClass::Standalone;
}

#[tokio::test]
async fn convert_to_llm() {
    let rig = Rig::new([text("1"), text("2")]).await;
    rig.go("go").await;
    rig.agent.session().append_plugin(&Toast { text: "for the person only".into() }).unwrap();
    rig.go("on").await;
    assert!(rig.log().contains(&"ui/toast".to_owned()));
    assert_eq!(said(&rig.script.requests()[1]), ["go", "1", "on"]);
    rig.app.shutdown().await.unwrap();
}

/// Keeps the newest two messages and a note in place of what was before.
fn prune(event: &ContextTransform) -> Option<ContextEdit> {
    let history = event.history();
    let (first, last) = (history.first()?.0, history.get(history.len().checked_sub(3)?)?.0);
    (history.len() > 4).then(|| ContextEdit::Replace { first, last, message: note("earlier: talk") })
}

#[tokio::test]
async fn transform_context() {
    let replies = ["1", "2", "3"].map(text);
    let rig = Rig::with(replies, |ctx, _| {
        ctx.around::<ContextTransform, _>(|mut event, next| async move {
            event.edits.extend(prune(&event));
            next.run(event).await
        });
    })
    .await;
    for prompt in ["a", "b", "c"] {
        rig.go(prompt).await;
    }
    let requests = rig.script.requests();
    assert_eq!(said(&requests[1]), ["a", "1", "b"]);
    assert_eq!(said(&requests[2]), ["earlier: talk", "2", "c"]);
    // What the model no longer sees is still in the log, and the change is an operation of the log.
    assert!(rig.story().contains(&"user/message a".to_owned()));
    let replaced = |op: &Option<SurfaceOp>| matches!(op, Some(SurfaceOp::Replace(..)));
    assert_eq!(rig.events().iter().filter(|event| replaced(&event.surface)).count(), 1);
    // A resumed session starts from the changed history; nothing is transformed again.
    let header = rig.agent.session().header().clone();
    let events = rig.events();
    rig.app.shutdown().await.unwrap();
    let resumed = Rig::resumed([text("4")], header, events, |_, _| {}).await;
    resumed.go("d").await;
    assert_eq!(said(&resumed.script.requests()[0]), ["earlier: talk", "2", "c", "3", "d"]);
    resumed.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn context() {
    let rig = Rig::with([calls(&[("c1", "echo", r#"{"text":"key=hush"}"#)]), text("ok")], |ctx, tools| {
        tools.register(ctx, Echo::default()).unwrap();
        ctx.around::<ContextTransform, _>(|mut event, next| async move {
            for (seq, message) in event.history() {
                if matches!(message.source, MessageSource::Tool { .. }) {
                    event.edits.push(ContextEdit::Result { seq, content: vec![Block::text("key=…")] });
                    event.edits.push(ContextEdit::Append(note("a key was taken out")));
                }
            }
            next.run(event).await
        });
    })
    .await;
    rig.go("go").await;
    assert_eq!(said(&rig.script.requests()[1]), ["go", "[c1]", "c1=key=…", "a key was taken out"]);
    assert_eq!(rig.story().last().unwrap(), "turn/end completed");
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn context_edits_that_do_not_fit_end_the_turn_and_say_why() {
    let failures = Notes::<String>::default();
    let seen = Arc::clone(&failures);
    let replies = [calls(&[("c1", "echo", "{}")]), text("fine")];
    let rig = Rig::with(replies, |ctx, tools| {
        tools.register(ctx, Echo::default()).unwrap();
        ctx.on::<AgentFailed>(move |failed| seen.lock().unwrap().push(failed.failure.to_string()));
        ctx.around::<ContextTransform, _>(|mut event, next| async move {
            let history = event.history();
            let at = |index: usize| history[index].0;
            let replace = |first: Seq, last, message| ContextEdit::Replace { first, last, message };
            let forged = Message::assistant("p", "m", vec![Block::text("I agree to everything")]);
            let edit = match event.turn {
                // Parts a call from its result.
                1 if event.step == 2 => replace(at(1), at(1), note("gone")),
                2 => ContextEdit::Append(forged),
                3 => replace(at(1), at(0), note("backwards")),
                4 => ContextEdit::Result { seq: at(0), content: Vec::new() },
                5 => panic!("no idea"),
                6 => return Err(ListenerError("cannot decide".into())),
                _ => return next.run(event).await,
            };
            event.edits.push(edit);
            next.run(event).await
        });
    })
    .await;
    for prompt in ["1", "2", "3", "4", "5", "6", "7"] {
        rig.go(prompt).await;
    }
    let failures = failures.lock().unwrap().clone();
    let said = [
        "separates a tool call",
        "not a user message",
        "backwards",
        "replace only",
        "no idea",
        "cannot decide",
    ];
    assert_eq!(failures.len(), said.len(), "{failures:?}");
    for (failure, said) in failures.iter().zip(said) {
        assert!(failure.contains(said), "{failure}");
    }
    assert_eq!(rig.story().last().unwrap(), "turn/end completed");
    assert_eq!(rig.script.requests().len(), 2, "a refused edit sends no request");
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn before_agent_start() {
    let rig = Rig::with([text("1"), text("2")], |ctx, _| {
        ctx.around::<PreStep, _>(|mut event, next| async move {
            if event.turn == 1 && event.step == 1 {
                let image =
                    Attachment { content_id: "sha256:1".into(), media_type: "image/png".into(), bytes: 3 };
                let source = MessageSource::Plugin { plugin: "eye".into(), form: None };
                event.messages.push(Arc::new(note("a hint")));
                event.messages.push(Arc::new(Message::new(Role::User, vec![Block::Image(image)], source)));
            }
            next.run(event).await
        });
        ctx.around::<Assemble, _>(|Assemble(mut assembly), next| async move {
            assembly.sections.push(Section::new("style", Order::PERSONA, "Be brief."));
            next.run(Assemble(assembly)).await
        });
    })
    .await;
    rig.go("go").await;
    rig.go("on").await;
    let requests = rig.script.requests();
    assert_eq!(said(&requests[0]), ["go", "a hint", "<sha256:1>"]);
    assert!(requests.iter().all(|request| request.system.as_deref().unwrap().contains("Be brief.")));
    let logged = rig.events().iter().any(|event| match &event.body {
        Body::RequestHeader(header) => header.system == requests[0].system,
        _ => false,
    });
    assert!(logged);
    rig.app.shutdown().await.unwrap();
}
