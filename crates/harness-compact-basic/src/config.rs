//! The settings.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Configuration section `compact`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompactConfig {
    /// Whether history is compacted by itself; on request it always is
    pub auto: bool,
    /// Context window in tokens, where the model's own is not known
    pub context_window: Option<u64>,
    /// Weight of a request, as a fraction of the window, from which on history is compacted
    pub threshold: f64,
    /// How much of the newest history stays as it is, as a fraction of the window
    pub retain: f64,
    /// Most tokens of a summary; never more than an eighth of the window
    pub summary_max_tokens: u64,
    /// Length from which on the middle of an older tool result is taken out, in characters
    pub prune_over_chars: usize,
    /// How much of its beginning stays, in characters
    pub prune_head_chars: usize,
    /// How much of its end stays, in characters
    pub prune_tail_chars: usize,
}
impl Default for CompactConfig {
    fn default() -> Self {
        Self {
            auto: true,
            context_window: None,
            threshold: 0.8,
            retain: 0.16,
            summary_max_tokens: 8192,
            prune_over_chars: 8192,
            prune_head_chars: 4096,
            prune_tail_chars: 1024,
        }
    }
}

/// A setting that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("compact.{key} makes no sense: {remedy}")]
pub struct CompactConfigError {
    /// The key.
    pub key: &'static str,
    /// What to do.
    pub remedy: &'static str,
}
impl CompactConfigError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        "COMPACT_CONFIG"
    }
}

impl CompactConfig {
    /// Checks that the settings fit together.
    ///
    /// # Errors
    /// If they do not.
    pub fn check(&self) -> Result<(), CompactConfigError> {
        let wrong = |key, remedy| Err(CompactConfigError { key, remedy });
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return wrong("threshold", "use a fraction above 0 and at most 1");
        }
        if !(self.retain >= 0.0 && self.retain < self.threshold) {
            return wrong("retain", "use a fraction below compact.threshold");
        }
        if self.context_window == Some(0) {
            return wrong("context_window", "use a number of tokens above 0");
        }
        if self.summary_max_tokens == 0 {
            return wrong("summary_max_tokens", "use a number of tokens above 0");
        }
        if self.prune_head_chars.saturating_add(self.prune_tail_chars) >= self.prune_over_chars {
            return wrong("prune_over_chars", "use more than prune_head_chars and prune_tail_chars together");
        }
        Ok(())
    }
}

/// A fraction of a window, in tokens.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "windows are far below the precision of a double, and the fraction is checked"
)]
pub(crate) fn part(window: u64, fraction: f64) -> u64 {
    (window as f64 * fraction) as u64
}
