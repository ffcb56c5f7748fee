//! From an effort word to the fields that ask for thinking.
use harness_llm::{CallConfig, FailureCode, LlmError};
use serde::Serialize;

use crate::rules::{OffForm, Rule, ThinkingForm};

/// The word for no thinking at all.
const OFF: &str = "off";
/// Budgets of the effort words, in tokens. The least that the service takes is 1,024.
const BUDGETS: [(&str, u64); 4] = [("low", 4_096), ("medium", 10_240), ("high", 24_576), ("max", u64::MAX)];
/// The least budget, and the least that is left for the answer.
const LEAST: u64 = 1_024;

/// The body fields of an effort word; none if there is no word.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct ThinkingFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Enabled { budget_tokens: u64 },
    Disabled,
    Adaptive,
}

#[derive(Debug, PartialEq, Serialize)]
struct OutputConfig<'a> {
    effort: &'a str,
}

/// What `config` asks of a model with `rule` when its answer may have `max_tokens`.
///
/// # Errors
/// [`FailureCode::INVALID_REQUEST`] for a word that the model does not know, a limit without room for thinking, or a
/// temperature that cannot go with it.
pub(crate) fn fields<'a>(
    config: &'a CallConfig,
    rule: &Rule,
    max_tokens: u64,
) -> Result<ThinkingFields<'a>, LlmError> {
    if config.temperature.is_some() && !rule.temperature {
        return Err(refused(format!("model `{}` takes no temperature; leave it out", config.model)));
    }
    let Some(word) = config.reasoning_effort.as_deref() else { return Ok(ThinkingFields::default()) };
    let thinking = match (rule.thinking, word) {
        (ThinkingForm::None, OFF) => return Ok(ThinkingFields::default()),
        (_, OFF) if rule.off == OffForm::Refused => {
            return Err(refused(format!("model `{}` always thinks; its effort can be low", config.model)));
        }
        (_, OFF) => Thinking::Disabled,
        (ThinkingForm::None, word) => {
            return Err(refused(format!("model `{}` does not think; leave `{word}` out", config.model)));
        }
        (ThinkingForm::Budget, word) => {
            Thinking::Enabled { budget_tokens: budget(word, config, max_tokens)? }
        }
        (ThinkingForm::Adaptive, word) => {
            let Some(effort) = rule.efforts.iter().find(|effort| *effort == word) else {
                return Err(unknown(word, config, &rule.efforts.join(", ")));
            };
            debug_assert_eq!(effort, word);
            return Ok(ThinkingFields {
                thinking: Some(Thinking::Adaptive),
                output_config: Some(OutputConfig { effort: word }),
            });
        }
    };
    Ok(ThinkingFields { thinking: Some(thinking), output_config: None })
}

fn budget(word: &str, config: &CallConfig, max_tokens: u64) -> Result<u64, LlmError> {
    let Some((_, wanted)) = BUDGETS.iter().find(|(effort, _)| *effort == word) else {
        return Err(unknown(word, config, &BUDGETS.map(|(effort, _)| effort).join(", ")));
    };
    if config.temperature.is_some() {
        return Err(refused(format!(
            "model `{}` takes no temperature while it thinks; leave out one of them",
            config.model
        )));
    }
    if max_tokens < 2 * LEAST {
        return Err(refused(format!(
            "{max_tokens} answer tokens leave no room for thinking; allow at least {}",
            2 * LEAST
        )));
    }
    Ok((*wanted).min(max_tokens - LEAST))
}

fn unknown(word: &str, config: &CallConfig, known: &str) -> LlmError {
    refused(format!("model `{}` has no reasoning effort `{word}`; use off, {known}", config.model))
}

fn refused(text: String) -> LlmError {
    LlmError::new(FailureCode::INVALID_REQUEST, text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::rules::rule_of;

    fn asked(
        model: &str,
        effort: Option<&str>,
        temperature: Option<f64>,
        max_tokens: u64,
    ) -> Result<Value, String> {
        let effort = effort.map(str::to_owned);
        let config = CallConfig {
            model: model.into(),
            reasoning_effort: effort,
            temperature,
            ..CallConfig::default()
        };
        fields(&config, rule_of(model), max_tokens)
            .map(|fields| serde_json::to_value(fields).unwrap())
            .map_err(|error| error.0.message)
    }

    #[test]
    fn an_effort_word_becomes_what_the_model_takes() {
        let budget = |tokens: u64| json!({"thinking": {"type": "enabled", "budget_tokens": tokens}});
        for (model, effort, max_tokens, expected) in [
            ("claude-haiku-4-5", None, 64_000, json!({})),
            ("claude-haiku-4-5", Some("low"), 64_000, budget(4_096)),
            ("claude-haiku-4-5", Some("high"), 8_192, budget(7_168)),
            ("claude-haiku-4-5", Some("max"), 64_000, budget(62_976)),
            ("claude-haiku-4-5", Some("off"), 64_000, json!({"thinking": {"type": "disabled"}})),
            (
                "claude-opus-4-8",
                Some("xhigh"),
                64_000,
                json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "xhigh"}}),
            ),
            ("claude-3-5-haiku-latest", Some("off"), 8_192, json!({})),
        ] {
            assert_eq!(asked(model, effort, None, max_tokens).unwrap(), expected, "{model} {effort:?}");
        }
    }

    #[test]
    fn what_a_model_does_not_take_is_said() {
        for (model, effort, temperature, max_tokens, said) in [
            ("claude-opus-4-8", Some("huge"), None, 64_000, "use off, low, medium, high, xhigh, max"),
            ("claude-haiku-4-5", Some("xhigh"), None, 64_000, "use off, low, medium, high, max"),
            ("claude-haiku-4-5", Some("low"), Some(1.0), 64_000, "no temperature while it thinks"),
            ("claude-haiku-4-5", Some("low"), None, 2_000, "at least 2048"),
            ("claude-fable-5", Some("off"), None, 64_000, "always thinks"),
            ("claude-sonnet-5", None, Some(0.5), 64_000, "takes no temperature"),
            ("claude-3-5-haiku-latest", Some("low"), None, 8_192, "does not think"),
        ] {
            let refused = asked(model, effort, temperature, max_tokens).unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
    }
}
