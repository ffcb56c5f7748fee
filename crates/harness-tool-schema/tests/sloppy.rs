//! Schemas that are not quite JSON Schema: what cannot be checked goes, the rest holds.
#![expect(clippy::unwrap_used, reason = "a test may panic; the lint knows only functions marked as tests")]

use harness_tool_schema::SchemaValidator;
use harness_tools::ArgumentValidator;
use proptest::prelude::*;
use serde_json::{Value, json};

fn allows(schema: &Value, arguments: &Value) -> bool {
    SchemaValidator.compile(schema).unwrap().check(arguments).is_ok()
}

/// Each schema has one fault beside a rule for `b` that must still hold.
#[test]
fn one_fault_leaves_the_other_rules_alone() {
    let faults = [
        json!({ "type": "any" }),
        json!({ "type": "string", "required": true }),
        json!({ "type": "string", "pattern": "(?=x)y" }),
        json!({ "type": "string", "pattern": "(" }),
        json!({ "$ref": "https://example.com/other.json#/$defs/A" }),
        json!({ "$ref": "other.json" }),
        json!({ "$ref": "#/nowhere" }),
        json!({ "$ref": "#nobody" }),
        json!({ "minLength": "3" }),
        json!(7),
        json!({ "allOf": [{ "type": "string" }, 7] }),
    ];
    for fault in faults {
        let schema = json!({
            "type": "object",
            "properties": { "a": fault, "b": { "type": "integer" } },
            "required": ["b"],
            "additionalProperties": false
        });
        assert!(allows(&schema, &json!({ "a": "text", "b": 1 })), "{schema}");
        assert!(!allows(&schema, &json!({ "a": "text", "b": "1" })), "{schema}");
        assert!(!allows(&schema, &json!({ "b": 1, "c": 1 })), "{schema}");
    }
}

#[test]
fn an_unknown_dialect_is_read_as_the_newest() {
    for dialect in ["https://example.com/schema", "http://json-schema.org/draft-03/schema#"] {
        let schema = json!({ "$schema": dialect, "properties": { "a": { "type": "string" } } });
        assert!(allows(&schema, &json!({ "a": "x" })) && !allows(&schema, &json!({ "a": 1 })), "{dialect}");
    }
}

#[test]
fn a_schema_without_a_usable_identity_is_still_read() {
    let schema = json!({ "$id": "::no address", "properties": { "a": { "type": "string" } } });
    assert!(allows(&schema, &json!({ "a": "x" })) && !allows(&schema, &json!({ "a": 1 })));
}

#[test]
fn older_dialects_are_understood() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": { "a": { "type": "integer", "minimum": 1, "exclusiveMinimum": true } }
    });
    assert!(!allows(&schema, &json!({ "a": 1 })) && allows(&schema, &json!({ "a": 2 })));
}

#[test]
fn what_is_no_schema_is_refused() {
    for schema in [json!([]), json!("object"), json!(null)] {
        assert!(SchemaValidator.compile(&schema).is_err(), "{schema}");
    }
}

#[test]
fn a_schema_that_refers_to_itself_is_fine() {
    let schema = json!({ "properties": { "next": { "$ref": "#" } }, "required": ["value"] });
    assert!(allows(&schema, &json!({ "value": 1, "next": { "value": 2 } })));
    assert!(!allows(&schema, &json!({ "value": 1, "next": {} })));
}

/// `last` is one more of the schemas that contain no others.
fn schema(last: Value) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "integer", "minimum": 1 })),
        Just(json!({ "type": "object", "required": ["a"] })),
        Just(json!({ "enum": [1, "x", null] })),
        Just(last),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(
                |(a, b)| json!({ "properties": { "a": a, "b": b }, "additionalProperties": false })
            ),
            pair.clone()
                .prop_map(|(a, b)| json!({ "patternProperties": { "^a": a }, "additionalProperties": b })),
            pair.clone().prop_map(|(a, b)| json!({ "allOf": [a, b], "unevaluatedProperties": false })),
            pair.clone().prop_map(|(a, b)| json!({ "anyOf": [a, b] })),
            pair.clone().prop_map(|(a, b)| json!({ "oneOf": [a, b] })),
            pair.clone().prop_map(|(a, b)| json!({ "if": a, "then": b, "else": { "type": "object" } })),
            pair.clone().prop_map(|(a, b)| json!({ "prefixItems": [a], "items": b })),
            pair.prop_map(|(a, b)| json!({ "contains": a, "maxContains": 1, "items": b })),
            inner.clone().prop_map(|a| json!({ "not": a })),
            inner.prop_map(|a| json!({ "properties": { "a": a }, "unevaluatedProperties": false })),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(json!(0)), Just(json!(1)), Just(json!("x")), Just(json!(null)), Just(json!(true))];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map("[abc]", inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Adds the keyword to the `at`-th object that is a schema; false when there are fewer.
fn damage(schema: &mut Value, at: &mut usize, keyword: &str, fault: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let names = fields.keys().all(|key| key.len() < 3 && !key.starts_with('$'));
            if !names || fields.is_empty() {
                if *at == 0 {
                    fields.insert(keyword.into(), fault.clone());
                    return true;
                }
                *at -= 1;
            }
            let data = |key: &str| matches!(key, "enum" | "required");
            fields
                .iter_mut()
                .filter(|(key, _)| !data(key))
                .any(|(_, inner)| damage(inner, at, keyword, fault))
        }
        Value::Array(items) => items.iter_mut().any(|inner| damage(inner, at, keyword, fault)),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    /// Whatever is cut: what the schema without the fault allows is still allowed.
    #[test]
    fn a_cut_never_refuses_more(
        mut schema in schema(json!({ "$ref": "#/$defs/D" })),
        // A definition that is nothing but a reference to itself does not end; that is not ours to test.
        definition in schema(json!(false)),
        arguments in prop::collection::vec(arguments(), 1..8),
        at in 0..12_usize,
        fault in prop_oneof![
            Just(("pattern", json!("("))),
            Just(("minLength", json!("many"))),
            Just(("$dynamicRef", json!("#/nowhere"))),
            Just(("patternProperties", json!({ "(": true }))),
        ],
    ) {
        if let Value::Object(fields) = &mut schema {
            fields.insert("$defs".into(), json!({ "D": definition }));
        }
        let mut damaged = schema.clone();
        if damaged.is_object() && damage(&mut damaged, &mut at.clone(), fault.0, &fault.1) {
            for arguments in &arguments {
                if jsonschema::is_valid(&schema, arguments) {
                    prop_assert!(allows(&damaged, arguments), "{damaged}\nrefuses {arguments}");
                }
            }
        }
    }
}
