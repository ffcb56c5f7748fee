//! Taking a faulty keyword out of a schema without making the rest stricter.
use serde_json::{Map, Value};

/// Keywords under which less checking below could mean more refusals above, so they go as a whole.
const NEGATING: &[&str] = &["not", "if", "oneOf", "contains", "minContains", "maxContains"];
/// Keywords whose meaning depends on what others have looked at.
const LEFTOVERS: &[&str] = &["unevaluatedProperties", "unevaluatedItems"];

/// What the values at a place of a schema are.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Keywords.
    Schema,
    /// Schemas by name.
    Names,
    /// Schemas in a row.
    List,
}

/// Cuts the keyword at the path, or the nearest one around it that can go. Gives the path of what went.
pub(crate) fn cut(schema: &mut Value, path: &[String]) -> Option<String> {
    let (length, place) = target(schema, path)?;
    let (last, parents) = path[..length].split_last()?;
    match (place, descend(schema, parents)?) {
        (Place::Schema, Value::Object(keywords)) => drop_keyword(keywords, last)?,
        (Place::Names, Value::Object(names))
            if parents.last().is_some_and(|key| key == "patternProperties") =>
        {
            names.shift_remove(last)?;
            if let Some(Value::Object(keywords)) = descend(schema, &parents[..parents.len() - 1]) {
                keywords.shift_remove("additionalProperties");
            }
        }
        (Place::Names, Value::Object(names)) => *names.get_mut(last)? = Value::Bool(true),
        (Place::List, Value::Array(items)) => {
            *items.get_mut(last.parse::<usize>().ok()?)? = Value::Bool(true);
        }
        _ => return None,
    }
    loosen(schema);
    Some(path[..length].join("/"))
}

/// How many steps of the path lead to what must go, and where the last of them stands.
fn target(schema: &Value, path: &[String]) -> Option<(usize, Place)> {
    let (mut place, mut value) = (Place::Schema, schema);
    for (index, step) in path.iter().enumerate() {
        value = child(value, step)?;
        let last = index + 1 == path.len();
        let next = match place {
            Place::Schema if NEGATING.contains(&step.as_str()) => None,
            Place::Schema => below(step, value),
            Place::Names | Place::List => Some(Place::Schema),
        };
        match next {
            Some(next) if !last => place = next,
            _ => return Some((index + 1, place)),
        }
    }
    None
}

fn below(keyword: &str, value: &Value) -> Option<Place> {
    match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => Some(Place::Names),
        "allOf" | "anyOf" | "prefixItems" => Some(Place::List),
        "items" if value.is_array() => Some(Place::List),
        "items"
        | "additionalItems"
        | "additionalProperties"
        | "propertyNames"
        | "then"
        | "else"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Some(Place::Schema),
        _ => None,
    }
}

fn drop_keyword(keywords: &mut Map<String, Value>, keyword: &str) -> Option<()> {
    keywords.shift_remove(keyword)?;
    let dependents: &[&str] = match keyword {
        "properties" | "patternProperties" => &["additionalProperties"],
        "prefixItems" | "items" => &["items", "additionalItems"],
        "contains" | "minContains" | "maxContains" => &["contains", "minContains", "maxContains"],
        _ => &[],
    };
    for dependent in dependents {
        keywords.shift_remove(*dependent);
    }
    Some(())
}

/// Takes out what a cut elsewhere could tighten: keywords about leftovers, and negations of these or of references.
fn loosen(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, inner| {
                let key = key.as_str();
                let tightens = NEGATING.contains(&key) && is_affected(inner);
                !(tightens || LEFTOVERS.contains(&key))
            });
            fields.values_mut().for_each(loosen);
        }
        Value::Array(items) => items.iter_mut().for_each(loosen),
        _ => {}
    }
}

/// Whether a cut elsewhere, or taking out the leftovers, changes what it means.
fn is_affected(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, inner)| {
            matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef")
                || LEFTOVERS.contains(&key.as_str())
                || is_affected(inner)
        }),
        Value::Array(items) => items.iter().any(is_affected),
        _ => false,
    }
}

fn child<'a>(value: &'a Value, step: &str) -> Option<&'a Value> {
    match value {
        Value::Object(fields) => fields.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

fn descend<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, step| match value {
        Value::Object(fields) => fields.get_mut(step),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(mut schema: Value, path: &str, gone: &str, left: &Value) {
        let path: Vec<_> = path.split('/').map(str::to_owned).collect();
        assert_eq!(cut(&mut schema, &path).as_deref(), Some(gone));
        assert_eq!(schema, *left);
    }

    #[test]
    fn the_keyword_alone_goes() {
        let schema = json!({ "properties": { "a": { "type": "any", "minimum": 1 } }, "required": ["a"] });
        let left = json!({ "properties": { "a": { "minimum": 1 } }, "required": ["a"] });
        check(schema, "properties/a/type", "properties/a/type", &left);
        check(json!({ "type": ["string", "any"] }), "type/1", "type", &json!({}));
    }

    #[test]
    fn a_property_stays_allowed() {
        let schema = json!({ "properties": { "a": 5 }, "additionalProperties": false });
        let left = json!({ "properties": { "a": true }, "additionalProperties": false });
        check(schema, "properties/a", "properties/a", &left);
        check(
            json!({ "properties": 5, "additionalProperties": false }),
            "properties",
            "properties",
            &json!({}),
        );
        let schema = json!({ "patternProperties": { "(": {}, "b": {} }, "additionalProperties": false });
        check(
            schema,
            "patternProperties/(",
            "patternProperties/(",
            &json!({ "patternProperties": { "b": {} } }),
        );
    }

    #[test]
    fn a_negation_goes_as_a_whole() {
        let schema = json!({ "allOf": [{ "not": { "properties": { "a": { "type": "any" } } } }] });
        check(schema, "allOf/0/not/properties/a/type", "allOf/0/not", &json!({ "allOf": [{}] }));
        check(json!({ "oneOf": [{ "minimum": "x" }, {}] }), "oneOf/0/minimum", "oneOf", &json!({}));
        // A property of that name negates nothing.
        let schema = json!({ "properties": { "not": { "type": "any" } } });
        check(schema, "properties/not/type", "properties/not/type", &json!({ "properties": { "not": {} } }));
    }

    #[test]
    fn what_looks_at_the_rest_goes_too() {
        let schema = json!({
            "allOf": [{ "type": "any" }], "unevaluatedProperties": false, "not": { "$ref": "#/$defs/A" },
            "if": { "required": ["a"] }
        });
        check(schema, "allOf/0/type", "allOf/0/type", &json!({ "allOf": [{}], "if": { "required": ["a"] } }));
    }

    #[test]
    fn a_negation_of_what_looks_at_the_rest_goes_too() {
        let schema =
            json!({ "pattern": "(", "if": { "anyOf": [{ "unevaluatedProperties": false }] }, "then": false });
        check(schema, "pattern", "pattern", &json!({ "then": false }));
    }

    #[test]
    fn the_whole_schema_cannot_be_cut() {
        assert_eq!(cut(&mut json!([]), &[]), None);
        assert_eq!(cut(&mut json!({}), &["type".into()]), None);
    }
}
