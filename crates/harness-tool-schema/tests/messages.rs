//! What a model reads when its arguments do not fit.
#![expect(clippy::unwrap_used, reason = "a test may panic; the lint knows only functions marked as tests")]

use harness_tool_schema::SchemaValidator;
use harness_tools::ArgumentValidator;
use serde_json::{Value, json};

#[track_caller]
fn check(schema: &Value, arguments: &Value, expected: &[&str]) {
    let compiled = SchemaValidator.compile(schema).unwrap();
    let violations = compiled.check(arguments).err().unwrap_or_default();
    let shown: Vec<_> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expected);
}

fn edit_tool() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["path", "edits"],
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "mode": { "enum": ["once", "all"] },
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["old"],
                    "properties": {
                        "old": { "type": "string", "pattern": "^[a-z]+$" },
                        "line": { "type": ["integer", "null"], "minimum": 1 },
                        "range": { "anyOf": [{ "$ref": "#/$defs/Range" }, { "type": "null" }] }
                    }
                }
            }
        },
        "$defs": { "Range": { "type": "object", "required": ["from"], "properties": { "from": { "type": "integer" } } } }
    })
}

#[test]
fn arguments_that_fit_have_no_violation() {
    check(
        &edit_tool(),
        &json!({ "path": "a", "edits": [{ "old": "x", "line": null, "range": { "from": 1 } }] }),
        &[],
    );
}

#[test]
fn each_violation_names_its_path() {
    check(&edit_tool(), &json!({ "edits": [{ "old": "x" }] }), &["path: is required"]);
    check(
        &edit_tool(),
        &json!({ "path": "a", "edits": [], "verbose": 1 }),
        &["edits: must have at least 1 item(s)", "verbose: is not a known property"],
    );
    check(
        &edit_tool(),
        &json!({ "path": "a", "edits": [{ "old": "X" }, { "line": "3" }] }),
        &[
            "edits[0].old: does not match the pattern ^[a-z]+$",
            "edits[1].old: is required",
            "edits[1].line: expected null or integer, got string",
        ],
    );
    check(
        &edit_tool(),
        &json!({ "path": "a", "mode": "some", "edits": [{ "old": "x" }] }),
        &["mode: expected one of \"once\", \"all\""],
    );
}

#[test]
fn of_several_forms_the_one_of_the_same_type_is_explained() {
    let arguments = json!({ "path": "a", "edits": [{ "old": "x", "range": {} }] });
    check(&edit_tool(), &arguments, &["edits[0].range.from: is required"]);
    let arguments = json!({ "path": "a", "edits": [{ "old": "x", "range": 3 }] });
    check(&edit_tool(), &arguments, &["edits[0].range: fits none of the 2 allowed forms"]);
}

#[test]
fn violations_are_few_and_short() {
    let schema = json!({ "additionalProperties": { "enum": ["x".repeat(1000)] } });
    let names = (0..50).map(|number| (format!("{number}{}", "n".repeat(500)), json!("y".repeat(100_000))));
    let compiled = SchemaValidator.compile(&schema).unwrap();
    let violations = compiled.check(&Value::Object(names.collect())).unwrap_err();
    assert_eq!(violations.len(), 5);
    let size: usize = violations.iter().map(|violation| violation.to_string().len()).sum();
    assert!(size < 2000, "{size} bytes: {violations:?}");
    assert!(violations[4].message.ends_with(" (and more)"), "{violations:?}");
}

#[test]
fn many_unknown_properties_are_bounded_too() {
    let schema = json!({ "properties": {}, "additionalProperties": false });
    let names = (0..50).map(|number| (format!("p{number}"), json!(1)));
    let violations =
        SchemaValidator.compile(&schema).unwrap().check(&Value::Object(names.collect())).unwrap_err();
    assert_eq!(violations.len(), 5);
}
