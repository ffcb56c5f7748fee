//! The part of the configuration that a person may write.

use std::time::Duration;

use harness_bash::{BashInfo, ShellKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Configuration section `bash`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BashLimits {
    /// Timeout of a command that names none, in milliseconds.
    pub default_timeout_ms: u64,
    /// Longest timeout that a command may name, in milliseconds; a longer one is shortened to it.
    pub max_timeout_ms: u64,
    /// Bytes of output that a command's result holds; what is longer is saved to a file in full.
    pub output_cap_bytes: usize,
    /// Bytes at which such a file stops growing.
    pub spill_cap_bytes: u64,
    /// Time between SIGTERM and SIGKILL, in milliseconds.
    pub kill_grace_ms: u64,
}

impl Default for BashLimits {
    /// 120 s, 600 s, 32 KiB, 512 MiB, 500 ms.
    fn default() -> Self {
        Self {
            default_timeout_ms: 120_000,
            max_timeout_ms: 600_000,
            output_cap_bytes: 32 * 1024,
            spill_cap_bytes: harness_process::DEFAULT_SPILL_CAP,
            kill_grace_ms: 500,
        }
    }
}

/// A limit that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bash.{key} is {value}; {remedy}")]
pub struct InvalidLimits {
    key: &'static str,
    value: u64,
    remedy: &'static str,
}

impl InvalidLimits {
    /// A stable identifier.
    pub fn code(&self) -> &'static str {
        "BASH_INVALID_LIMITS"
    }
}

/// Room for the marker line and a little of both ends.
const LEAST_OUTPUT: usize = 1024;

impl BashLimits {
    pub(crate) fn validate(&self) -> Result<(), InvalidLimits> {
        let invalid = |key, value, remedy| Err(InvalidLimits { key, value, remedy });
        if self.default_timeout_ms == 0 {
            return invalid("default_timeout_ms", 0, "use at least 1");
        }
        if self.max_timeout_ms < self.default_timeout_ms {
            return invalid("max_timeout_ms", self.max_timeout_ms, "use at least bash.default_timeout_ms");
        }
        if self.output_cap_bytes < LEAST_OUTPUT {
            return invalid("output_cap_bytes", self.output_cap_bytes as u64, "use at least 1024");
        }
        if self.spill_cap_bytes < self.output_cap_bytes as u64 {
            return invalid("spill_cap_bytes", self.spill_cap_bytes, "use at least bash.output_cap_bytes");
        }
        Ok(())
    }

    pub(crate) fn info(&self, shell: ShellKind) -> BashInfo {
        let mut info = BashInfo::new(shell);
        info.default_timeout = Duration::from_millis(self.default_timeout_ms);
        info.max_timeout = Duration::from_millis(self.max_timeout_ms);
        info.output_cap_bytes = self.output_cap_bytes;
        info
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_documented_ones_and_valid() {
        let limits: BashLimits = serde_json::from_str("{}").unwrap();
        assert_eq!(limits, BashLimits::default());
        assert_eq!(limits.validate(), Ok(()));
        assert_eq!(limits.info(ShellKind::Sh), BashInfo::new(ShellKind::Sh));
    }

    #[test]
    fn a_senseless_limit_names_its_key_value_and_remedy() {
        let limits = BashLimits { max_timeout_ms: 5, ..BashLimits::default() };
        let error = limits.validate().unwrap_err();
        assert_eq!(error.to_string(), "bash.max_timeout_ms is 5; use at least bash.default_timeout_ms");
        for limits in [
            BashLimits { default_timeout_ms: 0, ..BashLimits::default() },
            BashLimits { output_cap_bytes: 10, ..BashLimits::default() },
            BashLimits { spill_cap_bytes: 10, ..BashLimits::default() },
        ] {
            assert!(limits.validate().is_err(), "{limits:?}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused() {
        assert!(serde_json::from_str::<BashLimits>(r#"{"timeout": 5}"#).is_err());
    }
}
