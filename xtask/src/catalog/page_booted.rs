//! The pages that come from the composed harness.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Pages;
use super::booted::{Booted, Section, Tool};
use super::page::head;
use super::prose::first_sentence;

/// All pages of this kind.
pub(super) fn pages(booted: &Booted) -> Result<Pages> {
    Ok(BTreeMap::from([
        ("tools.md", tools(&booted.tools)?),
        ("config.md", config(&booted.sections)?),
        ("bundle.md", bundle(booted)),
    ]))
}

fn tools(tools: &[Tool]) -> Result<String> {
    let bytes: usize = tools.iter().map(Tool::bytes).sum();
    let introduction = format!(
        "What a model is told of the default tools, in this order. Together {bytes} bytes of compact JSON in every \
         request."
    );
    let mut page = head("Tools", &introduction);
    page.push_str("\n| tool | bytes |\n|---|---|\n");
    for tool in tools {
        let _ = writeln!(page, "| `{}` | {} |", tool.name, tool.bytes());
    }
    for tool in tools {
        let schema =
            serde_json::to_string_pretty(&tool.parameters).context("a tool's schema cannot be printed")?;
        let _ =
            write!(page, "\n## `{}`\n\n{}\n\n```json\n{schema}\n```\n", tool.name, tool.description.trim());
    }
    Ok(page)
}

fn config(sections: &[Section]) -> Result<String> {
    let mut page = head(
        "Configuration keys",
        "Keys of `config.toml`, of the user's file and of a project's `.harness/config.toml`. Unknown keys are errors.",
    );
    page.push_str("\n| key | type | default | |\n|---|---|---|---|\n");
    let mut rows = Vec::new();
    for section in sections {
        flatten(&section.schema, &section.schema, &section.name, 0, &mut rows)?;
    }
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    for row in rows {
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", row.key, row.of_type, row.default, row.said);
    }
    Ok(page)
}

fn bundle(booted: &Booted) -> String {
    let mut page = head(
        "The default bundle",
        "What runs when nothing else is configured: each plugin with the services that it provides and the events \
         that it\nlistens to from the start. More is registered for each agent.",
    );
    let mut plugins: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for service in &booted.services {
        plugins.entry(service.plugin.as_deref().unwrap_or("the app")).or_default().0.insert(&service.name);
    }
    for listener in &booted.listeners {
        plugins.entry(listener.plugin.as_deref().unwrap_or("the app")).or_default().1.insert(&listener.event);
    }
    page.push_str("\n| plugin | provides | listens to |\n|---|---|---|\n");
    let list =
        |names: &BTreeSet<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    for (plugin, (services, events)) in &plugins {
        let _ = writeln!(page, "| {plugin} | {} | {} |", list(services), list(events));
    }
    page
}

struct Row {
    key: String,
    of_type: String,
    default: String,
    said: String,
}

/// One row for each value that a file can set; a table with named keys becomes rows of its own.
fn flatten(root: &Value, schema: &Value, key: &str, depth: usize, rows: &mut Vec<Row>) -> Result<()> {
    anyhow::ensure!(depth < 16, "the schema of `{key}` contains itself");
    let (target, nullable) = resolve(root, schema)?;
    if let Some(properties) =
        target.get("properties").and_then(Value::as_object).filter(|found| !found.is_empty())
    {
        let mut names: Vec<_> = properties.iter().collect();
        names.sort_by_key(|(name, _)| name.as_str());
        for (name, property) in names {
            flatten(root, property, &join(key, name), depth + 1, rows)?;
        }
        return Ok(());
    }
    if let Some(each @ Value::Object(_)) = target.get("additionalProperties") {
        return flatten(root, each, &join(key, "<name>"), depth + 1, rows);
    }
    let said = [schema, target].into_iter().find_map(|part| part.get("description").and_then(Value::as_str));
    let default = schema.get("default").or_else(|| target.get("default")).filter(|value| !value.is_null());
    rows.push(Row {
        key: key.to_owned(),
        of_type: type_of(root, target, depth)? + if nullable { ", optional" } else { "" },
        default: default
            .map(|value| format!("`{}`", value.to_string().replace('|', "\\|")))
            .unwrap_or_default(),
        said: first_sentence(said.unwrap_or_default()),
    });
    Ok(())
}

