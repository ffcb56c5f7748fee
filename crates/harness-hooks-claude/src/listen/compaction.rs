//! `PreCompact` may refuse, `PostCompact` is told, and `SessionStart` runs again for what the summary left out.
use std::ops::ControlFlow;
use std::sync::Arc;

use harness_compact::{AfterCompact, BeforeCompact, BeforeCompactDecision, Trigger};
use harness_hooks::{Decision, EventFields, HookEvent};
use harness_kernel::Ctx;

use super::session::started;
use crate::bridge::{About, Bridge, context};

/// Why compaction is refused when the hook does not say.
const REFUSED: &str = "a PreCompact hook refused it";

pub(crate) fn listen(ctx: &Ctx, bridge: &Arc<Bridge>) {
    let asked = Arc::clone(bridge);
    ctx.on_serial::<BeforeCompact, _>(move |before| {
        let bridge = Arc::clone(&asked);
        async move {
            match refusal(&bridge, &before).await {
                Some(reason) => ControlFlow::Break(BeforeCompactDecision::Reject { reason }),
                None => ControlFlow::Continue(()),
            }
        }
    });
    let told = Arc::clone(bridge);
    ctx.on_parallel::<AfterCompact, _>(move |after| {
        let bridge = Arc::clone(&told);
        async move {
            let agent = &after.agent;
            let fields = EventFields::PostCompact {
                trigger: word(after.trigger).to_owned(),
                compact_summary: after.summary.to_string(),
            };
            let cancel = Bridge::state(agent).ended.clone();
            bridge.fire(agent, &bridge.known(agent), fields, About::default(), &cancel).await;
            started(&bridge, agent, "compact").await;
            Ok(())
        }
    });
}

async fn refusal(bridge: &Arc<Bridge>, before: &BeforeCompact) -> Option<String> {
    let agent = &before.agent;
    let fields = EventFields::PreCompact {
        trigger: word(before.trigger).to_owned(),
        custom_instructions: String::new(),
    };
    let hooks = bridge.hooks(agent);
    let outcome = bridge.fire(agent, &hooks, fields, About::default(), &before.cancel).await?;
    for text in &outcome.contexts {
        Bridge::deliver(agent, agent.inject(context(HookEvent::PreCompact, text)));
    }
    let refused = outcome.decision == Some(Decision::Deny) || outcome.stop;
    refused.then(|| outcome.reason.or(outcome.stop_reason).unwrap_or_else(|| REFUSED.to_owned()))
}

/// Claude Code knows two triggers.
fn word(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Manual => "manual",
        _ => "auto",
    }
}
