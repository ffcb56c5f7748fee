use serde_json::json;
fn main() {
    for s in [
        json!({"type":"object","properties":{"a":{"pattern":"(?=x)y"}}}),
        json!({"type":"object","properties":{"a":{"pattern":"("}}}),
        json!({"type":"object","patternProperties":{"(":{"type":"string"}}}),
        json!({"type":"object","properties":{"a":{"type":"any"}}}),
        json!({"type":"object","properties":{"a":{"type":"string","required":true}}}),
        json!({"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}),
        json!({"type":"object","properties":{"a":{"$ref":"https://example.com/x.json"}}}),
        json!({"type":"object","properties":{"a":{"$ref":"#name"}}}),
        json!({"type":"object","properties":{"a":{"$ref":"https://example.com/x.json#/a/b"}}}),
        json!({"$schema":"https://example.com/schema","type":"object"}),
        json!({"$schema":"http://json-schema.org/draft-03/schema#","type":"object"}),
        json!({"$id":"https://example.com/me","type":"object","properties":{"a":{"$ref":"https://example.com/me#/$defs/A"}},"$defs":{"A":{"type":"string"}}}),
        json!({"$id":"me","properties":{"a":{"$ref":"me#/$defs/A"}, "b":{"$ref":"me"}},"$defs":{"A":{"type":"string"}}}),
        json!({"$id":"::bad uri","properties":{}}),
        json!({"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}),
        json!({"type":"object","properties":{"a":{"minimum":"3"}}, "allOf":[{"type":4}]}),
        json!("nonsense"), json!([]), json!(false), json!(null),
        json!({"properties": {"a": 5}}),
    ] {
        let built = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex()).offline().should_validate_formats(false).build(&s);
        match built { Ok(_) => println!("OK   {s}"), Err(e) => println!("ERR  {s}\n     kind {} / {:?} / inst {} schema {} / {}", e.kind().keyword(), matches!(e.kind(), jsonschema::error::ValidationErrorKind::Referencing(_)), e.instance_path(), e.schema_path(), e) }
    }
    let s = json!({"type":"object","additionalProperties":false,"required":["path","edits"],"properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","required":["old"],"properties":{"n":{"type":["integer","null"]},"mode":{"enum":["a","b"]},"x":{"anyOf":[{"type":"object","required":["q"]},{"type":"null"}]}}}}}});
    let v = jsonschema::validator_for(&s).unwrap();
    for e in v.iter_errors(&json!({"edits":[{"n":"x","mode":"c"},{"old":1,"x":{}}],"zz":1})) { println!("{} | {} | {:?}", e.instance_path(), e, e.kind()); for s in e.instance_path().iter() { print!("{s:?} "); } println!(); }
}
