//! What is known of providers.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const PROVIDERS: &str = include_str!("providers.jsonl");

/// One provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownProvider {
    /// Name of the route.
    pub name: String,
    /// Where it is; a server on the user's machine is looked for at its usual port.
    pub base_url: String,
    /// What is spoken there: `chat-completions`, `responses`, `messages` or `deepseek`.
    pub protocol: String,
    /// The environment variable in which its key is usually kept.
    pub api_key_env: String,
    /// The model to use when none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_model: Option<String>,
    /// How it departs from the common form of its format; the adapter reads it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub compat: Map<String, Value>,
}

/// A provider, if it is known.
pub fn provider(name: &str) -> Option<KnownProvider> {
    let start = format!("{{\"name\":\"{name}\",");
    let line = PROVIDERS.lines().find(|line| line.starts_with(&start))?;
    serde_json::from_str(line).ok()
}

/// All providers, by name.
pub fn providers() -> Vec<KnownProvider> {
    PROVIDERS.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_right_and_in_order() {
        let all = providers();
        assert_eq!(all.len(), PROVIDERS.lines().count());
        assert!(all.is_sorted_by(|a, b| a.name < b.name));
        for known in &all {
            assert_eq!(provider(&known.name).as_ref(), Some(known));
        }
        assert_eq!(provider("no such"), None);
    }
}
