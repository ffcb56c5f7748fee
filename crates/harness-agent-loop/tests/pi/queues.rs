//! Rows of the two queues.
use std::sync::Arc;

use harness_agent::{Agent, Delivery, InboxPolicy, QueueMode, QueueModes};
use harness_llm::Message;
use harness_session::{AbortCause, InboxTarget};

use crate::rig::tools::Hang;
use crate::rig::{Rig, calls, text};
use crate::{line, note, said};

fn modes(rig: &Rig, steering: QueueMode, followups: QueueMode) {
    let mut options = rig.agent.options();
    options.queues = QueueModes { steering, followups };
    rig.agent.set_options(options);
}
fn pending(agent: &Arc<dyn Agent>, target: InboxTarget) -> Vec<String> {
    agent.pending(target).iter().map(|message| line(message)).collect()
}
/// Three words, with context before and after them, come to an idle agent before it can run.
async fn steered(rig: &Rig) {
    rig.agent.inject(note("ctx 1")).unwrap();
    for word in ["s1", "s2", "s3"] {
        rig.agent.steer(Message::user(word)).unwrap();
    }
    rig.agent.inject(note("ctx 2")).unwrap();
    rig.agent.when_idle().await;
}

#[tokio::test]
async fn steering_all() {
    let rig = Rig::new([text("1")]).await;
    steered(&rig).await;
    assert_eq!(said(&rig.script.requests()[0]), ["ctx 1", "s1", "s2", "s3", "ctx 2"]);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn steering_one_at_a_time() {
    let rig = Rig::new(["1", "2", "3"].map(text)).await;
    modes(&rig, QueueMode::OneAtATime, QueueMode::OneAtATime);
    steered(&rig).await;
    // One turn, a step for each word; context never waits.
    let requests = rig.script.requests();
    assert_eq!(said(&requests[0]), ["ctx 1", "s1", "ctx 2"]);
    assert_eq!(said(&requests[1])[3..], ["1", "s2"]);
    assert_eq!(said(&requests[2])[5..], ["2", "s3"]);
    assert_eq!(rig.story().iter().filter(|line| *line == "turn/start").count(), 1);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn follow_up_all() {
    let rig = Rig::new([text("1")]).await;
    modes(&rig, QueueMode::All, QueueMode::All);
    for word in ["a", "b", "c"] {
        rig.agent.followup(Message::user(word)).unwrap();
    }
    rig.agent.when_idle().await;
    assert_eq!(said(&rig.script.requests()[0]), ["a", "b", "c"]);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn follow_up_one_at_a_time() {
    let rig = Rig::new(["1", "2"].map(text)).await;
    modes(&rig, QueueMode::All, QueueMode::OneAtATime);
    for word in ["a", "b"] {
        rig.agent.followup(Message::user(word)).unwrap();
    }
    rig.agent.when_idle().await;
    assert_eq!(said(&rig.script.requests()[1]), ["a", "1", "b"]);
    assert_eq!(rig.story().iter().filter(|line| *line == "turn/start").count(), 2);
    rig.app.shutdown().await.unwrap();
}

/// A turn hangs in a tool with two words and two follow-ups behind it.
async fn hanging() -> Rig {
    let hang = Hang::default();
    let started = Arc::clone(&hang.started);
    let replies = [calls(&[("c1", "hang", "{}")]), text("1"), text("2"), text("3")];
    let rig = Rig::with(replies, |ctx, tools| tools.register(ctx, hang).unwrap()).await;
    modes(&rig, QueueMode::OneAtATime, QueueMode::OneAtATime);
    rig.agent.followup(Message::user("go")).unwrap();
    started.notified().await;
    for word in ["s1", "s2"] {
        rig.agent.steer(Message::user(word)).unwrap();
    }
    rig.agent.followup(Message::user("f1")).unwrap();
    rig
}

#[tokio::test]
async fn queues_and_cancel() {
    let rig = hanging().await;
    rig.agent.cancel(AbortCause::User, InboxPolicy::Clear);
    rig.agent.when_idle().await;
    assert!(pending(&rig.agent, InboxTarget::NextStep).is_empty());
    assert!(pending(&rig.agent, InboxTarget::NextTurn).is_empty());
    assert_eq!(rig.script.requests().len(), 1);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn queues_and_resume() {
    let rig = hanging().await;
    rig.agent.cancel(AbortCause::User, InboxPolicy::Keep);
    rig.agent.when_idle().await;
    assert_eq!(rig.script.requests().len(), 1, "what is kept waits");
    let (header, events) = (rig.agent.session().header().clone(), rig.events());
    rig.app.shutdown().await.unwrap();

    let resumed = Rig::resumed(["1", "2", "3"].map(text), header, events, |_, _| {}).await;
    modes(&resumed, QueueMode::OneAtATime, QueueMode::OneAtATime);
    assert_eq!(pending(&resumed.agent, InboxTarget::NextStep), ["s1", "s2"]);
    assert_eq!(pending(&resumed.agent, InboxTarget::NextTurn), ["f1"]);
    // A word that wakes nobody changes nothing.
    let quiet = Delivery { target: InboxTarget::NextTurn, wake: false };
    resumed.agent.send(Message::user("f2"), quiet).unwrap();
    resumed.agent.when_idle().await;
    assert!(resumed.script.requests().is_empty());
    resumed.agent.steer(Message::user("s3")).unwrap();
    resumed.agent.when_idle().await;
    let words: Vec<_> = resumed.story().into_iter().filter(|line| line.starts_with("user/")).collect();
    let words: Vec<_> = words.iter().map(|line| line.trim_start_matches("user/message ")).collect();
    assert_eq!(words, ["go", "s1", "f1", "s2", "s3", "f2"]);
    resumed.app.shutdown().await.unwrap();
}
