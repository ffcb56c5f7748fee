//! Finding the references that lead nowhere.
use serde_json::Value;

/// What a failed compilation says of the reference.
pub(crate) enum Broken<'a> {
    /// The document is not part of the schema.
    Document(&'a str),
    /// The document has no such part.
    Fragment(&'a str),
    /// Nothing.
    Any,
}

impl Broken<'_> {
    fn is(&self, reference: &str) -> bool {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        match self {
            // The fault names the absolute address, the schema perhaps a relative one.
            Self::Document(uri) => {
                !document.is_empty() && uri.split('#').next().unwrap_or_default().ends_with(document)
            }
            Self::Fragment(part) => fragment == *part,
            Self::Any => true,
        }
    }
}

/// The paths of the reference keywords that are broken in this way.
pub(crate) fn holders(schema: &Value, broken: &Broken<'_>) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    search(schema, broken, &mut Vec::new(), &mut found);
    found
}

fn search(value: &Value, broken: &Broken<'_>, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let mut visit = |step: String, inner: &Value, path: &mut Vec<String>| {
        path.push(step);
        match inner {
            Value::String(reference) if is_reference(path) && broken.is(reference) => {
                found.push(path.clone());
            }
            _ => search(inner, broken, path, found),
        }
        path.pop();
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, inner)| visit(key.clone(), inner, path)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, inner)| visit(index.to_string(), inner, path));
        }
        _ => {}
    }
}

fn is_reference(path: &[String]) -> bool {
    path.last().is_some_and(|key| matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_broken_reference_is_found() {
        let schema = json!({
            "properties": { "a": { "$ref": "#/$defs/A" }, "b": { "$ref": "other.json#/x" }, "$ref": { "type": "string" } },
            "allOf": [{ "$ref": "#/nowhere" }]
        });
        let at = |broken| holders(&schema, &broken).iter().map(|path| path.join("/")).collect::<Vec<_>>();
        assert_eq!(at(Broken::Document("json-schema:///other.json")), ["properties/b/$ref"]);
        assert_eq!(at(Broken::Fragment("/nowhere")), ["allOf/0/$ref"]);
        assert_eq!(at(Broken::Any).len(), 3);
    }
}