fn join(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

/// Follows `$ref`, and takes the other side of a choice with `null`.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> Result<(&'a Value, bool)> {
    let (mut schema, mut nullable) = (schema, false);
    for _ in 0..16 {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let pointer = reference
                .strip_prefix('#')
                .with_context(|| format!("`{reference}` is outside of the schema"))?;
            schema = root.pointer(pointer).with_context(|| format!("`{reference}` leads nowhere"))?;
            continue;
        }
        let choices = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let real: Vec<_> = choices.into_iter().flatten().filter(|choice| choice["type"] != "null").collect();
        match (real.as_slice(), choices.map_or(0, Vec::len)) {
            ([only], 2) => {
                schema = only;
                nullable = true;
            }
            _ => break,
        }
    }
    Ok((schema, nullable))
}

fn type_of(root: &Value, schema: &Value, depth: usize) -> Result<String> {
    anyhow::ensure!(depth < 16, "the schema contains itself");
    let quoted = |values: &[Value]| {
        values
            .iter()
            .filter(|value| !value.is_null())
            .map(|value| format!("`{value}`"))
            .collect::<Vec<_>>()
            .join(" or ")
    };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Ok(quoted(values));
    }
    if let Some(value) = schema.get("const") {
        return Ok(format!("`{value}`"));
    }
    if let Some(choices) = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array) {
        let choices = choices.iter().map(|choice| type_of(root, resolve(root, choice)?.0, depth + 1));
        return Ok(choices.collect::<Result<Vec<_>>>()?.join(" or "));
    }
    if schema["type"] == "array" {
        let of =
            schema.get("items").map(|items| type_of(root, resolve(root, items)?.0, depth + 1)).transpose()?;
        return Ok(format!("list of {}", of.unwrap_or_else(|| "any".into())));
    }
    Ok(match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let names: Vec<_> = names
                .iter()
                .filter_map(Value::as_str)
                .map(|name| if name == "null" { "none" } else { name })
                .collect();
            names.join(" or ")
        }
        _ => "any".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn section(schema: Value) -> [Section; 1] {
        [Section { name: "top".into(), schema }]
    }

    #[test]
    fn a_schema_becomes_one_row_a_key() {
        let schema = json!({
            "properties": {
                "model": { "type": ["string", "null"], "description": "The model. More." },
                "llm": { "$ref": "#/$defs/Llm" },
                "shell": { "anyOf": [{ "$ref": "#/$defs/Shell" }, { "type": "null" }] },
                "provider": { "type": "object", "additionalProperties": { "$ref": "#/$defs/Llm" } }
            },
            "$defs": {
                "Llm": { "properties": { "timeout": { "type": "integer", "default": 30, "description": "Seconds." } } },
                "Shell": { "enum": ["sh", "bash"], "description": "Which shell." }
            }
        });
        let page = config(&section(schema)).unwrap();
        let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).collect();
        let expected = [
            "| `top.llm.timeout` | integer | `30` | Seconds. |",
            "| `top.model` | string or none |  | The model. |",
            "| `top.provider.<name>.timeout` | integer | `30` | Seconds. |",
            "| `top.shell` | `\"sh\"` or `\"bash\"`, optional |  | Which shell. |",
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_schema_that_leads_nowhere_or_back_is_an_error() {
        let nowhere = json!({ "properties": { "a": { "$ref": "#/$defs/A" } } });
        assert!(config(&section(nowhere)).is_err());
        let back = json!({
            "properties": { "a": { "$ref": "#/$defs/A" } },
            "$defs": { "A": { "properties": { "b": { "$ref": "#/$defs/A" } } } }
        });
        assert!(config(&section(back)).is_err());
    }

    #[test]
    fn the_bundle_lists_each_plugin_once() {
        let booted: Booted = serde_json::from_value(json!({
            "tools": [], "sections": [],
            "services": [{ "name": "llm", "plugin": "llm" }, { "name": "x", "plugin": null }],
            "listeners": [{ "event": "a/b", "plugin": "llm" }, { "event": "a/b", "plugin": "llm" }]
        }))
        .unwrap();
        let page = bundle(&booted);
        assert!(page.ends_with("| llm | `llm` | `a/b` |\n| the app | `x` |  |\n"), "{page}");
        let missing =
            crate::catalog::scan::check_complete(&crate::catalog::scan::Catalog::default(), &booted)
                .unwrap_err();
        assert_eq!(missing.to_string(), "service `llm` is provided, but no `impl Service` of it was found");
    }

    #[test]
    fn tools_are_shown_as_a_model_sees_them() {
        let tool = Tool {
            name: "read".into(),
            description: "Reads.".into(),
            parameters: json!({ "type": "object" }),
        };
        let page = tools(&[tool]).unwrap();
        assert!(page.contains("| `read` | 69 |"), "{page}");
        assert!(
            page.contains("\n## `read`\n\nReads.\n\n```json\n{\n  \"type\": \"object\"\n}\n```\n"),
            "{page}"
        );
    }
}
