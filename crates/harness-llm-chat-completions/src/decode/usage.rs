//! Token counts as servers report them.
use harness_llm::Usage;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_cache_hit_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

/// Reads a usage object into disjoint counts. `None` for one without any count above zero, which servers that
/// do not count send as a placeholder.
pub(super) fn read(json: &str) -> serde_json::Result<Option<Usage>> {
    let wire: WireUsage = serde_json::from_str(json)?;
    let prompt = wire.prompt_tokens.unwrap_or(0);
    let completion = wire.completion_tokens.unwrap_or(0);
    let details = wire.prompt_tokens_details.unwrap_or_default();
    let cache_read = details.cached_tokens.or(wire.prompt_cache_hit_tokens);
    let cache_write = details.cache_write_tokens;
    let reasoning = wire.completion_tokens_details.unwrap_or_default().reasoning_tokens;
    if prompt == 0 && completion == 0 {
        return Ok(None);
    }
    // Most count reasoning within the completion; the total tells those that do not.
    let apart = reasoning.unwrap_or(0);
    let counts_apart = apart > 0
        && wire.total_tokens == prompt.checked_add(completion).and_then(|sum| sum.checked_add(apart));
    let output = if counts_apart { completion.saturating_add(apart) } else { completion };
    let input = prompt.saturating_sub(cache_read.unwrap_or(0)).saturating_sub(cache_write.unwrap_or(0));
    Ok(Some(Usage { input, output, cache_read, cache_write, reasoning }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "compared with an `Option` everywhere")]
    fn usage(input: u64, output: u64, cache_read: Option<u64>, reasoning: Option<u64>) -> Option<Usage> {
        Some(Usage { input, output, cache_read, cache_write: None, reasoning })
    }

    #[test]
    fn counts_become_disjoint() {
        for (json, expected) in [
            (r#"{"prompt_tokens":10,"completion_tokens":4}"#, usage(10, 4, None, None)),
            (
                r#"{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":8}}"#,
                usage(2, 4, Some(8), None),
            ),
            (
                r#"{"prompt_tokens":10,"completion_tokens":4,"prompt_cache_hit_tokens":3}"#,
                usage(7, 4, Some(3), None),
            ),
            (
                r#"{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,"completion_tokens_details":{"reasoning_tokens":3}}"#,
                usage(10, 4, None, Some(3)),
            ),
            (
                r#"{"prompt_tokens":10,"completion_tokens":4,"total_tokens":17,"completion_tokens_details":{"reasoning_tokens":3}}"#,
                usage(10, 7, None, Some(3)),
            ),
            (
                r#"{"prompt_tokens":2,"completion_tokens":1,"prompt_tokens_details":null}"#,
                usage(2, 1, None, None),
            ),
            (r#"{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}"#, None),
            ("{}", None),
        ] {
            assert_eq!(read(json).unwrap(), expected, "{json}");
        }
    }
}
