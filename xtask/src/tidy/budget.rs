//! The stable prefix costs every request: the default tools together must stay small.
use crate::catalog::Tool;
use crate::finding::Finding;

/// Most bytes of the default tools as they travel: name, description and schema.
const SCHEMA_BYTES: usize = 6 * 1024;

/// Checks the tools of the composed harness.
pub(crate) fn check(tools: &[Tool]) -> Vec<Finding> {
    let bytes: usize = tools.iter().map(Tool::bytes).sum();
    if tools.is_empty() {
        return vec![Finding::whole("crates/harness-bundle", "composes no tool at all")];
    }
    if bytes <= SCHEMA_BYTES {
        return Vec::new();
    }
    let mut sizes: Vec<_> = tools.iter().map(|tool| (tool.bytes(), tool.name.as_str())).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let largest: Vec<_> = sizes.iter().take(3).map(|(bytes, name)| format!("{name} {bytes}")).collect();
    let message = format!(
        "the default tools take {bytes} bytes of every request, at most {SCHEMA_BYTES}; the largest: {}",
        largest.join(", ")
    );
    vec![Finding::whole("crates/harness-bundle", message)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;

    fn tool(name: &str, description: usize) -> Tool {
        Tool { name: name.into(), description: "d".repeat(description), parameters: serde_json::json!({}) }
    }

    #[test]
    fn tools_that_cost_too_much_are_refused() {
        assert_findings(&check(&[tool("read", 3000), tool("write", 3000)]), &[]);
        assert_findings(&check(&[tool("read", 3000), tool("write", 3200)]), &["the largest: write 3"]);
        assert_findings(&check(&[]), &["composes no tool at all"]);
    }
}
