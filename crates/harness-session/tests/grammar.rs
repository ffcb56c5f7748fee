//! What the log refuses.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use harness_session::{
    AppendError, Body, Draft, Event, EventClass, EventTypeInfo, Grammar, GrammarError, PluginEvent,
    RequestContext, Step,
};

mod rig;
use rig::{AT, Rig, assistant, call, result, step_end, step_start, turn_end, turn_start, user};

macro_rules! plugin_event {
    ($name:ident, $kind:literal, $class:ident) => {
        #[derive(serde::Serialize, serde::Deserialize)]
        struct $name {}
        impl PluginEvent for $name {
            const TYPE: &'static str = $kind;
            const CLASS: EventClass = EventClass::$class;
        }
    };
}
plugin_event!(Work, "test/work", Execution);
plugin_event!(Free, "test/free", Standalone);
plugin_event!(Loud, "test/loud", Surface);
plugin_event!(Thief, "turn/start", Standalone);

fn plugin<E: PluginEvent>(event: &E) -> Draft {
    Draft::plugin(event).unwrap()
}
fn context() -> Draft {
    Body::RequestContext(RequestContext { provider: "p".into(), model: "m".into(), context_window: None })
        .into()
}
const OTHER: Step = Step { turn: 1, step: 2 };

/// The log before, the event, and the words of the refusal.
fn refusals() -> Vec<(Vec<Draft>, Draft, &'static str)> {
    let turn = || vec![turn_start(1)];
    let step = || vec![turn_start(1), step_start(1, 1)];
    let asked = || [step(), vec![assistant(AT, &["a", "b"])]].concat();
    let started = || [asked(), vec![call(AT, 0, "a")]].concat();
    let answered = || [started(), vec![result(AT, 0, "a", false)]].concat();
    vec![
        (vec![], turn_start(2), "turn 2 cannot start: expected turn 1"),
        (turn(), turn_start(2), "expected turn 2 after the open one ends"),
        (vec![turn_start(1), turn_end(1)], turn_start(1), "turn 1 cannot start: expected turn 2"),
        (vec![], turn_end(1), "turn/end is outside"),
        (turn(), turn_end(2), "turn/end is outside"),
        (step(), turn_end(1), "turn 1 cannot end: its step is open"),
        (vec![], step_start(1, 1), "step/start is outside"),
        (turn(), step_start(1, 2), "step 1.2 cannot start here"),
        (step(), step_start(1, 2), "step 1.2 cannot start here"),
        ([step(), vec![step_end(1, 1)]].concat(), step_start(1, 1), "step 1.1 cannot start here"),
        (turn(), step_end(1, 1), "step/end is outside"),
        (step(), step_end(1, 2), "step/end is outside"),
        (asked(), step_end(1, 1), "tool call `a` has no result yet"),
        (answered(), step_end(1, 1), "tool call `b` has no result yet"),
        (turn(), user("hi"), "user/message is outside"),
        (vec![], user("hi"), "user/message is outside"),
        (turn(), assistant(AT, &[]), "assistant/message is outside"),
        (step(), assistant(OTHER, &[]), "assistant/message is outside"),
        (asked(), assistant(AT, &[]), "tool call `a` has no result yet"),
        (step(), assistant(AT, &["a", "a"]), "two tool calls of one message share the id `a`"),
        (step(), call(AT, 0, "a"), "the model did not ask for it"),
        (asked(), call(AT, 2, "a"), "the model did not ask for it"),
        (asked(), call(AT, 1, "a"), "the model did not ask for it"),
        (asked(), call(OTHER, 0, "a"), "tool/call is outside"),
        (started(), call(AT, 0, "a"), "it was already started"),
        (answered(), call(AT, 0, "a"), "it already has its result"),
        (answered(), result(AT, 0, "a", false), "it already has its result"),
        (asked(), result(AT, 0, "a", false), "it succeeds without having been started"),
        (asked(), result(AT, 1, "c", true), "the model did not ask for it"),
        (turn(), context(), "request/context is outside"),
        (vec![], plugin(&Work {}), "test/work is outside"),
        (step(), plugin(&Loud {}), "reserved for the core types"),
        (vec![], plugin(&Thief {}), "`turn/start` is a core type"),
    ]
}

