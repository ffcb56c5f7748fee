//! The sanitiser: every message fit for every provider, and nothing else changed.
use std::sync::Arc;

use harness_llm::{Block, Message, MessageSource, Role, ToolCallBlock, ToolResultBlock, sanitize_message};
use proptest::prelude::*;
use serde_json::json;

use crate::chunks::{call, thought, unknown};

fn message(content: Vec<Block>) -> Arc<Message> {
    Arc::new(Message::assistant("p", "m", content))
}
fn result(content: Vec<Block>) -> Block {
    Block::ToolResult(ToolResultBlock { call_id: "c1".into(), content, is_error: true })
}
fn sanitized(content: Vec<Block>) -> Vec<Block> {
    sanitize_message(&message(content)).content.clone()
}

#[test]
fn a_fit_message_is_not_copied() {
    let fit = message(vec![
        Block::text("a"),
        thought("b"),
        call(r#" {"a":"\u00e9"} "#),
        result(vec![Block::text("c")]),
    ]);
    assert!(Arc::ptr_eq(&sanitize_message(&fit), &fit));
}

#[test]
fn nul_characters_become_replacement_characters_wherever_text_is() {
    let dirty = vec![Block::text("a\0b"), thought("\0"), result(vec![Block::text("c\0\0")])];
    let clean =
        vec![Block::text("a\u{fffd}b"), thought("\u{fffd}"), result(vec![Block::text("c\u{fffd}\u{fffd}")])];
    assert_eq!(sanitized(dirty), clean);
}

#[test]
fn arguments_that_are_no_object_become_an_empty_one() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let faulty = [
        "",
        "null",
        "[1,2]",
        "\"{}\"",
        r#"{"file_path":"big.txt","content":"abc"#,
        "{'a':1}",
        "{} {}",
        "{\"a\":\"\0\"}",
        // Some providers parse arguments on arrival, and these break a parser.
        r#"{"a":"\ud800"}"#,
        &deep,
    ];
    for arguments in faulty {
        assert_eq!(sanitized(vec![call(arguments)]), [call("{}")], "{arguments:.60}");
    }
    let kept = r#"{"a":"\ud83e\udd80","b":[1,2.5,null]}"#;
    assert_eq!(sanitized(vec![call(kept)]), [call(kept)], "an object stays as it was written");
}

#[test]
fn illegal_tool_names_are_written_legally() {
    let named = |name: &str| {
        Block::ToolCall(ToolCallBlock { id: "c".into(), name: name.into(), arguments: "{}".into() })
    };
    for (made_up, legal) in [
        ("bash; rm -rf /", "bash__rm_-rf__"),
        ("", "unnamed"),
        ("fs.read", "fs_read"),
        ("läs\0", "l_s_"),
        (&"x".repeat(65), &"x".repeat(64)),
        ("ok_name-1", "ok_name-1"),
    ] {
        assert_eq!(sanitized(vec![named(made_up)]), [named(legal)], "{made_up:?}");
    }
}

#[test]
fn sizes_are_bounded() {
    let long = format!("HEAD{}TAIL", "é".repeat(3_000_000));
    let clean = sanitized(vec![Block::text(long.clone()), result(vec![Block::text(long)])]);
    let text = clean[0].as_text().unwrap();
    assert!(text.len() < 1024 * 1024 && text.starts_with("HEAD") && text.ends_with("TAIL"));
    assert!(text.contains("bytes are too much for one message"));
    let Block::ToolResult(inner) = &clean[1] else { panic!() };
    assert!(inner.content[0].as_text().unwrap().len() < 1024 * 1024);
    let huge = format!("{{\"a\":\"{}\"}}", "x".repeat(1024 * 1024));
    assert_eq!(sanitized(vec![call(&huge)]), [call("{}")]);
    let nuls = "\0".repeat(1024 * 1024 + 1);
    let once = sanitize_message(&message(vec![Block::text(nuls)]));
    assert!(Arc::ptr_eq(&sanitize_message(&once), &once), "twice is once");
}

#[test]
fn identity_source_and_everything_else_stay() {
    let signed = Block::Reasoning { text: "\0".into(), replay: Some(json!({ "signature": "s\u{0}" })) };
    let source =
        MessageSource::Model { provider: "p".into(), model: "m".into(), replay_state: Some(json!(1)) };
    let dirty = Arc::new(Message::new(Role::Assistant, vec![signed, unknown("chart")], source));
    let clean = sanitize_message(&dirty);
    assert_eq!((clean.id, clean.role, &clean.source), (dirty.id, dirty.role, &dirty.source));
    let expected =
        Block::Reasoning { text: "\u{fffd}".into(), replay: Some(json!({ "signature": "s\u{0}" })) };
    assert_eq!(clean.content, [expected, unknown("chart")]);
}

fn any_block() -> impl Strategy<Value = Block> {
    let leaf = prop_oneof![
        "[a\0é]{0,6}".prop_map(Block::text),
        "[a\0é]{0,6}".prop_map(|text| thought(&text)),
        r#"[{}"a:0\\ \x00]{0,8}"#.prop_map(|arguments| {
            Block::ToolCall(ToolCallBlock { id: "c".into(), name: arguments.clone(), arguments })
        }),
        Just(unknown("chart")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(result))
}

fn texts_are_clean(content: &[Block]) -> bool {
    content.iter().all(|block| match block {
        Block::Text { text } | Block::Reasoning { text, .. } => !text.contains('\0'),
        Block::ToolCall(call) => serde_json::from_str::<serde_json::Map<_, _>>(&call.arguments).is_ok(),
        Block::ToolResult(result) => texts_are_clean(&result.content),
        _ => true,
    })
}

proptest! {
    #[test]
    fn sanitizing_cleans_everything_and_twice_is_once(content in prop::collection::vec(any_block(), 0..5)) {
        let once = sanitize_message(&message(content.clone()));
        prop_assert!(texts_are_clean(&once.content), "{:?}", once.content);
        prop_assert_eq!(once.content.len(), content.len());
        prop_assert!(Arc::ptr_eq(&sanitize_message(&once), &once), "a clean message is left alone");
    }
}
