//! How often, and after how long.
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Configuration section `retry`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetryConfig {
    /// Most retries of one step's model call; 0 turns retries off
    pub max_retries: Option<u32>,
    /// The first wait, in milliseconds; it doubles from retry to retry
    pub base_delay_ms: Option<u64>,
    /// The longest wait of our own, in milliseconds
    pub max_delay_ms: Option<u64>,
    /// The longest wait that a provider may ask for, in milliseconds; a longer one ends the retries
    pub max_retry_after_ms: Option<u64>,
    /// How far a wait may be off its plain value, as a fraction from 0 to 1
    pub jitter: Option<f64>,
    /// Values that differ for a provider route
    pub providers: BTreeMap<String, ProviderRetry>,
}

/// One entry of `retry.providers`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderRetry {
    /// Most retries of one step's model call; 0 turns retries off
    pub max_retries: Option<u32>,
    /// The first wait, in milliseconds
    pub base_delay_ms: Option<u64>,
    /// The longest wait of our own, in milliseconds
    pub max_delay_ms: Option<u64>,
    /// The longest wait that the provider may ask for, in milliseconds
    pub max_retry_after_ms: Option<u64>,
    /// How far a wait may be off its plain value, as a fraction from 0 to 1
    pub jitter: Option<f64>,
}

/// A setting that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("retry.{key} is {value}, which makes no sense: {remedy}")]
pub struct RetryConfigError {
    /// The key, from the section on.
    pub key: String,
    /// Its value.
    pub value: String,
    /// What to do.
    pub remedy: &'static str,
}
impl RetryConfigError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        "RETRY_CONFIG"
    }
}

impl RetryConfig {
    /// Checks the policy of every provider.
    ///
    /// # Errors
    /// If a jitter is outside 0 to 1, or a longest wait is shorter than the first one.
    pub fn check(&self) -> Result<(), RetryConfigError> {
        let named = self.providers.keys().map(|name| (format!("providers.{name}."), self.policy(name)));
        for (prefix, policy) in std::iter::once((String::new(), self.policy(""))).chain(named) {
            let wrong = |key: &str, value: String, remedy| {
                Err(RetryConfigError { key: format!("{prefix}{key}"), value, remedy })
            };
            if !(0.0..=1.0).contains(&policy.jitter) {
                return wrong("jitter", policy.jitter.to_string(), "use a number from 0 to 1");
            }
            if policy.max_delay_ms < policy.base_delay_ms {
                return wrong("max_delay_ms", policy.max_delay_ms.to_string(), "use at least base_delay_ms");
            }
        }
        Ok(())
    }
    /// The policy for a provider route.
    pub fn policy(&self, provider: &str) -> RetryPolicy {
        let own = self.providers.get(provider).cloned().unwrap_or_default();
        let default = RetryPolicy::default();
        RetryPolicy {
            max_retries: own.max_retries.or(self.max_retries).unwrap_or(default.max_retries),
            base_delay_ms: own.base_delay_ms.or(self.base_delay_ms).unwrap_or(default.base_delay_ms),
            max_delay_ms: own.max_delay_ms.or(self.max_delay_ms).unwrap_or(default.max_delay_ms),
            max_retry_after_ms: own
                .max_retry_after_ms
                .or(self.max_retry_after_ms)
                .unwrap_or(default.max_retry_after_ms),
            jitter: own.jitter.or(self.jitter).unwrap_or(default.jitter),
        }
    }
}

/// The rules for one provider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// Most retries of one step's model call.
    pub max_retries: u32,
    /// The first wait, in milliseconds.
    pub base_delay_ms: u64,
    /// The longest wait of our own, in milliseconds.
    pub max_delay_ms: u64,
    /// The longest wait that the provider may ask for, in milliseconds.
    pub max_retry_after_ms: u64,
    /// How far a wait may be off its plain value, as a fraction.
    pub jitter: f64,
}
impl Default for RetryPolicy {
    /// Five retries after 0.5, 1, 2, 4 and 8 seconds, give or take a fifth; at most a minute if the provider asks.
    fn default() -> Self {
        Self {
            max_retries: 5,
            base_delay_ms: 500,
            max_delay_ms: 10_000,
            max_retry_after_ms: 60_000,
            jitter: 0.2,
        }
    }
}

impl RetryPolicy {
    /// Our own wait before a retry, counted from 1, in milliseconds. `sample`, from 0 to 1, says where in the jitter
    /// it falls. Never longer than `max_delay_ms`.
    pub fn backoff_ms(&self, retry: u32, sample: f64) -> u64 {
        let doublings = retry.saturating_sub(1).min(63);
        let plain = self.base_delay_ms.saturating_mul(1 << doublings).min(self.max_delay_ms);
        scaled(plain, 1.0 + self.jitter * (2.0 * sample - 1.0)).min(self.max_delay_ms)
    }
    /// The wait that the provider asks for, never shortened and a little spread, in milliseconds; `None` if it is longer
    /// than the settings allow.
    pub fn asked_ms(&self, asked: u64, sample: f64) -> Option<u64> {
        (asked <= self.max_retry_after_ms).then(|| scaled(asked, 1.0 + self.jitter * sample / 2.0).max(asked))
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "milliseconds of a wait: far below the precision of a double, and a cast saturates"
)]
fn scaled(milliseconds: u64, factor: f64) -> u64 {
    (milliseconds as f64 * factor.max(0.0)).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_their_bound() {
        let policy = RetryPolicy::default();
        let waits: Vec<_> = (1..=7).map(|retry| policy.backoff_ms(retry, 0.5)).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
        assert_eq!((policy.backoff_ms(1, 0.0), policy.backoff_ms(1, 1.0)), (400, 600));
        assert_eq!(policy.backoff_ms(7, 1.0), 10_000, "jitter does not lift the bound");
        assert_eq!(policy.backoff_ms(u32::MAX, 0.5), 10_000);
    }
    #[test]
    fn the_provider_is_never_asked_too_early() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.asked_ms(1000, 0.0), Some(1000));
        assert_eq!(policy.asked_ms(1000, 1.0), Some(1100));
        assert_eq!(policy.asked_ms(60_001, 0.0), None);
    }
    #[test]
    fn a_provider_has_its_own_values() {
        let mut config = RetryConfig { max_retries: Some(2), ..RetryConfig::default() };
        config
            .providers
            .insert("slow".into(), ProviderRetry { max_retries: Some(9), ..ProviderRetry::default() });
        assert_eq!((config.policy("slow").max_retries, config.policy("other").max_retries), (9, 2));
    }
    #[test]
    fn senseless_settings_are_named() {
        let mut config = RetryConfig { jitter: Some(1.5), ..RetryConfig::default() };
        assert_eq!(config.check().unwrap_err().key, "jitter");
        config.jitter = None;
        let short = ProviderRetry { max_delay_ms: Some(1), ..ProviderRetry::default() };
        config.providers.insert("p".into(), short);
        assert_eq!(config.check().unwrap_err().key, "providers.p.max_delay_ms");
    }
}
