//! How hard the model should think, in the words of each server.
use serde::Serialize;

use crate::compat::EffortForm;

/// The body fields of an effort word; none if there is no word.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct EffortFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<TemplateSwitch>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Thinking {
    r#type: &'static str,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Reasoning<'a> {
    Effort { effort: &'a str },
    Off { enabled: bool },
}

#[derive(Debug, PartialEq, Serialize)]
struct TemplateSwitch {
    enable_thinking: bool,
}

/// The word for no reasoning at all.
const OFF: &str = "off";

impl<'a> EffortFields<'a> {
    pub(super) fn new(form: EffortForm, word: Option<&'a str>) -> Self {
        let Some(word) = word else { return Self::default() };
        let is_off = word == OFF;
        match form {
            EffortForm::ReasoningEffort => {
                Self { reasoning_effort: Some(if is_off { "none" } else { word }), ..Self::default() }
            }
            EffortForm::Thinking => Self {
                thinking: Some(Thinking { r#type: if is_off { "disabled" } else { "enabled" } }),
                reasoning_effort: Some(word).filter(|_| !is_off),
                ..Self::default()
            },
            EffortForm::Reasoning => Self {
                reasoning: Some(if is_off {
                    Reasoning::Off { enabled: false }
                } else {
                    Reasoning::Effort { effort: word }
                }),
                ..Self::default()
            },
            EffortForm::EnableThinking => Self {
                chat_template_kwargs: Some(TemplateSwitch { enable_thinking: !is_off }),
                ..Self::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn each_form_has_its_fields() {
        let written = |form, word| serde_json::to_value(EffortFields::new(form, word)).unwrap();
        for (form, high, off) in [
            (
                EffortForm::ReasoningEffort,
                json!({"reasoning_effort": "high"}),
                json!({"reasoning_effort": "none"}),
            ),
            (
                EffortForm::Thinking,
                json!({"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
                json!({"thinking": {"type": "disabled"}}),
            ),
            (
                EffortForm::Reasoning,
                json!({"reasoning": {"effort": "high"}}),
                json!({"reasoning": {"enabled": false}}),
            ),
            (
                EffortForm::EnableThinking,
                json!({"chat_template_kwargs": {"enable_thinking": true}}),
                json!({"chat_template_kwargs": {"enable_thinking": false}}),
            ),
        ] {
            assert_eq!(written(form, Some("high")), high, "{form:?}");
            assert_eq!(written(form, Some(OFF)), off, "{form:?}");
            assert_eq!(written(form, None), Value::Object(serde_json::Map::new()), "{form:?}");
        }
    }
}
