//! The listener that stops a turn.
use harness_agent::{PreStep, PreStepDecision};
use harness_kernel::{Ctx, Lazy, Plugin, PluginError};
use harness_llm::{Failure, FailureCode};
use harness_session::Session;
use harness_token_meter::{Prices, Tally};

use crate::config::{BudgetConfig, BudgetConfigError};

/// Name of the cost budget in `turn/end`; its limit is in millionths of a US dollar.
pub const COST: &str = "cost";

/// Ends turns that have used up a budget.
#[derive(Debug)]
pub struct Budget {
    tokens: Option<u64>,
    micros: Option<u64>,
}
impl Budget {
    /// Reads the caps.
    ///
    /// # Errors
    /// If one makes no sense.
    pub fn new(config: BudgetConfig) -> Result<Self, BudgetConfigError> {
        Ok(Self { tokens: config.max_tokens, micros: config.micros()? })
    }
}

impl Plugin for Budget {
    type Deps = Lazy<dyn Prices>;
    fn name(&self) -> &'static str {
        "budget"
    }
    async fn apply(&self, ctx: Ctx, prices: Self::Deps) -> Result<(), PluginError> {
        let (tokens, micros) = (self.tokens, self.micros);
        if tokens.is_none() && micros.is_none() {
            return Ok(());
        }
        ctx.around::<PreStep, _>(move |event, next| {
            let prices = prices.get();
            async move {
                let config = event.agent.options().config;
                let route = (config.provider.as_str(), config.model.as_str());
                match stop(event.agent.session(), route, tokens, micros, prices.as_deref()) {
                    Some(decision) => Ok(decision),
                    None => next.run(event).await,
                }
            }
        });
        Ok(())
    }
}

fn stop(
    session: &Session,
    (provider, model): (&str, &str),
    tokens: Option<u64>,
    micros: Option<u64>,
    prices: Option<&dyn Prices>,
) -> Option<PreStepDecision> {
    let fail = |code, text| Some(PreStepDecision::Fail(Failure::new(FailureCode::other(code), text)));
    // Asked before the first request: a cap that cannot be kept must not cost anything first.
    if micros.is_some() && prices.is_none_or(|prices| prices.price(provider, model).is_none()) {
        let text = format!(
            "the cost budget cannot be kept: no price is known for {provider}/{model}; set one under [prices], or drop \
             the budget"
        );
        return fail("COST_UNKNOWN", text);
    }
    let turn = Tally::of_turn(&session.view(), prices);
    if turn.unmetered > 0 {
        let text = "the budget cannot be kept: the provider reports no usage; drop the budget to go on";
        return fail("USAGE_UNKNOWN", text.to_owned());
    }
    if let Some(limit) = tokens.filter(|limit| turn.tokens() >= *limit) {
        return Some(PreStepDecision::Budget { budget: "tokens".to_owned(), limit });
    }
    let limit = micros?;
    let Some(usd) = turn.cost.usd() else {
        let why = turn.cost.unknown_because().unwrap_or_default();
        return fail("COST_UNKNOWN", format!("the cost budget cannot be kept: {why}"));
    };
    #[expect(clippy::cast_precision_loss, reason = "a limit is far below the precision of a double")]
    let spent = usd * 1e6 >= limit as f64;
    spent.then(|| PreStepDecision::Budget { budget: COST.to_owned(), limit })
}
