//! The compactor: chooses the range and sees the transaction through.
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use harness_agent::Agent;
use harness_compact::{CompactError, Compacted, Compactor, Trigger};
use harness_llm::{FailureCode, Llm};
use harness_session::{Session, SessionId};
use harness_token_meter::{header_tokens, measure, text_tokens};
use tokio_util::sync::CancellationToken;

use crate::config::{CompactConfig, part};
use crate::cut::{choose, nodes};
use crate::prune::prune;
use crate::summary::INSTRUCTION;
use crate::transaction::Transaction;

/// How often a range is halved when even the request for its summary is too long.
const HALVINGS: u32 = 3;

/// One compaction of a session at a time.
#[derive(Default)]
struct Running(Mutex<HashSet<SessionId>>);
impl Running {
    fn sessions(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held while a session is compacted.
struct Held(Arc<Running>, SessionId);
impl Held {
    fn take(session: &Session) -> Result<Self, CompactError> {
        let running = session.ctx().state::<Running>();
        let free = running.sessions().insert(session.id());
        if free { Ok(Self(running, session.id())) } else { Err(CompactError::Busy) }
    }
}
impl Drop for Held {
    fn drop(&mut self) {
        self.0.sessions().remove(&self.1);
    }
}

pub(crate) struct Engine {
    pub(crate) llm: Arc<Llm>,
    pub(crate) config: CompactConfig,
}

impl Engine {
    /// The window in tokens, if it is known.
    pub(crate) fn window(&self, session: &Session) -> Option<u64> {
        measure(session).window.or(self.config.context_window)
    }
}

#[async_trait]
impl Compactor for Engine {
    async fn compact(
        &self,
        agent: &Arc<dyn Agent>,
        trigger: Trigger,
        cancel: CancellationToken,
    ) -> Result<Compacted, CompactError> {
        let session = agent.session();
        if trigger == Trigger::Manual && session.open_turn().is_some() {
            return Err(CompactError::Busy);
        }
        let _held = Held::take(session)?;
        let header = session.request_header().ok_or(CompactError::Nothing)?;
        let first = measure(session);
        // A provider that refuses a request knows the window better than any table.
        let window = match (self.window(session), trigger) {
            (Some(window), Trigger::Overflow) => window.min(first.tokens),
            (window, _) => window.unwrap_or(first.tokens),
        };
        let retain = part(window, self.config.retain);
        if trigger == Trigger::Manual {
            prune(session, &self.config, trigger, retain)?;
        }
        let summary_max = self.config.summary_max_tokens.min(window / 8).max(1);
        let now = measure(session).tokens;
        let mut most = {
            let surface = nodes(session);
            let plain = header_tokens(&header) + surface.iter().map(|node| node.tokens).sum::<u64>();
            let fixed = header_tokens(&header) + text_tokens(INSTRUCTION) + summary_max;
            // In tokens as estimated, which the measure may have found to be too few.
            let room = u128::from(window - window / 20) * u128::from(plain) / u128::from(now.max(1));
            u64::try_from(room).unwrap_or(u64::MAX).saturating_sub(fixed)
        };
        for _ in 0..=HALVINGS {
            let surface = nodes(session);
            let total: u64 = surface.iter().map(|node| node.tokens).sum();
            let retain = match trigger {
                Trigger::Pressure => retain,
                _ => retain.min(total / 8),
            };
            let cut = choose(&surface, retain, most).ok_or(CompactError::Nothing)?;
            let replaced: u64 = surface[..cut].iter().map(|node| node.tokens).sum();
            let transaction = Transaction {
                engine: self,
                agent,
                header: &header,
                trigger,
                before: measure(session).tokens,
                surface,
                cut,
                replaced,
                window,
                summary_max,
                cancel: &cancel,
            };
            match transaction.run().await {
                Err(CompactError::Model(failure)) if failure.code == FailureCode::CONTEXT_WINDOW_EXCEEDED => {
                    most = replaced / 2;
                }
                Err(error) => return Err(error),
                Ok(after) => return Ok(Compacted { before: first.tokens, after }),
            }
        }
        Err(CompactError::Unusable("even a part of the history is too long for the model"))
    }
}
