//! `UserPromptSubmit` on what a person typed, and `PostToolBatch` before the step that follows tools.
use std::sync::Arc;

use harness_agent::{PreStep, PreStepDecision};
use harness_hooks::{Decision, EventFields, HookEvent};
use harness_kernel::Ctx;
use harness_llm::MessageSource;

use super::batch;
use crate::bridge::{About, Bridge, context};

/// Why a prompt was held back when the hook does not say.
const HELD_BACK: &str = "a UserPromptSubmit hook blocked the prompt";

pub(crate) fn listen(ctx: &Ctx, bridge: &Arc<Bridge>) {
    let bridge = Arc::clone(bridge);
    ctx.around::<PreStep, _>(move |step, next| {
        let bridge = Arc::clone(&bridge);
        async move {
            let mut step = step;
            if let Some(rejected) = batch::settle(&bridge, &mut step).await {
                return Ok(rejected);
            }
            match submit(&bridge, &mut step).await {
                Some(rejected) => Ok(rejected),
                None => next.run(step).await,
            }
        }
    });
}

/// Shows each prompt to the hooks. A blocked one is erased; if nothing is left to do, the step does not open.
async fn submit(bridge: &Arc<Bridge>, step: &mut PreStep) -> Option<PreStepDecision> {
    let agent = Arc::clone(&step.agent);
    let (mut kept, mut reasons) = (Vec::new(), Vec::new());
    for message in std::mem::take(&mut step.messages) {
        if message.source != MessageSource::User {
            kept.push(message);
            continue;
        }
        Bridge::state(&agent).facts().prompt = Some(message.id.to_string());
        let fields = EventFields::UserPromptSubmit { prompt: message.text() };
        let hooks = bridge.hooks(&agent);
        let Some(outcome) = bridge.fire(&agent, &hooks, fields, About::default(), &step.cancel).await else {
            kept.push(message);
            continue;
        };
        if outcome.decision == Some(Decision::Deny) {
            let reason = outcome.reason.unwrap_or_else(|| HELD_BACK.to_owned());
            Bridge::tell(&agent, format!("a hook blocked the prompt: {reason}"));
            reasons.push(reason);
            continue;
        }
        kept.push(message);
        let contexts = outcome.contexts.iter();
        kept.extend(contexts.map(|text| Arc::new(context(HookEvent::UserPromptSubmit, text))));
    }
    let prompted = kept.iter().any(|message| message.source == MessageSource::User);
    step.messages = kept;
    // Context alone is no reason for a request.
    (step.step == 1 && !reasons.is_empty() && !prompted)
        .then(|| PreStepDecision::Reject { reason: Some(reasons.join("\n\n")) })
}
