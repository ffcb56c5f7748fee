//! H13 and H14: model streams that break.
use harness_llm_mock::{End, Reply, Step, ToolCall, txt};
use serde_json::Value;

use crate::rig;

/// H13: a tool call that was cut off is not run.
#[test]
fn a_cut_off_call_is_not_run() {
    let cut = r#"{"file_path":"big.txt","content":"abc"#;
    for (finish, arguments) in [
        ("length", cut),
        ("tool_calls", cut),
        ("tool_calls", r#"{"file_path":"big.txt""#),
        ("tool_calls", "[1,2]"),
        ("tool_calls", r#""{\"file_path\":\"a\"}""#),
        ("tool_calls", "{'file_path': 'a'}"),
    ] {
        let call = ToolCall::new("write", Value::String(arguments.to_owned())).id("c1");
        let rig = rig([Reply::new().call(call).finish(finish), txt("sorry")]);
        let finished = rig.run("go");
        let mut left: Vec<_> = std::fs::read_dir(rig.workspace()).unwrap().collect();
        assert!(left.pop().is_none(), "no file was made for {arguments}");
        let request = rig.request(2);
        let answers: Vec<_> = request["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "tool")
            .collect();
        assert_eq!(answers.len(), 1);
        let answer = answers[0]["content"].as_str().unwrap();
        assert!(answer.contains("cut off") || answer.contains("not a JSON object"), "{answer}");
        assert!(answer.contains(arguments.get(..10).unwrap_or(arguments)), "it quotes what came: {answer}");
        assert!(answer.len() < 700, "the quote is bounded");
        let (code, end) = if finish == "length" { (3, "max-tokens") } else { (0, "completed") };
        assert_eq!(finished.code, Some(code), "{}", finished.stderr);
        assert!(rig.story().contains(&format!("turn/end 1 {end}")), "{}", rig.story());
        assert!(!rig.story().contains("tool/call"), "no body was started");
    }
}

/// H14: a stream that ends without its end.
#[test]
fn a_stream_without_its_end_is_an_error() {
    let start =
        || Reply::new().step(Step::Text(vec!["Let me ".into()])).step(Step::PauseMs(20)).pieces(["compare"]);
    let cut_line = "data: {\"choices\":[{\"delta\":{\"content\":\"half";
    let variants = [
        ("clean close", start().end(End::Eof), true),
        ("cut in a line", start().step(Step::Raw(cut_line.into())).end(End::Eof), true),
        ("reset", start().step(Step::PauseMs(20)).end(End::Reset), true),
        ("headers only", Reply::new().step(Step::Head).end(End::Eof), false),
    ];
    let mut messages = Vec::new();
    for (name, reply, partial) in variants {
        let rig = rig([reply, txt("next")]);
        let finished = rig.run("go");
        assert_eq!(finished.code, Some(1), "{name}: {}", finished.stderr);
        assert_eq!(
            finished.stdout.contains("Let me"),
            partial,
            "{name}: partial text is shown: {}",
            finished.stdout
        );
        let story = rig.story();
        assert!(story.contains("turn/end 1 error"), "{name}: {story}");
        assert!(!story.contains("assistant/message"), "{name}: nothing counts as an answer: {story}");
        let line = finished.stderr.lines().find(|line| line.starts_with("harness:")).unwrap().to_owned();
        messages.push(line);
        assert_eq!(rig.resume("more").code, Some(0));
        let request = rig.request(2);
        let assistant =
            request["messages"].as_array().unwrap().iter().any(|message| message["role"] == "assistant");
        assert!(!assistant, "{name}: the partial text is not in the next request");
    }
    messages.sort();
    let all = messages.len();
    messages.dedup();
    assert_eq!(messages.len(), all, "the four are told apart: {messages:#?}");
}

/// A printed tool call is made for a model that is named in the settings, logged, and left as text for others.
#[test]
fn a_printed_tool_call_is_made_for_a_named_model_only() {
    let printed =
        || txt("```json\n{\"name\": \"bash\", \"arguments\": {\"command\": \"echo run >> ran\"}}\n```");
    let rig = rig([printed(), txt("done"), printed()]);
    let named =
        |run: harness_testkit::Invocation| run.env("HARNESS_TEXT_CALLS_MODELS", r#"["openai/mock-*"]"#);
    let finished = named(rig.run_with("go", [])).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(rig.bytes("ran"), b"run\n");
    assert_eq!(finished.stdout, "done\n", "the call is not shown as an answer");
    let second = rig.request(2);
    let made =
        second["messages"].as_array().unwrap().iter().find(|message| message["role"] == "assistant").unwrap();
    assert_eq!(made["tool_calls"][0]["function"]["name"], "bash");
    assert!(rig.story().contains("llm/text-call"), "{}", rig.story());
    // Without the setting it is an answer like any other.
    let finished = rig.resume("again");
    assert!(finished.stdout.contains("\"command\""), "{}", finished.stdout);
    assert_eq!(rig.bytes("ran"), b"run\n");
}
