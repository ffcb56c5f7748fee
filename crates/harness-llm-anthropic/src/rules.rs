//! What each model takes, kept as data.
use std::sync::LazyLock;

use serde::Deserialize;

/// The rules in `rules.json`, the first that fits a model counts.
///
/// Sources: the service's pages on adaptive thinking, extended thinking and effort
/// (<https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking>).
const RULES: &str = include_str!("rules.json");

/// What a model takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// A model's name, or its beginning and a `*`.
    models: String,
    pub(crate) thinking: ThinkingForm,
    /// Effort words of adaptive thinking.
    #[serde(default)]
    pub(crate) efforts: Vec<String>,
    #[serde(default)]
    pub(crate) off: OffForm,
    #[serde(default = "yes")]
    pub(crate) temperature: bool,
}

/// How thinking is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ThinkingForm {
    /// Not at all.
    None,
    /// With a budget of tokens.
    Budget,
    /// With an effort word; the model decides how much.
    Adaptive,
}

/// What `off` becomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OffForm {
    /// `{"type": "disabled"}`.
    #[default]
    Disabled,
    /// The model always thinks.
    Refused,
}

fn yes() -> bool {
    true
}

/// Read at the first use.
static BUILT_IN: LazyLock<Vec<Rule>> = LazyLock::new(|| serde_json::from_str(RULES).unwrap_or_default());
/// For a model that no rule is for.
static NONE: Rule = Rule {
    models: String::new(),
    thinking: ThinkingForm::None,
    efforts: Vec::new(),
    off: OffForm::Disabled,
    temperature: true,
};

/// What `model` takes.
pub(crate) fn rule_of(model: &str) -> &'static Rule {
    let fits = |rule: &&Rule| match rule.models.strip_suffix('*') {
        Some(start) => model.starts_with(start),
        None => model == rule.models,
    };
    BUILT_IN.iter().find(fits).unwrap_or(&NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_right_and_has_a_rule_for_every_model() {
        let rules: Vec<Rule> = serde_json::from_str(RULES).unwrap();
        assert_eq!(rules.last().unwrap().models, "*");
        for rule in &rules {
            assert_eq!(rule.efforts.is_empty(), rule.thinking != ThinkingForm::Adaptive, "{rule:?}");
        }
        assert_eq!(rule_of("claude-haiku-4-5-20251001").thinking, ThinkingForm::Budget);
        assert_eq!(rule_of("claude-opus-4-8").thinking, ThinkingForm::Adaptive);
        assert_eq!(rule_of("claude-fable-5-1").off, OffForm::Refused);
        assert!(rule_of("qwen3").temperature);
    }
}
