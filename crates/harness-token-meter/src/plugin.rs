//! Logs what each turn used.
use std::sync::Arc;

use harness_agent::{ListenerError, TurnEnding};
use harness_kernel::{Ctx, Lazy, Plugin, PluginError};
use harness_session::{EventTypeInfo, Sessions};

use crate::cost::Prices;
use crate::events::{CallUsage, TurnUsage};
use crate::tally::Tally;

/// Logs `turn/usage` before each `turn/end`.
#[derive(Debug, Default)]
pub struct TokenMeter;

impl Plugin for TokenMeter {
    type Deps = (Arc<Sessions>, Lazy<dyn Prices>);
    fn name(&self) -> &'static str {
        "token-meter"
    }
    async fn apply(&self, ctx: Ctx, (sessions, prices): Self::Deps) -> Result<(), PluginError> {
        sessions.register_event_type(&ctx, EventTypeInfo::of::<TurnUsage>())?;
        sessions.register_event_type(&ctx, EventTypeInfo::of::<CallUsage>())?;
        ctx.on_parallel::<TurnEnding, _>(move |ending| {
            let prices = prices.get();
            async move {
                let session = ending.agent.session();
                let view = session.view();
                let turn = Tally::of_turn(&view, prices.as_deref());
                if turn.requests == 0 {
                    return Ok(());
                }
                let whole = Tally::since(&view, 0, prices.as_deref());
                let event = TurnUsage {
                    turn: ending.turn,
                    requests: turn.requests,
                    usage: turn.usage,
                    usd: turn.cost.usd(),
                    cost: turn.cost,
                    session_usage: whole.usage,
                    session_usd: whole.cost.usd(),
                };
                session.append_plugin(&event).map(drop).map_err(|error| ListenerError(error.to_string()))
            }
        });
        Ok(())
    }
}
