//! What keeps a run going and within bounds: retries, budgets, prices.
use std::collections::BTreeMap;
use std::sync::Arc;

use harness_budget::{Budget, BudgetConfig};
use harness_compact_basic::{CompactBasic, CompactConfig};
use harness_config::{Config, ConfigBuilder, ProjectKeys, Section};
use harness_kernel::{App, Ctx, Plugin, PluginError};
use harness_llm_catalog::{KnownPrice, find};
use harness_llm_text_calls::{TextCalls, TextCallsConfig};
use harness_retry::{Retry, RetryConfig};
use harness_token_meter::{Price, Prices, TokenMeter};
use harness_tools::{ResultCap, Tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::BundleError;

/// Section `retry`: failed model calls that are made again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RetrySection(pub RetryConfig);
impl Section for RetrySection {
    const NAME: &'static str = "retry";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Section `budget`: caps on what one turn may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct BudgetSection(pub BudgetConfig);
impl Section for BudgetSection {
    const NAME: &'static str = "budget";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Section `compact`: how history is kept within the model's context window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CompactSection(pub CompactConfig);
impl Section for CompactSection {
    const NAME: &'static str = "compact";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Section `tools`: bounds on what tools show the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSettings {
    /// Most bytes of text in one tool result; the middle of a longer one is left out
    pub max_result_bytes: Option<usize>,
}
impl Section for ToolSettings {
    const NAME: &'static str = "tools";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Section `text-calls`: models whose printed tool calls are made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TextCallsSection(pub TextCallsConfig);
impl Section for TextCallsSection {
    const NAME: &'static str = "text-calls";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// One entry of section `prices`: what a model's tokens cost, in US dollars a million.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceSettings {
    /// Prompt tokens that were not cached
    pub input: f64,
    /// Answer tokens
    pub output: f64,
    /// Prompt tokens read from the cache; as `input` if not set
    #[serde(default)]
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache; as `input` if not set
    #[serde(default)]
    pub cache_write: Option<f64>,
}

/// Section `prices`: prices by `provider/model`, in place of the catalog's. Never read from an untrusted project.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PricesSettings(pub BTreeMap<String, PriceSettings>);
impl Section for PricesSettings {
    const NAME: &'static str = "prices";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Adds the sections of this file.
pub(crate) fn sections(builder: ConfigBuilder) -> ConfigBuilder {
    builder
        .section::<RetrySection>()
        .section::<BudgetSection>()
        .section::<CompactSection>()
        .section::<TextCallsSection>()
        .section::<ToolSettings>()
        .section::<PricesSettings>()
}

/// Adds the plugins of this file. The first listener around an event is the outermost: a budget stops a step before
/// anything is spent on it, and a retry comes after whoever can mend the cause.
pub(crate) fn plugins(app: App, config: &Config) -> Result<App, BundleError> {
    let (retry, budget): (RetrySection, BudgetSection) = (config.section()?, config.section()?);
    let compact: CompactSection = config.section()?;
    let (tools, text_calls): (ToolSettings, TextCallsSection) = (config.section()?, config.section()?);
    let prices: PricesSettings = config.section()?;
    let setting = |error: &dyn std::fmt::Display| BundleError::Setting(error.to_string());
    Ok(app
        .with(ToolBounds(tools.max_result_bytes.map_or_else(ResultCap::default, ResultCap::bytes)))
        .with(PriceList(Arc::new(prices)))
        .with(TokenMeter)
        .with(Budget::new(budget.0).map_err(|error| setting(&error))?)
        .with(Retry::new(retry.0).map_err(|error| setting(&error))?)
        .with(TextCalls { config: text_calls.0 })
        .with(CompactBasic::new(compact.0).map_err(|error| setting(&error))?))
}

/// Bounds on what tools show.
struct ToolBounds(ResultCap);
impl Plugin for ToolBounds {
    type Deps = Arc<Tools>;
    fn name(&self) -> &'static str {
        "tool-bounds"
    }
    async fn apply(&self, _: Ctx, tools: Arc<Tools>) -> Result<(), PluginError> {
        tools.cap_results(self.0);
        Ok(())
    }
}

/// The prices that are known.
struct PriceList(Arc<PricesSettings>);
impl Plugin for PriceList {
    type Deps = ();
    fn name(&self) -> &'static str {
        "prices"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<dyn Prices>(Arc::clone(&self.0) as Arc<dyn Prices>)?;
        Ok(())
    }
}
impl PricesSettings {
    /// The price of a model: what the settings say, else what the catalog says.
    pub(crate) fn of(&self, provider: &str, model: &str) -> Option<PriceSettings> {
        if let Some(price) = self.0.get(&format!("{provider}/{model}")) {
            return Some(*price);
        }
        let KnownPrice { input, output, cache_read, cache_write } = find(provider, model)?.price?;
        Some(PriceSettings { input, output, cache_read, cache_write })
    }
}
impl Prices for PricesSettings {
    fn price(&self, provider: &str, model: &str) -> Option<Price> {
        let PriceSettings { input, output, cache_read, cache_write } = self.of(provider, model)?;
        Some(Price { input, output, cache_read, cache_write })
    }
}
