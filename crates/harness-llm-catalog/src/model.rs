//! What is known of models.
use serde::{Deserialize, Serialize};

/// One model a line, so that one is found without reading the others.
///
/// Sources: the pricing and model pages of the providers (<https://api-docs.deepseek.com/quick_start/pricing>,
/// <https://platform.claude.com/docs/en/about-claude/pricing>, <https://developers.openai.com/api/docs/pricing>) and
/// <https://models.dev>, read in the month of `as_of`. Where a longer prompt costs more for each token, the context
/// window is the part at the listed price.
const MODELS: &str = include_str!("models.jsonl");

/// One model at one provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownModel {
    /// The provider's name in this catalog.
    pub provider: String,
    /// The model's name, as the provider knows it.
    pub model: String,
    /// Context window in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Most answer tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// What tokens cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<KnownPrice>,
    /// Whether it can think before it answers.
    #[serde(default)]
    pub reasoning: bool,
    /// Whether it takes pictures.
    #[serde(default)]
    pub images: bool,
    /// Year and month in which this was read.
    pub as_of: String,
    /// What the numbers do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What tokens cost, in US dollars a million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownPrice {
    /// Prompt tokens that were not cached.
    pub input: f64,
    /// Answer tokens.
    pub output: f64,
    /// Prompt tokens read from the cache; as `input` if not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache; as `input` if not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// A model, if it is known. A dated name (`claude-haiku-4-5-20251001`, `gpt-5.2-2025-12-11`) is the model without its
/// date.
pub fn find(provider: &str, model: &str) -> Option<KnownModel> {
    exactly(provider, model).or_else(|| exactly(provider, undated(model)?))
}

fn exactly(provider: &str, model: &str) -> Option<KnownModel> {
    // Names with characters that JSON escapes are not in the catalog.
    let start = format!("{{\"provider\":\"{provider}\",\"model\":\"{model}\",");
    let line = MODELS.lines().find(|line| line.starts_with(&start))?;
    serde_json::from_str(line).ok()
}

/// The name without a date at its end, if it has one.
fn undated(model: &str) -> Option<&str> {
    let digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, day) = model.rsplit_once('-')?;
    if digits(day, 8) {
        return Some(rest);
    }
    let (rest, month) = rest.rsplit_once('-')?;
    let (rest, year) = rest.rsplit_once('-')?;
    (digits(day, 2) && digits(month, 2) && digits(year, 4)).then_some(rest)
}

/// The models of one provider, in the order of the catalog.
pub fn models_of(provider: &str) -> impl Iterator<Item = KnownModel> {
    let start = format!("{{\"provider\":\"{provider}\",");
    let lines = MODELS.lines().filter(move |line| line.starts_with(&start));
    lines.filter_map(|line| serde_json::from_str(line).ok())
}

/// All models, by provider and in the order of the catalog.
pub fn models() -> Vec<KnownModel> {
    MODELS.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_right_and_is_found_by_its_name() {
        let all = models();
        assert_eq!(all.len(), MODELS.lines().count());
        for model in &all {
            assert_eq!(find(&model.provider, &model.model).as_ref(), Some(model));
            let price = model.price.unwrap();
            assert!(
                price.output > price.input && price.cache_read.is_none_or(|read| read < price.input),
                "{model:?}"
            );
            assert!(crate::provider(&model.provider).is_some(), "{model:?}");
        }
        let mut names: Vec<_> = all.iter().map(|model| (&model.provider, &model.model)).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len(), "a model is listed twice");
    }

    #[test]
    fn a_dated_name_is_the_model_without_its_date() {
        assert_eq!(find("anthropic", "claude-haiku-4-5-20251001").unwrap().model, "claude-haiku-4-5");
        assert_eq!(find("openai", "gpt-5.2-2025-12-11").unwrap().model, "gpt-5.2");
        for unknown in ["claude-haiku", "gpt-5.2-codex-2025", "gpt-5.2-12", "\"", ""] {
            assert_eq!(find("openai", unknown), None, "{unknown}");
        }
    }
}