#[tokio::test]
async fn refused_events_leave_no_trace() {
    for (before, draft, words) in refusals() {
        let rig = Rig::new().await;
        let mut grammar = Grammar::default();
        for draft in before {
            rig.append(draft);
        }
        for event in rig.events() {
            grammar.accept(&event).unwrap();
        }
        let (len, open) = (rig.session.view().len(), rig.session.open_turn());
        let refused = grammar.fits(&draft).unwrap_err();
        assert!(refused.to_string().contains(words), "{refused} does not say: {words}");
        let error = rig.session.append(draft).unwrap_err();
        // A plugin's surface event is refused before its place is looked at.
        let expected =
            error.code() == "SESSION_GRAMMAR" && error.to_string() == format!("event refused: {refused}");
        assert!(expected, "{error}");
        assert_eq!((rig.session.view().len(), rig.session.open_turn()), (len, open), "{words}");
    }
}

#[tokio::test]
async fn what_fits() {
    let rig = Rig::new().await;
    rig.append(plugin(&Free {}));
    rig.append(turn_start(1));
    rig.append(plugin(&Work {}));
    rig.append(step_start(1, 1));
    rig.append(context());
    rig.append(user("hi"));
    rig.append(assistant(AT, &["a", "b"]));
    rig.append(plugin(&Free {}));
    rig.append(call(AT, 1, "b"));
    rig.append(result(AT, 1, "b", true));
    rig.append(result(AT, 0, "a", true)); // never started, so it can only fail
    rig.append(assistant(AT, &[])); // another attempt
    rig.append(step_end(1, 1));
    rig.append(step_start(1, 2));
    rig.append(step_end(1, 2));
    rig.append(turn_end(1));
    rig.append(turn_start(2));
    assert_eq!(rig.session.turns(), 2);
    let folded = rig.events();
    assert_eq!(
        Grammar::of(folded.iter().map(|event| &**event)).unwrap().open_turn(),
        rig.session.open_turn().as_ref()
    );
}

#[tokio::test]
async fn a_result_holds_exactly_its_block() {
    let rig = Rig::new().await;
    for draft in [turn_start(1), step_start(1, 1), assistant(AT, &["a"]), call(AT, 0, "a")] {
        rig.append(draft);
    }
    let Body::ToolResult(mut wrong) = ({
        let spare = Rig::new().await;
        for draft in [turn_start(1), step_start(1, 1), assistant(AT, &["a"]), call(AT, 0, "a")] {
            spare.append(draft);
        }
        spare.append(result(AT, 0, "a", false));
        Event::clone(&spare.session.view().last().unwrap()).body
    }) else {
        panic!()
    };
    let mut message = harness_llm::Message::clone(&wrong.message);
    message.content.push(harness_llm::Block::text("more"));
    wrong.message = message.into();
    let error = rig.session.append(Body::ToolResult(wrong)).unwrap_err();
    assert!(matches!(error, AppendError::Grammar(GrammarError::MalformedResult)), "{error}");
}

#[tokio::test]
async fn event_types_are_registered_once_and_go_with_their_plugin() {
    let rig = Rig::new().await;
    let plugin = rig.ctx().fork("plugin");
    rig.sessions.register_event_type(&plugin, EventTypeInfo::of::<Work>()).unwrap();
    let twice = rig.sessions.register_event_type(rig.ctx(), EventTypeInfo::of::<Work>()).unwrap_err();
    assert!(twice.to_string().contains("`test/work` is already registered"), "{twice}");
    rig.sessions.register_event_type(rig.ctx(), EventTypeInfo::of::<Thief>()).unwrap_err();
    assert_eq!(rig.sessions.event_types().len(), 1);
    plugin.dispose().await.unwrap();
    assert_eq!(rig.sessions.event_types(), []);
}
