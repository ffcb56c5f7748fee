//! `Stop`: a hook may keep the turn going, a bounded number of times.
use std::ops::ControlFlow;
use std::sync::Arc;

use harness_agent::{Agent, TurnStopping};
use harness_hooks::{Decision, EventFields, HookEvent};
use harness_kernel::Ctx;
use harness_llm::{ContextForm, Message, Role};

use crate::bridge::{About, Bridge, NAME, context};

/// What the model is told when the hook does not say.
const GO_ON: &str = "a Stop hook asks you to go on";

pub(crate) fn listen(ctx: &Ctx, bridge: &Arc<Bridge>) {
    let bridge = Arc::clone(bridge);
    ctx.on_serial::<TurnStopping, _>(move |stopping| {
        let bridge = Arc::clone(&bridge);
        async move {
            stop(&bridge, &stopping).await;
            ControlFlow::Continue(())
        }
    });
}

async fn stop(bridge: &Arc<Bridge>, stopping: &TurnStopping) {
    let agent = &stopping.agent;
    let state = Bridge::state(agent);
    let before =
        state.facts().kept_going.filter(|(turn, _)| *turn == stopping.turn).map_or(0, |(_, times)| times);
    let fields =
        EventFields::Stop { stop_hook_active: before > 0, last_assistant_message: last_words(agent) };
    let hooks = bridge.hooks(agent);
    let Some(outcome) = bridge.fire(agent, &hooks, fields, About::default(), &stopping.cancel).await else {
        return;
    };
    let blocks = outcome.decision == Some(Decision::Deny);
    if outcome.stop || (!blocks && outcome.contexts.is_empty()) {
        return;
    }
    let cap = bridge.config.stop_cap();
    if cap > 0 && before >= cap {
        let text = format!("stop hooks have kept this turn going {cap} times in a row; it ends now");
        return Bridge::tell(agent, text);
    }
    state.facts().kept_going = Some((stopping.turn, before + 1));
    for text in &outcome.contexts {
        Bridge::deliver(agent, agent.steer(context(HookEvent::Stop, text)));
    }
    if blocks {
        let reason = outcome.reason.unwrap_or_else(|| GO_ON.to_owned());
        let text = format!("Feedback from a Stop hook:\n{reason}");
        Bridge::deliver(agent, agent.steer(Message::context(NAME, ContextForm::Relay, text)));
    }
}

/// What the model said last.
pub(crate) fn last_words(agent: &Arc<dyn Agent>) -> Option<String> {
    let messages = agent.session().messages();
    let last = messages.iter().rev().find(|message| message.role == Role::Assistant)?;
    Some(last.text()).filter(|text| !text.is_empty())
}
