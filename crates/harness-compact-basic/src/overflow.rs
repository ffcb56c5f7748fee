//! After a provider refused a request as too long.
use harness_agent::{RequestErrorDecision, RequestFailed};
use harness_compact::{CompactBegin, CompactError, CompactPruned, Compactor, Trigger};
use harness_llm::{Failure, FailureCode};
use harness_session::{Body, Session, Step};
use harness_token_meter::measure;

use crate::config::part;
use crate::engine::Engine;
use crate::pressure::{ATTEMPTS, not_compacted};
use crate::prune::prune;

/// Recovers, if the failure is of that kind.
pub(crate) async fn recover(engine: &Engine, event: &RequestFailed) -> Option<RequestErrorDecision> {
    if event.failure.code != FailureCode::CONTEXT_WINDOW_EXCEEDED {
        return None;
    }
    let session = event.agent.session();
    let refused = measure(session).tokens;
    // What was refused does not fit, whatever is said of the model.
    let window = engine.window(session).map_or(refused, |window| window.min(refused));
    let mut problem = None;
    for recovery in recoveries(session, Step { turn: event.turn, step: event.step })..ATTEMPTS {
        match prune(session, &engine.config, Trigger::Overflow, 0) {
            Ok(results)
                if results > 0 && measure(session).tokens <= part(window, engine.config.threshold) =>
            {
                return Some(RequestErrorDecision::Retry);
            }
            Ok(_) => {}
            Err(error) => {
                let stop = not_compacted(measure(session).tokens, window, Some(&error));
                return Some(RequestErrorDecision::FailWith(stop));
            }
        }
        match engine.compact(&event.agent, Trigger::Overflow, event.cancel.clone()).await {
            Ok(_) => problem = None,
            // The loop ends a cancelled turn by itself; a veto leaves the refusal as it is.
            Err(CompactError::Cancelled | CompactError::Rejected(_)) => return None,
            Err(error) => problem = Some(error),
        }
        if measure(session).tokens < window {
            return Some(RequestErrorDecision::Retry);
        }
        tracing::warn!(recovery, "a compaction did not make enough room");
    }
    let stop = not_compacted(measure(session).tokens, window, problem.as_ref());
    let message = format!("{} ({})", stop.message, event.failure.message);
    let Failure { status, request_id, .. } = event.failure.clone();
    Some(RequestErrorDecision::FailWith(Failure { message, status, request_id, ..stop }))
}

/// How many recoveries the open step has had, by the log. Pruning and the compaction right behind it are one.
fn recoveries(session: &Session, at: Step) -> u32 {
    let view = session.view();
    let start = (0..view.len()).rev().find(|seq| {
        view.get(*seq).is_some_and(|event| matches!(&event.body, Body::StepStart(start) if *start == at))
    });
    let (mut count, mut pruned) = (0, false);
    for event in view.iter_from(start.unwrap_or(0)) {
        match &event.body {
            // Another request was made.
            Body::AssistantChunks(_) => pruned = false,
            Body::Plugin(data) => {
                let overflow = |trigger| trigger == Trigger::Overflow;
                if matches!(data.read::<CompactPruned>(), Some(Ok(prune)) if overflow(prune.trigger)) {
                    count += 1;
                    pruned = true;
                }
                if matches!(data.read::<CompactBegin>(), Some(Ok(begin)) if overflow(begin.trigger))
                    && !std::mem::take(&mut pruned)
                {
                    count += 1;
                }
            }
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use harness_kernel::App;
    use harness_llm::Chunk;
    use harness_session::{ChunkRecorder, SessionHeader, SessionPlugin, Sessions, Turn};

    use super::*;

    const AT: Step = Step { turn: 1, step: 1 };

    fn begin(trigger: Trigger) -> CompactBegin {
        CompactBegin { compaction: 1, trigger, first: 0, last: 0, events: 1, tokens: 1, before: 1 }
    }
    fn pruned(trigger: Trigger) -> CompactPruned {
        CompactPruned { trigger, results: 1, before: 2, after: 1 }
    }

    #[tokio::test]
    async fn pruning_and_the_compaction_behind_it_are_one_recovery() {
        let app = App::default().with(SessionPlugin::default()).start().await.unwrap();
        let sessions = app.ctx().service::<Sessions>().unwrap();
        let session = sessions.create(app.ctx(), SessionHeader::new(0, None), vec![]).unwrap();
        session.append(Body::TurnStart(Turn { turn: 1 })).unwrap();
        session.append_plugin(&begin(Trigger::Overflow)).unwrap();
        session.append(Body::StepStart(AT)).unwrap();
        assert_eq!(recoveries(&session, AT), 0, "another step's do not count");
        session.append_plugin(&pruned(Trigger::Pressure)).unwrap();
        session.append_plugin(&begin(Trigger::Manual)).unwrap();
        assert_eq!(recoveries(&session, AT), 0, "nor those of another kind");
        session.append_plugin(&pruned(Trigger::Overflow)).unwrap();
        assert_eq!(recoveries(&session, AT), 1);
        session.append_plugin(&begin(Trigger::Overflow)).unwrap();
        assert_eq!(recoveries(&session, AT), 1, "still the same");
        session.append_plugin(&begin(Trigger::Overflow)).unwrap();
        assert_eq!(recoveries(&session, AT), 2);
        session.append_plugin(&pruned(Trigger::Overflow)).unwrap();
        let mut recorder = ChunkRecorder::new(AT, 2);
        recorder.push(0, &Chunk::Finish(harness_llm::FinishReason::Stop.into()));
        session.append(recorder.take_run().unwrap()).unwrap();
        session.append_plugin(&begin(Trigger::Overflow)).unwrap();
        assert_eq!(recoveries(&session, AT), 4, "a request was made between the two");
        app.shutdown().await.unwrap();
    }
}
