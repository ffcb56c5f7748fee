//! Tools for the tests.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harness_llm::{Block, ContextForm, Message};
use harness_tools::{Tool, ToolFailure, ToolRun};
use tokio::sync::Notify;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Text {
    #[serde(default)]
    text: String,
    /// Milliseconds before the answer.
    #[serde(default)]
    wait: u64,
}

/// Repeats its text, after a wait; safe to overlap.
#[derive(Clone, Default)]
pub(crate) struct Echo {
    pub(crate) runs: Arc<AtomicUsize>,
    pub(crate) context: Option<&'static str>,
}
impl Tool for Echo {
    type Input = Text;
    type Output = String;
    const NAME: &'static str = "echo";
    fn description(&self) -> String {
        "Repeats.".into()
    }
    async fn run(&self, input: Text, run: ToolRun) -> Result<String, ToolFailure> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        if let Some(context) = self.context {
            run.defer_context(Message::context("test", ContextForm::Notice, context));
        }
        // A body that heeds its token, as bodies should.
        let _ = run
            .cancel_token()
            .run_until_cancelled(tokio::time::sleep(Duration::from_millis(input.wait)))
            .await;
        Ok(input.text)
    }
    fn render(&self, output: &String) -> Vec<Block> {
        vec![Block::text(output)]
    }
    fn parallel(&self, _input: &Text) -> bool {
        true
    }
}

/// Says that it started, then waits for its cancellation.
#[derive(Clone, Default)]
pub(crate) struct Hang {
    pub(crate) started: Arc<Notify>,
}
impl Tool for Hang {
    type Input = Text;
    type Output = String;
    const NAME: &'static str = "hang";
    fn description(&self) -> String {
        "Hangs.".into()
    }
    async fn run(&self, _input: Text, run: ToolRun) -> Result<String, ToolFailure> {
        self.started.notify_one();
        run.cancel_token().cancelled().await;
        Ok("late".into())
    }
    fn render(&self, output: &String) -> Vec<Block> {
        vec![Block::text(output)]
    }
}
