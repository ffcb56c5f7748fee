//! Many answers, one decision.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer::{Answer, Decision, PermissionAnswer};
use crate::{HookEvent, Profile};

/// What all hooks of one event came to, in the order of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The strongest decision, `none` in JSON if there is none; never a refusal where the event cannot be stopped.
    #[serde(default, with = "wire")]
    #[schemars(with = "wire::Word")]
    pub decision: Option<Decision>,
    /// Why: the reasons of that strength, a blank line between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether everything is to halt.
    #[serde(default)]
    pub stop: bool,
    /// Why: of the first that said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Context for the model.
    #[serde(default)]
    pub contexts: Vec<String>,
    /// Messages for the person.
    #[serde(default)]
    pub messages: Vec<String>,
    /// New inputs; the last one counts.
    #[serde(default)]
    pub update_inputs: Vec<Map<String, Value>>,
    /// The new output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_output: Option<Value>,
    /// The answer to a permission request: a refusal before an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<PermissionAnswer>,
    /// What belongs to one event only; a later hook's word replaces an earlier one's.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub more: Map<String, Value>,
    /// Whether a refusal was dropped because this event cannot be stopped.
    #[serde(default)]
    pub downgraded: bool,
    /// The refusal that was dropped: feedback about what has already happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_decision: Option<Decision>,
    /// Its reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_reason: Option<String>,
}

/// A decision as one word, `none` included.
mod wire {
    use schemars::JsonSchema;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::answer::Decision;

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub(super) enum Word {
        None,
        Allow,
        Ask,
        Defer,
        Deny,
    }

    #[expect(
        clippy::ref_option,
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes the field by reference"
    )]
    pub(super) fn serialize<S: Serializer>(decision: &Option<Decision>, to: S) -> Result<S::Ok, S::Error> {
        let word = match decision {
            None => Word::None,
            Some(Decision::Allow) => Word::Allow,
            Some(Decision::Ask) => Word::Ask,
            Some(Decision::Defer) => Word::Defer,
            Some(Decision::Deny) => Word::Deny,
        };
        word.serialize(to)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Decision>, D::Error> {
        Ok(match Word::deserialize(from)? {
            Word::None => None,
            Word::Allow => Some(Decision::Allow),
            Word::Ask => Some(Decision::Ask),
            Word::Defer => Some(Decision::Defer),
            Word::Deny => Some(Decision::Deny),
        })
    }
}

/// Folds the answers of one event.
pub fn fold(event: HookEvent, profile: Profile, answers: &[Answer]) -> Outcome {
    let strength = |decision: Decision| match (decision, profile) {
        (Decision::Allow, _) => 1,
        // The native contract does not know a deferral: somebody is to be asked.
        (Decision::Ask, _) | (Decision::Defer, Profile::Native) => 2,
        (Decision::Defer, Profile::Claude) => 3,
        (Decision::Deny, _) => 4,
    };
    let decision = answers.iter().filter_map(|answer| answer.decision).max_by_key(|found| strength(*found));
    let mut outcome = Outcome { decision, ..Outcome::default() };
    let reasons: Vec<&str> = answers
        .iter()
        .filter(|answer| answer.decision.is_some() && answer.decision == decision)
        .filter_map(|answer| answer.reason.as_deref().filter(|text| !text.is_empty()))
        .collect();
    outcome.reason = (!reasons.is_empty()).then(|| match decision {
        Some(Decision::Allow) => reasons[0].to_owned(),
        _ => reasons.join("\n\n"),
    });
    for answer in answers {
        if answer.stop && !outcome.stop {
            outcome.stop = true;
            outcome.stop_reason.clone_from(&answer.stop_reason);
        }
        outcome.contexts.extend(answer.contexts.iter().cloned());
        outcome.messages.extend(answer.messages.iter().cloned());
        outcome.update_inputs.extend(answer.update_input.clone());
        if answer.update_output.is_some() {
            outcome.update_output.clone_from(&answer.update_output);
        }
        let refused = matches!(outcome.permission, Some(PermissionAnswer::Deny { .. }));
        if let Some(permission) = &answer.permission
            && !refused
        {
            outcome.permission = Some(permission.clone());
        }
        outcome.more.extend(answer.more.clone());
    }
    if decision == Some(Decision::Deny) && !event.blocks_in(profile) {
        outcome.downgraded = true;
        outcome.raw_decision = outcome.decision.take();
        outcome.raw_reason = outcome.reason.take();
    }
    outcome
}
