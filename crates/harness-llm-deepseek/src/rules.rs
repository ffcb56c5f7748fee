//! What each model wants, kept as data.
use harness_llm_chat_completions::Compat;
use serde::Deserialize;

/// The rules in `rules.json`, the first that fits a model counts.
///
/// Source: the service's guide to thinking mode (<https://api-docs.deepseek.com/guides/thinking_mode>). Reasoning of
/// turns with tool calls must come back in all later requests, in the very words; without it the service refuses the
/// history, even where the reasoning was empty. That of other turns is passed over by the service; it is sent as well,
/// so that the prefix of a session stays the same whichever way a turn ends.
const RULES: &str = include_str!("rules.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// A model's name, or its beginning and a `*`.
    models: String,
    compat: Compat,
}

/// Which models a rule is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(String);

impl Pattern {
    /// Every model.
    pub(crate) fn any() -> Self {
        Self("*".to_owned())
    }

    pub(crate) fn fits(&self, model: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(start) => model.starts_with(start),
            None => model == self.0,
        }
    }
}

/// The rules that are built in.
///
/// # Errors
/// If the file in this crate is not right, which its test rules out.
pub(crate) fn built_in() -> serde_json::Result<Vec<(Pattern, Compat)>> {
    let rules: Vec<Rule> = serde_json::from_str(RULES)?;
    Ok(rules.into_iter().map(|rule| (Pattern(rule.models), rule.compat)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_right_and_its_last_rule_is_for_every_model() {
        let rules = built_in().unwrap();
        assert_eq!(rules.last().map(|(pattern, _)| pattern.clone()), Some(Pattern::any()));
    }

    #[test]
    fn a_pattern_is_a_name_or_a_beginning() {
        assert!(Pattern("deepseek-*".into()).fits("deepseek-v4-pro"));
        assert!(!Pattern("deepseek-v3*".into()).fits("deepseek-v4-pro"));
        assert!(Pattern("m".into()).fits("m") && !Pattern("m".into()).fits("m2"));
    }
}
