//! H13: arguments that are cut off or are no object never reach a body.
use std::sync::Arc;

use harness_kernel::App;
use harness_llm::Block;
use harness_tools::{
    AnyTool, ArgumentValidator, ArgumentViolation, CompiledSchema, PreExecute, Produced, SchemaError, Tool,
    ToolFailure, ToolRun, ToolsPlugin, erase,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::fixture::{Journal, Probe, Rig, code, explode, shown};

#[tokio::test]
async fn faulty_arguments_are_refused_before_policy_and_quoted_in_bounds() {
    let variants = [
        r#"{"text":"big.txt","content":"abc"#,
        r#"{"text":"big.txt""#,
        "[1,2]",
        r#""{\"text\":\"a\"}""#,
        "{'text': 'a'}",
        "null",
        "{",
        "\u{0}",
    ];
    for text in variants {
        let rig = Rig::new().await;
        let journal = rig.journal.clone();
        rig.agent.around::<PreExecute, _>(move |event, next| {
            journal.note("policy");
            next.run(event)
        });
        let outcome = rig.run(rig.request(text)).await;
        assert_eq!(rig.journal.all(), ["finalize:error", "result:INVALID_ARGS"], "{text}");
        let told = shown(&outcome);
        assert!(told.contains("cut off or are not a JSON object"), "{told}");
        assert!(told.contains("the tool was not run") && told.ends_with(text), "{told}");
        rig.end().await;
    }
}

#[tokio::test]
async fn a_long_text_is_quoted_in_part_and_measured() {
    let rig = Rig::new().await;
    // Two bytes a character: the cut must not split one.
    let text = format!(r#"{{"text":"{}"#, "é".repeat(50_000));
    let outcome = rig.run(rig.request(&text)).await;
    let told = shown(&outcome);
    assert!(told.len() < 600, "{} bytes", told.len());
    assert!(told.contains("100009 bytes in all"), "{told}");
    rig.end().await;
}

/// A violation may quote the value that it is about, and that may be anything.
#[tokio::test]
async fn a_violation_is_quoted_in_part_as_well() {
    let rig = Rig::new().await;
    let outcome =
        rig.run(rig.request(&json!({ "text": "a", "parallel": "x".repeat(100_000) }).to_string())).await;
    assert_eq!(code(&outcome), "INVALID_ARGS");
    let told = shown(&outcome);
    assert!(told.starts_with("Error: invalid arguments: parallel: "), "{told}");
    assert!(told.len() < 600, "{} bytes", told.len());
    rig.end().await;
}

#[tokio::test]
async fn a_violation_names_the_path() {
    let rig = Rig::new().await;
    let outcome = rig.run(rig.request(r#"{"text":["a"]}"#)).await;
    assert!(shown(&outcome).contains("text: invalid type: sequence"), "{}", shown(&outcome));
    rig.end().await;
}

#[tokio::test]
async fn no_text_at_all_is_an_empty_object() {
    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}
    struct Ping(Journal);
    impl Tool for Ping {
        type Input = Nothing;
        type Output = String;
        const NAME: &'static str = "probe";
        fn description(&self) -> String {
            String::new()
        }
        async fn run(&self, _: Nothing, run: ToolRun) -> Result<String, ToolFailure> {
            self.0.note(format!("ran with {}", run.call().arguments()));
            Ok("pong".to_owned())
        }
        fn render(&self, output: &String) -> Vec<Block> {
            vec![Block::text(output)]
        }
    }
    for text in ["", "  \n"] {
        let rig = Rig::bare().await;
        rig.tools.register(&rig.agent, Ping(rig.journal.clone())).unwrap();
        rig.run(rig.request(text)).await;
        assert_eq!(rig.journal.count("ran with {}"), 1);
        rig.end().await;
    }
}

#[tokio::test]
async fn an_empty_object_still_has_to_fit() {
    let rig = Rig::new().await;
    let outcome = rig.run(rig.request("")).await;
    assert_eq!((code(&outcome).as_str(), rig.journal.count("body")), ("INVALID_ARGS", 0));
    rig.end().await;
}

/// Refuses the texts "bad"; the compiled schema is told apart by how often it was compiled.
struct Strict(Journal);
impl ArgumentValidator for Strict {
    fn compile(&self, _schema: &Value) -> Result<Arc<dyn CompiledSchema>, SchemaError> {
        self.0.note("compile");
        Ok(Arc::new(NotBad))
    }
}
struct NotBad;
impl CompiledSchema for NotBad {
    fn check(&self, arguments: &Value) -> Result<(), Vec<ArgumentViolation>> {
        match arguments["text"].as_str() {
            Some("bad") => Err((0..30)
                .map(|at| ArgumentViolation { path: format!("text[{at}]"), message: "is bad".to_owned() })
                .collect()),
            Some("panic") => explode("the validator"),
            _ => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_validator_is_found_whenever_it_comes_and_compiles_a_schema_once() {
    let rig = Rig::new().await;
    assert_eq!(code(&rig.call("bad").await), "ok", "by type alone it fits");
    rig.app.ctx().provide::<dyn ArgumentValidator>(Arc::new(Strict(rig.journal.clone()))).unwrap();
    rig.journal.clear();
    let outcome = rig.call("bad").await;
    assert_eq!((code(&outcome).as_str(), rig.journal.count("body")), ("INVALID_ARGS", 0));
    let told = shown(&outcome);
    assert!(told.contains("text[0]: is bad; text[1]: is bad"), "{told}");
    assert!(told.ends_with("text[19]: is bad; and 10 more"), "{told}");
    assert_eq!(code(&rig.call("good").await), "ok");
    assert_eq!(rig.journal.count("compile"), 1);
    rig.end().await;
}

#[tokio::test]
async fn a_validator_that_panics_refuses_the_call_and_nothing_else() {
    let rig = Rig::new().await;
    rig.app.ctx().provide::<dyn ArgumentValidator>(Arc::new(Strict(rig.journal.clone()))).unwrap();
    let outcome = rig.call("panic").await;
    assert_eq!((code(&outcome).as_str(), rig.journal.count("body")), ("TOOL_PANICKED", 0));
    assert_eq!(code(&rig.call("good").await), "ok");
    rig.end().await;
}

#[tokio::test]
async fn a_schema_that_cannot_be_compiled_leaves_the_check_by_type() {
    struct Helpless;
    impl ArgumentValidator for Helpless {
        fn compile(&self, _schema: &Value) -> Result<Arc<dyn CompiledSchema>, SchemaError> {
            Err(SchemaError("unknown keyword".to_owned()))
        }
    }
    let rig = Rig::new().await;
    rig.app.ctx().provide::<dyn ArgumentValidator>(Arc::new(Helpless)).unwrap();
    assert_eq!(code(&rig.call("a").await), "ok");
    assert_eq!(code(&rig.run(rig.request(r#"{"text":1}"#)).await), "INVALID_ARGS");
    rig.end().await;
}

/// A tool that brings its own schema, as those of other programs do, is validated all the same.
#[tokio::test]
async fn a_tool_over_json_is_validated_by_its_own_schema() {
    struct Foreign(Arc<dyn AnyTool>);
    #[async_trait::async_trait]
    impl AnyTool for Foreign {
        fn spec(&self) -> harness_llm::ToolSpec {
            harness_llm::ToolSpec { parameters: json!({ "type": "object" }), ..self.0.spec() }
        }
        fn check(&self, _arguments: &Value) -> Result<(), ArgumentViolation> {
            Ok(())
        }
        fn parallel(&self, _arguments: &Value) -> bool {
            false
        }
        async fn run(&self, arguments: &Value, run: ToolRun) -> Result<Produced, ToolFailure> {
            self.0.run(arguments, run).await
        }
        fn produce(&self, value: Value) -> Result<Produced, String> {
            self.0.produce(value)
        }
        fn finalize_content(
            &self,
            call: &harness_tools::ToolCall,
            content: &[Block],
            is_error: bool,
        ) -> Option<Vec<Block>> {
            self.0.finalize_content(call, content, is_error)
        }
    }
    let rig = Rig::bare().await;
    rig.tools.register_any(&rig.agent, Arc::new(Foreign(erase(Probe::echo(&rig.journal))))).unwrap();
    rig.agent.provide::<dyn ArgumentValidator>(Arc::new(Strict(rig.journal.clone()))).unwrap();
    assert_eq!(code(&rig.call("bad").await), "INVALID_ARGS");
    assert_eq!(code(&rig.call("good").await), "ok");
    rig.end().await;
}

/// What the model is told of a tool does not depend on who runs it.
#[tokio::test]
async fn a_typed_tools_schema_is_self_contained() {
    let app = App::default().with(ToolsPlugin).start().await.unwrap();
    let spec = erase(Probe::echo(&Journal::default())).spec();
    assert_eq!(
        spec.parameters,
        json!({
            "type": "object",
            "properties": {
                "text": { "type": "string" },
                "parallel": {
                    "description": "Whether the call may overlap others.",
                    "type": "boolean",
                    "default": false
                }
            },
            "required": ["text"]
        })
    );
    app.shutdown().await.unwrap();
}
