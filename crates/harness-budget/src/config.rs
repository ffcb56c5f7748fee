//! The caps.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Configuration section `budget`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetConfig {
    /// Most tokens of one turn: prompt, cached and answer tokens of all its requests
    pub max_tokens: Option<u64>,
    /// Most cost of one turn, in US dollars
    pub max_cost: Option<f64>,
}

/// A cap that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("budget.max_cost is {0}, which is not an amount of US dollars above 0")]
pub struct BudgetConfigError(pub f64);
impl BudgetConfigError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        "BUDGET_CONFIG"
    }
}

impl BudgetConfig {
    /// The cost cap in millionths of a US dollar.
    ///
    /// # Errors
    /// If it is not an amount above 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be positive; a cast saturates"
    )]
    pub(crate) fn micros(&self) -> Result<Option<u64>, BudgetConfigError> {
        match self.max_cost {
            None => Ok(None),
            Some(usd) if usd.is_finite() && usd > 0.0 => Ok(Some(((usd * 1e6).round() as u64).max(1))),
            Some(usd) => Err(BudgetConfigError(usd)),
        }
    }
}
