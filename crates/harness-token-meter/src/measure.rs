//! What the next request weighs.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use harness_session::{Body, Event, RequestHeader, Seq, Session, SessionId, SurfaceOp};

use crate::estimate::{header_tokens, message_tokens};

/// The weight of a session's next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Tokens of system prompt, tools and history.
    pub tokens: u64,
    /// Whether most of it was counted by the provider, and only what came since is estimated.
    pub anchored: bool,
    /// The model's context window in tokens, if the log knows it.
    pub window: Option<u64>,
}

/// What was counted before, kept in the sessions' scope.
#[derive(Default)]
struct Counted(Mutex<HashMap<SessionId, State>>);

#[derive(Default)]
struct State {
    generation: u64,
    /// Estimated tokens of the surface up to and with each event.
    sums: Vec<(Seq, u64)>,
    header: Option<(Arc<RequestHeader>, u64)>,
    /// How many events of the log were looked at.
    seen: Seq,
    /// The newest answer whose usage counts what is on the surface, and that count.
    anchor: Option<(Seq, u64)>,
    window: Option<u64>,
    /// How far the estimate was off when last anchored: reported for estimated.
    ratio: Option<(u64, u64)>,
}

/// Measures a session. Costs no more than what is new since the last time.
pub fn measure(session: &Session) -> Measure {
    let counted = session.ctx().state::<Counted>();
    let mut counted = counted.0.lock().unwrap_or_else(PoisonError::into_inner);
    let state = counted.entry(session.id()).or_default();
    let view = session.view();
    for event in view.iter_from(state.seen) {
        state.see(&event);
    }
    state.seen = view.len();
    session.with_derivation(|derived| {
        if state.generation != derived.generation() {
            state.generation = derived.generation();
            state.sums.clear();
        }
        let mut sum = state.sums.last().map_or(0, |(_, sum)| *sum);
        for (seq, message) in derived.entries().skip(state.sums.len()) {
            sum += message.map_or(0, |message| message_tokens(message));
            state.sums.push((seq, sum));
        }
        if let Some(header) = derived.header()
            && !state.header.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, header))
        {
            state.header = Some((Arc::clone(header), header_tokens(header)));
        }
    });
    state.measure()
}

impl State {
    fn see(&mut self, event: &Event) {
        match &event.body {
            Body::RequestHeader(_) => self.anchor = None,
            Body::RequestContext(context) => self.window = context.context_window,
            Body::AssistantMessage(answer) => {
                if let Some(usage) = answer.usage.filter(|_| !answer.interrupted) {
                    let prompt = usage.input + usage.cache_read.unwrap_or(0) + usage.cache_write.unwrap_or(0);
                    self.anchor = Some((event.seq, prompt + usage.output));
                }
            }
            _ => {}
        }
        if matches!(event.surface, Some(SurfaceOp::Replace(..))) {
            self.anchor = None;
        }
    }
    fn measure(&mut self) -> Measure {
        let header = self.header.as_ref().map_or(0, |(_, tokens)| *tokens);
        let all = header + self.sums.last().map_or(0, |(_, sum)| *sum);
        let anchored = self.anchor.and_then(|(seq, reported)| {
            let (_, sum) = self.sums.iter().rev().find(|(at, _)| *at == seq)?;
            // A report far below any tokenizer's is none: some servers send zeros.
            (reported * 4 >= header + sum).then_some((reported, header + sum))
        });
        if let Some((reported, estimated)) = anchored {
            self.ratio = Some((reported, estimated.max(1)));
            let tokens = reported + (all - estimated);
            return Measure { tokens, anchored: true, window: self.window };
        }
        // Never below the plain estimate: after a report that was low, rather too early than too late.
        let tokens = match self.ratio {
            Some((reported, estimated)) if reported > estimated => {
                let scaled = u128::from(all) * u128::from(reported) / u128::from(estimated);
                u64::try_from(scaled).unwrap_or(u64::MAX)
            }
            _ => all,
        };
        Measure { tokens, anchored: false, window: self.window }
    }
}
