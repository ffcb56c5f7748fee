//! The listener that decides.
use std::sync::Arc;
use std::time::Duration;

use harness_agent::{ListenerError, RequestErrorDecision, RequestFailed};
use harness_kernel::{Ctx, Plugin, PluginError};
use harness_session::{Body, EventTypeInfo, PluginEvent, Session, Sessions};

use crate::class::FailureClass;
use crate::events::{RetryScheduled, RetryStopped, StopReason};
use crate::jitter::sample;
use crate::policy::{RetryConfig, RetryConfigError};

/// Makes failed model calls again.
#[derive(Debug)]
pub struct Retry {
    config: Arc<RetryConfig>,
}
impl Retry {
    /// Reads the settings.
    ///
    /// # Errors
    /// If they make no sense: see [`RetryConfig::check`].
    pub fn new(config: RetryConfig) -> Result<Self, RetryConfigError> {
        config.check()?;
        Ok(Self { config: Arc::new(config) })
    }
}

impl Plugin for Retry {
    type Deps = Arc<Sessions>;
    fn name(&self) -> &'static str {
        "retry"
    }
    async fn apply(&self, ctx: Ctx, sessions: Arc<Sessions>) -> Result<(), PluginError> {
        sessions.register_event_type(&ctx, EventTypeInfo::of::<RetryScheduled>())?;
        sessions.register_event_type(&ctx, EventTypeInfo::of::<RetryStopped>())?;
        let config = Arc::clone(&self.config);
        ctx.around::<RequestFailed, _>(move |event, next| {
            let config = Arc::clone(&config);
            async move {
                // Whoever can mend the cause decides first.
                match next.run(event.clone()).await? {
                    RequestErrorDecision::Fail => decide(&config, &event).await,
                    decision => Ok(decision),
                }
            }
        });
        Ok(())
    }
}

async fn decide(config: &RetryConfig, event: &RequestFailed) -> Result<RequestErrorDecision, ListenerError> {
    let Some(class) = FailureClass::of(&event.failure.code) else { return Ok(RequestErrorDecision::Fail) };
    let policy = config.policy(&event.provider);
    if policy.max_retries == 0 {
        return Ok(RequestErrorDecision::Fail);
    }
    let session = event.agent.session();
    let retries = count(session);
    let wait = match event.failure.retry_after_ms {
        _ if retries >= policy.max_retries => Err(StopReason::Exhausted),
        Some(asked_ms) => policy.asked_ms(asked_ms, sample()).ok_or(StopReason::WaitTooLong { asked_ms }),
        None => Ok(policy.backoff_ms(retries + 1, sample())),
    };
    let wait_ms = match wait {
        Ok(wait_ms) => wait_ms,
        Err(reason) => {
            log(
                session,
                &RetryStopped {
                    turn: event.turn,
                    step: event.step,
                    attempt: event.attempt,
                    retries,
                    provider: event.provider.clone(),
                    class,
                    reason,
                },
            )?;
            return Ok(RequestErrorDecision::Fail);
        }
    };
    log(
        session,
        &RetryScheduled {
            turn: event.turn,
            step: event.step,
            attempt: event.attempt,
            retry: retries + 1,
            max_retries: policy.max_retries,
            provider: event.provider.clone(),
            class,
            code: event.failure.code.as_str().to_owned(),
            message: event.failure.message.clone(),
            wait_ms,
            asked: event.failure.retry_after_ms.is_some(),
        },
    )?;
    if let Err(error) = session.flush().await {
        // The barrier before the next request refuses to go on with what is not saved; nothing is lost by waiting.
        tracing::warn!(%error, "a retry was scheduled that is not saved yet");
    }
    // A cancelled wait ends at once; the loop sees the same token and ends the turn.
    let _ = event.cancel.run_until_cancelled(tokio::time::sleep(Duration::from_millis(wait_ms))).await;
    Ok(RequestErrorDecision::Retry)
}

/// How many retries the open step, or the summary before it, has had, by the log: a reloaded plugin counts the same.
fn count(session: &Session) -> u32 {
    let view = session.view();
    let since_step = (0..view.len()).rev().filter_map(|seq| view.get(seq)).take_while(|event| {
        !matches!(event.body, Body::StepStart(_) | Body::StepEnd(_) | Body::TurnStart(_))
    });
    let retries = since_step.filter(|event| event.body.type_name() == RetryScheduled::TYPE).count();
    u32::try_from(retries).unwrap_or(u32::MAX)
}

fn log<E: PluginEvent>(session: &Session, event: &E) -> Result<(), ListenerError> {
    session.append_plugin(event).map(drop).map_err(|error| ListenerError(format!("{}: {error}", E::TYPE)))
}
