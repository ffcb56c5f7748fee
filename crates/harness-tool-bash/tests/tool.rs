//! The tool over a fake executor: what it asks for and how endings are told apart.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and looks at real files"
)]
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness_bash::{BashError, BashExecutor, BashInfo, RunOutput, RunRequest, RunResult, Shell, ShellKind};
use harness_kernel::{App, Ctx, Plugin, PluginError, Running};
use harness_session::Step;
use harness_tool_bash::ToolBash;
use harness_tools::{CallRequest, ToolOutcome, Tools, ToolsPlugin};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
struct Fake {
    asked: Arc<Mutex<Vec<RunRequest>>>,
    edit: fn(&mut RunResult),
}
#[async_trait::async_trait]
impl BashExecutor for Fake {
    fn describe(&self) -> BashInfo {
        BashInfo::new(ShellKind::Bash)
    }
    async fn run(&self, request: RunRequest, _: CancellationToken) -> Result<RunResult, BashError> {
        if request.command == "gone" {
            return Err(BashError::WorkingDirectoryMissing { path: request.cwd });
        }
        let shell = Shell { kind: ShellKind::Bash, path: "/b".into() };
        let mut result = RunResult::new(shell, request.cwd.clone());
        result.exit_code = Some(0);
        result.timeout = request.timeout.unwrap_or_default();
        result.output = RunOutput::whole("out");
        (self.edit)(&mut result);
        self.asked.lock().unwrap().push(request);
        Ok(result)
    }
}
struct Provider(Fake);
impl Plugin for Provider {
    type Deps = ();
    fn name(&self) -> &'static str {
        "fake-bash"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<dyn BashExecutor>(Arc::new(self.0.clone()))?;
        Ok(())
    }
}
async fn start(edit: fn(&mut RunResult)) -> (Running, Fake) {
    let fake = Fake { asked: Arc::default(), edit };
    let app = App::default().with(ToolBash).with(Provider(fake.clone())).with(ToolsPlugin);
    (app.start().await.unwrap(), fake)
}
async fn call(app: &Running, arguments: &str) -> Arc<ToolOutcome> {
    let request = CallRequest {
        id: "c".into(),
        name: "bash".into(),
        arguments: arguments.into(),
        session: None,
        at: Step { turn: 1, step: 1 },
        position: 0,
        cwd: PathBuf::from("/w"),
        parent: None,
        cancel: CancellationToken::new(),
    };
    let (ctx, tools) = (app.ctx(), app.ctx().service::<Tools>().unwrap());
    let admitted = tools.admit(ctx, tools.seal(ctx, request).await).await;
    tools.settle(ctx, tools.dispatch(ctx, admitted).await).await
}
fn shown(outcome: &ToolOutcome) -> String {
    outcome.content.iter().filter_map(harness_llm::Block::as_text).collect()
}

#[tokio::test]
async fn a_result_is_its_output_and_the_request_carries_folder_and_limit() {
    let (app, fake) = start(|_| {}).await;
    let outcome = call(&app, r#"{"command":"ls","timeoutMs":5000}"#).await;
    assert_eq!((shown(&outcome).as_str(), outcome.is_error()), ("out\n", false));
    let asked = fake.asked.lock().unwrap()[0].clone();
    let expected = ("ls", PathBuf::from("/w"), Some(Duration::from_secs(5)));
    assert_eq!((asked.command.as_str(), asked.cwd, asked.timeout), expected);
    app.shutdown().await.unwrap();
}
#[tokio::test]
async fn a_non_zero_exit_is_a_result_and_a_timeout_is_an_error() {
    let (app, _) = start(|result| result.exit_code = Some(2)).await;
    let outcome = call(&app, r#"{"command":"false"}"#).await;
    assert_eq!((shown(&outcome).as_str(), outcome.is_error()), ("out\n[exit code 2]\n", false));
    app.shutdown().await.unwrap();
    let (app, _) = start(|result| {
        result.exit_code = None;
        result.timed_out = true;
    })
    .await;
    let outcome = call(&app, r#"{"command":"sleep 9","timeoutMs":1000}"#).await;
    assert_eq!(outcome.failure.as_ref().unwrap().code.as_str(), "TOOL_TIMEOUT");
    assert!(shown(&outcome).starts_with("out\n[timed out after 1000 ms"), "{}", shown(&outcome));
    app.shutdown().await.unwrap();
}
#[tokio::test]
async fn an_executor_that_cannot_run_it_says_why() {
    let (app, _) = start(|_| {}).await;
    let outcome = call(&app, r#"{"command":"gone"}"#).await;
    assert_eq!(outcome.failure.as_ref().unwrap().code.as_str(), "BASH_CWD_MISSING");
    assert!(shown(&outcome).contains("/w does not exist"));
    app.shutdown().await.unwrap();
}
