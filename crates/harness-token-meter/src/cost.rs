//! From tokens to money.
use std::collections::BTreeSet;

use harness_kernel::Service;
use harness_llm::Usage;
use serde::{Deserialize, Serialize};

/// What a model's tokens cost, in US dollars a million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Prompt tokens that were not cached.
    pub input: f64,
    /// Answer tokens.
    pub output: f64,
    /// Prompt tokens read from the cache; as `input` where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache; as `input` where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// What a usage costs, in US dollars.
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below the precision of a double")]
    pub fn of(&self, usage: &Usage) -> f64 {
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cache_read.unwrap_or(0), self.cache_read.unwrap_or(self.input))
            + part(usage.cache_write.unwrap_or(0), self.cache_write.unwrap_or(self.input))
    }
}

/// Knows prices. Optional: without it, every cost is unknown.
///
/// ```
/// use harness_token_meter::{Price, Prices};
/// struct Local;
/// impl Prices for Local {
///     fn price(&self, provider: &str, _model: &str) -> Option<Price> {
///         (provider == "ollama").then_some(Price { input: 0.0, output: 0.0, cache_read: None, cache_write: None })
///     }
/// }
/// assert!(Local.price("openai", "large").is_none());
/// ```
pub trait Prices: Send + Sync {
    /// The price of a model at a provider route, if it is known.
    fn price(&self, provider: &str, model: &str) -> Option<Price>;
}
impl Service for dyn Prices {
    const NAME: &'static str = "prices";
}

/// What was spent, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// US dollars of everything whose price is known.
    known_usd: f64,
    /// Routes, as `provider/model`, whose price is not known.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unpriced: BTreeSet<String>,
    /// Requests whose usage was not reported.
    #[serde(default, skip_serializing_if = "is_zero")]
    unmetered: u32,
}
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Cost {
    /// Adds a request.
    pub fn add(&mut self, route: &str, usage: &Usage, price: Option<Price>) {
        match price {
            Some(price) => self.known_usd += price.of(usage),
            None => {
                self.unpriced.insert(route.to_owned());
            }
        }
    }
    /// Adds a request whose usage was not reported.
    pub fn add_unmetered(&mut self) {
        self.unmetered += 1;
    }
    /// The cost in US dollars; `None` if any part of it is unknown.
    pub fn usd(&self) -> Option<f64> {
        (self.unpriced.is_empty() && self.unmetered == 0).then_some(self.known_usd)
    }
    /// Why the cost is unknown, for people; `None` if it is known.
    pub fn unknown_because(&self) -> Option<String> {
        if !self.unpriced.is_empty() {
            let routes: Vec<_> = self.unpriced.iter().map(String::as_str).collect();
            return Some(format!("no price is known for {}", routes.join(", ")));
        }
        (self.unmetered > 0)
            .then(|| format!("the provider reported no usage for {} requests", self.unmetered))
    }
}
