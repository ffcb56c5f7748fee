//! Where the tutorial's plugins perform: an app with pretended `read`, `write`, `edit` and `bash` tools that tell what
//! they would do. The real tools are in their own crates; the pipeline is the real one.
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use harness_kernel::{App, Plugin, Running};
use harness_llm::{Block, ToolSpec};
use harness_session::{SessionId, Step};
use harness_tools::{
    AnyTool, ArgumentViolation, CallRequest, Produced, ToolCall, ToolFailure, ToolRun, Tools, ToolsPlugin,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

type Ran = Arc<Mutex<Vec<String>>>;

/// A running app with the plugin that is shown.
pub(crate) struct Stage {
    pub(crate) app: Running,
    pub(crate) cancel: CancellationToken,
    tools: Arc<Tools>,
    ran: Ran,
}
impl Stage {
    /// Starts an app with one plugin beside the tools.
    pub(crate) async fn with(plugin: impl Plugin) -> Result<Self, Box<dyn std::error::Error>> {
        let app = App::default().with(ToolsPlugin).with(plugin).start().await?;
        let tools = app.ctx().service::<Tools>().ok_or("the tools service is missing")?;
        let ran = Ran::default();
        for name in ["read", "write", "edit", "bash"] {
            tools.register_any(app.ctx(), Arc::new(Pretended { name, ran: Arc::clone(&ran) }))?;
        }
        Ok(Self { app, cancel: CancellationToken::new(), tools, ran })
    }
    /// Calls a tool as the loop would and gives what the model is shown.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> String {
        let request = CallRequest {
            id: "call-1".to_owned(),
            name: tool.to_owned(),
            arguments: arguments.to_owned(),
            session: Some(SessionId::generate()),
            at: Step { turn: 1, step: 1 },
            position: 0,
            cwd: PathBuf::from("/workspace"),
            parent: None,
            cancel: self.cancel.child_token(),
        };
        let ctx = self.app.ctx();
        let sealed = self.tools.seal(ctx, request).await;
        let admitted = self.tools.admit(ctx, sealed).await;
        let dispatched = self.tools.dispatch(ctx, admitted).await;
        let outcome = self.tools.settle(ctx, dispatched).await;
        outcome.content.iter().filter_map(Block::as_text).collect()
    }
    /// The bodies that have really run, with their arguments.
    pub(crate) fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// Stops the app.
    pub(crate) async fn end(self) -> Result<(), Box<dyn std::error::Error>> {
        Ok(self.app.shutdown().await?)
    }
}

struct Pretended {
    name: &'static str,
    ran: Ran,
}
#[async_trait]
impl AnyTool for Pretended {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({ "type": "object" });
        ToolSpec { name: self.name.to_owned(), description: "Pretends.".to_owned(), parameters }
    }
    fn check(&self, _arguments: &Value) -> Result<(), ArgumentViolation> {
        Ok(())
    }
    fn parallel(&self, _arguments: &Value) -> bool {
        false
    }
    async fn run(&self, arguments: &Value, run: ToolRun) -> Result<Produced, ToolFailure> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{} {arguments}", self.name));
        if arguments.get("command").and_then(Value::as_str).is_some_and(|command| command.contains("forever"))
        {
            run.cancel_token().cancelled().await;
        }
        self.produce(json!("done"))
            .map_err(|text| ToolFailure::new(harness_tools::ToolFailureCode::INVALID_TOOL_OUTPUT, text))
    }
    fn produce(&self, value: Value) -> Result<Produced, String> {
        let text = value.as_str().ok_or("expected a text")?.to_owned();
        Ok(Produced { value, content: vec![Block::text(text)], meta: None, concludes_turn: false })
    }
    fn finalize_content(&self, _: &ToolCall, _: &[Block], _: bool) -> Option<Vec<Block>> {
        None
    }
}
