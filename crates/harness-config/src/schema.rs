//! Walking a section's schema: which keys there are.
use serde_json::Value;

/// What a schema says about a key of an object.
pub(crate) enum Known<'a> {
    /// The schema of the key's value.
    Yes(&'a Value),
    /// There is no such key; the known ones are these.
    No(Vec<&'a str>),
    /// The schema does not describe objects: the type itself will judge.
    Unclear,
}

pub(crate) fn key<'a>(schema: &'a Value, name: &str) -> Known<'a> {
    let schema = object(schema);
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Some(found) = properties.and_then(|properties| properties.get(name)) {
        return Known::Yes(found);
    }
    match schema.get("additionalProperties") {
        Some(values @ Value::Object(_)) => Known::Yes(values),
        Some(Value::Bool(false)) => {
            Known::No(properties.into_iter().flat_map(|known| known.keys()).map(String::as_str).collect())
        }
        _ => Known::Unclear,
    }
}

/// Every settable path below a schema, with its value's schema. Maps with free keys end a path.
pub(crate) fn leaves<'a>(schema: &'a Value, prefix: &[String], out: &mut Vec<(Vec<String>, &'a Value)>) {
    let inner = object(schema);
    match inner.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            for (name, value) in properties {
                let mut path = prefix.to_vec();
                path.push(name.clone());
                leaves(value, &path, out);
            }
        }
        None if inner.get("additionalProperties").is_some_and(Value::is_object) => {}
        None => out.push((prefix.to_vec(), schema)),
    }
}

/// Whether a value may be plain text.
pub(crate) fn takes_text(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
        _ => {
            ["anyOf", "oneOf"].iter().any(|any| {
                schema.get(any).and_then(Value::as_array).is_some_and(|all| all.iter().any(takes_text))
            }) || schema.get("enum").is_some()
                || schema.get("const").is_some()
        }
    }
}

/// The object form of an optional object.
fn object(schema: &Value) -> &Value {
    let any = schema.get("anyOf").and_then(Value::as_array);
    any.and_then(|any| any.iter().find(|schema| schema.get("properties").is_some())).unwrap_or(schema)
}
