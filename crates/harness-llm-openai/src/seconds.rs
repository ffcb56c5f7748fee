//! Durations as numbers of seconds.
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// Reads a wait: a number of seconds above zero, fractions allowed.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(wait) if !wait.is_zero() => Ok(wait),
        _ => Err(D::Error::custom(format!("expected a number of seconds above 0, got {seconds}"))),
    }
}

/// Writes the number of seconds; for the defaults in the schema.
pub(crate) fn serialize<S: Serializer>(wait: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(wait.as_secs_f64())
}
