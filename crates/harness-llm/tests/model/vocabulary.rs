//! Open vocabularies: what this build does not know survives; what it knows must be well formed.
use harness_llm::{Block, ContextForm, Message, MessageId, MessageSource, Open, Role, ToolResultBlock};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn survives<T: Serialize + DeserializeOwned>(text: &str) {
    let value: T = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
}

#[test]
fn unknown_blocks_survive_byte_for_byte() {
    survives::<Block>(
        r#"{"type":"citation","url":"https://a.example","spans":[[1,2],[3,4]],"z":null,"a":1.5}"#,
    );
    survives::<Block>(r#"{"type":""}"#);
    // The tag may stand anywhere, and one inside a result is kept as well.
    survives::<Block>(r#"{"data":{"type":"text"},"type":"chart"}"#);
    survives::<Block>(
        r#"{"type":"tool-result","call_id":"c1","content":[{"type":"chart","n":18446744073709551615}]}"#,
    );
}

#[test]
fn unknown_sources_survive_byte_for_byte() {
    survives::<MessageSource>(r#"{"kind":"satellite","orbit":{"height":35786}}"#);
    let text = format!(
        r#"{{"id":"{}","role":"user","content":[{{"type":"chart"}}],"source":{{"kind":"satellite"}}}}"#,
        MessageId::generate()
    );
    survives::<Message>(&text);
}

#[test]
fn an_unknown_value_can_be_named_and_read() {
    let block: Block = serde_json::from_str(r#"{"type":"chart","bars":[1,2]}"#).unwrap();
    let Block::Other(open) = &block else { panic!("{block:?}") };
    assert_eq!((open.name(), &open.fields()["bars"]), ("chart", &json!([1, 2])));
    assert_eq!(block.as_text(), None);
}

#[test]
fn a_malformed_value_of_a_known_type_is_an_error() {
    let malformed = [
        r#"{"type":"text"}"#,
        r#"{"type":"text","text":7}"#,
        r#"{"type":"reasoning","text":null}"#,
        r#"{"type":"image","media_type":"image/png"}"#,
        r#"{"type":"tool-call","id":"c1","name":"read"}"#,
        r#"{"type":"tool-call","id":"c1","name":"read","arguments":{}}"#,
        r#"{"type":"tool-result","call_id":"c1","content":[{"type":"text"}]}"#,
        r#"{"type":7}"#,
        r#"{"text":"no type"}"#,
        r#""text""#,
        "[]",
        "null",
    ];
    for text in malformed {
        serde_json::from_str::<Block>(text).expect_err(text);
    }
    let malformed = [
        r#"{"kind":"tool"}"#,
        r#"{"kind":"model","provider":"p"}"#,
        r#"{"kind":"plugin"}"#,
        r#"{"kind":"plugin","plugin":"p","form":"poem"}"#,
        r#"{"kind":null}"#,
        "{}",
    ];
    for text in malformed {
        serde_json::from_str::<MessageSource>(text).expect_err(text);
    }
}

#[test]
fn the_error_of_a_malformed_value_says_what_is_wrong() {
    let error = |text: &str| serde_json::from_str::<Block>(text).unwrap_err().to_string();
    let plain = error(r#"{"type":"text"}"#);
    assert!(plain.starts_with("malformed value of type `text`: missing field `text` at line 1"), "{plain}");
    // The tag need not come first.
    let late = error(r#"{"text":7,"type":"text"}"#);
    assert!(late.starts_with("malformed value of type `text`: invalid type: integer"), "{late}");
    let nested = error(r#"{"type":"tool-result","call_id":"c1","content":[{"type":"text","text":7}]}"#);
    assert!(
        nested.contains("`tool-result`: malformed value of type `text`: invalid type: integer"),
        "{nested}"
    );
    let untagged = error(r#"{"text":"a"}"#);
    assert!(untagged.starts_with("expected an object with a string `type`"), "{untagged}");
    let source = serde_json::from_str::<MessageSource>(r#"{"kind":"model","provider":"p"}"#).unwrap_err();
    assert!(
        source.to_string().starts_with("malformed value of kind `model`: missing field `model`"),
        "{source}"
    );
}

/// A value made by hand cannot pass a known type off as an unknown one.
#[test]
fn a_known_name_is_never_open() {
    for name in ["text", "reasoning", "image", "tool-call", "tool-result"] {
        let Value::Object(fields) = json!({ "type": name }) else { unreachable!() };
        let refused = Open::<harness_llm::BlockVocabulary>::try_from(fields).unwrap_err();
        assert!(refused.contains(name), "{refused}");
    }
    for name in ["user", "plugin", "model", "tool"] {
        let Value::Object(fields) = json!({ "kind": name }) else { unreachable!() };
        Open::<harness_llm::SourceVocabulary>::try_from(fields).unwrap_err();
    }
}

#[test]
fn identities_are_parsed_and_refused_by_name() {
    let id = MessageId::generate();
    assert_eq!(id.to_string().parse(), Ok(id));
    let error = "m-1".parse::<MessageId>().unwrap_err();
    assert_eq!(error.to_string(), "`m-1` is not a valid identifier: expected a UUID");
}

#[test]
fn a_tool_result_names_its_call_twice_and_alike() {
    let result = ToolResultBlock { call_id: "c1".into(), content: vec![Block::text("ok")], is_error: false };
    let message = Message::tool_result(result);
    assert_eq!(message.role, Role::User, "results travel as user messages");
    assert_eq!(message.source, MessageSource::Tool { call_id: "c1".into() });
    let context = Message::context("lint", ContextForm::Notice, "two warnings");
    assert_eq!((context.role, context.text()), (Role::User, "two warnings".to_owned()));
}
