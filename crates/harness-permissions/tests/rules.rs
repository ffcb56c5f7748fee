//! Rules as the pipeline applies them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and looks at real files"
)]
use std::path::PathBuf;

use harness_kernel::{App, Running};
use harness_llm::Block;
use harness_permissions::{Permissions, PermissionsConfig};
use harness_session::Step;
use harness_tools::{
    CallRequest, PreExecute, PreToolDecision, Tool, ToolFailure, ToolRun, Tools, ToolsPlugin,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Any {}
macro_rules! tool {
    ($type:ident, $name:literal) => {
        struct $type;
        impl Tool for $type {
            type Input = Any;
            type Output = String;
            const NAME: &'static str = $name;
            fn description(&self) -> String {
                String::new()
            }
            async fn run(&self, _input: Any, _run: ToolRun) -> Result<String, ToolFailure> {
                Ok("ran".into())
            }
            fn render(&self, output: &String) -> Vec<Block> {
                vec![Block::text(output)]
            }
        }
    };
}
tool!(Bash, "bash");
tool!(Write, "write");
tool!(Deploy, "deploy");

async fn app(allow: &[&str], deny: &[&str]) -> Running {
    let rules = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
    let config = PermissionsConfig { allow: rules(allow), deny: rules(deny) };
    let app =
        App::default().with(Permissions::new(&config).unwrap()).with(ToolsPlugin).start().await.unwrap();
    let (ctx, tools) = (app.ctx().clone(), app.ctx().service::<Tools>().unwrap());
    tools.register(&ctx, Bash).unwrap();
    tools.register(&ctx, Write).unwrap();
    tools.register(&ctx, Deploy).unwrap();
    app
}
/// `None` when the body ran, else the failure's code.
async fn run(app: &Running, name: &str, arguments: &str) -> Option<String> {
    let request = CallRequest {
        id: "c".into(),
        name: name.into(),
        arguments: arguments.into(),
        session: None,
        at: Step { turn: 1, step: 1 },
        position: 0,
        cwd: PathBuf::from("/w"),
        parent: None,
        cancel: tokio_util::sync::CancellationToken::new(),
    };
    let (ctx, tools) = (app.ctx(), app.ctx().service::<Tools>().unwrap());
    let admitted = tools.admit(ctx, tools.seal(ctx, request).await).await;
    let outcome = tools.settle(ctx, tools.dispatch(ctx, admitted).await).await;
    outcome.failure.as_ref().map(|failure| failure.code.as_str().to_owned())
}

#[tokio::test]
async fn defaults_allow_the_four_tools_and_ask_for_the_rest() {
    let app = app(&[], &[]).await;
    assert_eq!(run(&app, "bash", r#"{"command":"ls"}"#).await, None);
    assert_eq!(run(&app, "write", r#"{"file_path":"a"}"#).await, None);
    assert_eq!(run(&app, "deploy", "{}").await.as_deref(), Some("DENIED"));
    app.shutdown().await.unwrap();
}
#[tokio::test]
async fn an_allow_rule_lets_another_tool_run() {
    let app = app(&["deploy"], &[]).await;
    assert_eq!(run(&app, "deploy", "{}").await, None);
    app.shutdown().await.unwrap();
}
#[tokio::test]
async fn deny_wins_over_allow_and_over_any_listener() {
    let app = app(&["bash"], &["bash(rm *)", "write(secret/*)"]).await;
    app.ctx().around_at::<PreExecute, _>(harness_kernel::Order::Prepend, |_, _| async {
        Ok(PreToolDecision::Allow)
    });
    for command in ["rm -rf /", "cd / && rm -rf x", "ls; rm x", "echo $(rm x)", "true\nrm x"] {
        let arguments = serde_json::json!({ "command": command }).to_string();
        assert_eq!(run(&app, "bash", &arguments).await.as_deref(), Some("GUARD_DENIED"), "{command}");
    }
    assert_eq!(run(&app, "bash", r#"{"command":"ls rmdir"}"#).await, None);
    for path in ["secret/k", "./secret/k", "a/../secret/k", "/w/secret/k"] {
        let arguments = serde_json::json!({ "file_path": path }).to_string();
        assert_eq!(run(&app, "write", &arguments).await.as_deref(), Some("GUARD_DENIED"), "{path}");
    }
    app.shutdown().await.unwrap();
}
#[tokio::test]
async fn a_patterned_allowance_covers_every_part_or_nothing() {
    let app = app(&["deploy(*staging*)"], &[]).await;
    assert_eq!(run(&app, "deploy", r#"{"target":"staging"}"#).await, None);
    assert_eq!(run(&app, "deploy", r#"{"target":"production"}"#).await.as_deref(), Some("DENIED"));
    app.shutdown().await.unwrap();
}
