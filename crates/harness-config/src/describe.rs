//! Every setting with its value and source, for people and for the catalog.
use serde_json::{Value, json};

use crate::config::Config;
use crate::schema;
use crate::section::SectionInfo;
use crate::source::Source;

/// Keys whose values are never shown.
const SECRET: [&str; 4] = ["api_key", "token", "secret", "password"];

/// One setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The key with its section, such as `model.name`.
    pub key: String,
    /// The value in force; secrets are replaced by dots.
    pub value: Value,
    /// Where it comes from.
    pub source: Source,
}

impl Config {
    /// All settings, section by section: those that are set and those that have a default.
    pub fn describe(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for section in &self.sections {
            let mut merged = section.defaults.clone();
            if let Some(set) = self.layer.values.get(section.name) {
                merge(&mut merged, set);
            }
            self.walk(&merged, &mut vec![section.name.to_owned()], &mut settings);
        }
        settings
    }
    fn walk(&self, value: &Value, path: &mut Vec<String>, out: &mut Vec<Setting>) {
        match value {
            Value::Object(table) => {
                for (name, inner) in table {
                    path.push(name.clone());
                    self.walk(inner, path, out);
                    path.pop();
                }
            }
            Value::Null => {}
            value => {
                let secret = path.last().is_some_and(|name| SECRET.contains(&name.as_str()));
                let value =
                    if secret { Value::String("••••".to_owned()) } else { without_user(value) };
                out.push(Setting { key: path.join("."), value, source: self.layer.place(path) });
            }
        }
    }
}

/// An address may hold a user name and a password before its `@`.
fn without_user(value: &Value) -> Value {
    let masked = value.as_str().and_then(|text| {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (_, host) = rest[..end].rsplit_once('@')?;
        Some(Value::String(format!("{scheme}://••••@{host}{}", &rest[end..])))
    });
    masked.unwrap_or_else(|| value.clone())
}

fn merge(lower: &mut Value, upper: &Value) {
    match (lower, upper) {
        (Value::Object(below), Value::Object(above)) => {
            for (name, value) in above {
                merge(below.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (lower, upper) => lower.clone_from(upper),
    }
}

/// JSON Schema of a whole settings file, and the key of every plain setting.
pub fn settings_schema(sections: &[SectionInfo]) -> (Value, Vec<String>) {
    let mut properties = serde_json::Map::new();
    let mut keys = Vec::new();
    for section in sections {
        properties.insert(section.name.to_owned(), section.schema.clone());
        let mut leaves = Vec::new();
        schema::leaves(&section.schema, &[section.name.to_owned()], &mut leaves);
        keys.extend(leaves.into_iter().map(|(path, _)| path.join(".")));
    }
    (json!({ "type": "object", "properties": properties, "additionalProperties": false }), keys)
}
