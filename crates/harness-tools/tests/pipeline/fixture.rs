//! One agent scope with one tool whose body the test chooses, and a journal of what really happened.
use std::borrow::Borrow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness_kernel::{App, BoxFuture, Ctx, Running};
use harness_llm::{Block, ContextForm, Message};
use harness_session::{SessionId, Step};
use harness_tools::{
    CallRequest, PostExecute, Tool, ToolCall, ToolFailure, ToolFailureCode, ToolOutcome, ToolResultNotice,
    ToolRun, Tools, ToolsPlugin,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<String>>>);
impl Journal {
    pub(crate) fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
    pub(crate) fn count(&self, prefix: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|entry| entry.starts_with(prefix)).count()
    }
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap().clear();
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Input {
    pub(crate) text: String,
    /// Whether the call may overlap others.
    #[serde(default)]
    pub(crate) parallel: bool,
}
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Output {
    pub(crate) text: String,
}
pub(crate) type Ran = Result<Output, ToolFailure>;
type Act = Arc<dyn Fn(Input, ToolRun) -> BoxFuture<'static, Ran> + Send + Sync>;
type LastWord = Arc<dyn Fn(&[Block], bool) -> Option<Vec<Block>> + Send + Sync>;

/// A tool that notes everything that is done with it.
#[derive(Clone)]
pub(crate) struct Probe {
    pub(crate) journal: Journal,
    act: Act,
    last_word: LastWord,
}
impl Probe {
    /// A probe whose body echoes its text.
    pub(crate) fn echo(journal: &Journal) -> Self {
        Self::acting(journal, |input, _run| async move { Ok(Output { text: input.text }) })
    }
    pub(crate) fn acting<F>(
        journal: &Journal,
        act: impl Fn(Input, ToolRun) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Ran> + Send + 'static,
    {
        let act: Act = Arc::new(move |input, run| Box::pin(act(input, run)));
        Self { journal: journal.clone(), act, last_word: Arc::new(|_, _| None) }
    }
    pub(crate) fn finalizing(
        mut self,
        last_word: impl Fn(&[Block], bool) -> Option<Vec<Block>> + Send + Sync + 'static,
    ) -> Self {
        self.last_word = Arc::new(last_word);
        self
    }
}
impl Tool for Probe {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "probe";

    fn description(&self) -> String {
        "Does what the test says.".to_owned()
    }
    async fn run(&self, input: Input, run: ToolRun) -> Ran {
        self.journal.note(format!("body:{}", input.text));
        (self.act)(input, run).await
    }
    fn render(&self, output: &Output) -> Vec<Block> {
        self.journal.note(format!("render:{}", output.text));
        vec![Block::text(format!("shown {}", output.text))]
    }
    fn parallel(&self, input: &Input) -> bool {
        assert_ne!(input.text, "classifier panics");
        input.parallel
    }
    fn meta(&self, output: &Output) -> Option<Value> {
        Some(json!({ "length": output.text.len() }))
    }
    fn concludes_turn(&self, output: &Output) -> bool {
        output.text == "last"
    }
    fn finalize_content(&self, _call: &ToolCall, content: &[Block], is_error: bool) -> Option<Vec<Block>> {
        self.journal.note(if is_error { "finalize:error" } else { "finalize:ok" });
        (self.last_word)(content, is_error)
    }
}

/// A running app with one agent. Its own observers note `post:` and `result:`, each with `ok` or the code.
pub(crate) struct Rig {
    pub(crate) app: Running,
    pub(crate) tools: Arc<Tools>,
    pub(crate) agent: Ctx,
    pub(crate) journal: Journal,
    pub(crate) cancel: CancellationToken,
}
impl Rig {
    /// With a probe that echoes.
    pub(crate) async fn new() -> Self {
        Self::with(Probe::echo).await
    }
    pub(crate) async fn with(probe: impl FnOnce(&Journal) -> Probe) -> Self {
        let rig = Self::bare().await;
        rig.tools.register(rig.app.ctx(), probe(&rig.journal)).unwrap();
        rig
    }
    /// Without any tool.
    pub(crate) async fn bare() -> Self {
        let app = App::default().with(ToolsPlugin).start().await.unwrap();
        let tools = app.ctx().service::<Tools>().unwrap();
        let (agent, journal) = (app.ctx().scope("agent"), Journal::default());
        let observer = journal.clone();
        agent
            .on::<ToolResultNotice>(move |notice| observer.note(format!("result:{}", code(&notice.outcome))));
        let observer = journal.clone();
        agent.around::<PostExecute, _>(move |event, next| {
            let seen =
                event.returned.result().err().map_or("ok".to_owned(), |failure| failure.code.to_string());
            observer.note(format!("post:{seen}"));
            next.run(event)
        });
        Self { app, tools, agent, journal, cancel: CancellationToken::new() }
    }
    /// A request for the probe with these arguments.
    pub(crate) fn request(&self, arguments: &str) -> CallRequest {
        CallRequest {
            id: "c1".to_owned(),
            name: "probe".to_owned(),
            arguments: arguments.to_owned(),
            session: Some(SessionId::generate()),
            at: Step { turn: 1, step: 1 },
            position: 0,
            cwd: PathBuf::from("/work"),
            parent: None,
            cancel: self.cancel.child_token(),
        }
    }
    /// Runs the whole pipeline for a request.
    pub(crate) async fn run(&self, request: CallRequest) -> Arc<ToolOutcome> {
        run(&self.tools, &self.agent, request).await
    }
    /// Calls the probe with a text.
    pub(crate) async fn call(&self, text: &str) -> Arc<ToolOutcome> {
        self.run(self.request(&json!({ "text": text }).to_string())).await
    }
    /// Cancels the caller as soon as a body has started.
    pub(crate) fn cancel_once_running(&self) -> impl Future<Output = ()> + use<> {
        let (cancel, journal) = (self.cancel.clone(), self.journal.clone());
        async move {
            while journal.count("body") == 0 {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        }
    }
    pub(crate) async fn end(self) {
        self.app.shutdown().await.unwrap();
    }
}

/// The pipeline from request to outcome; a call that never ends fails.
pub(crate) async fn run(tools: &Tools, ctx: &Ctx, request: CallRequest) -> Arc<ToolOutcome> {
    let pipeline = async {
        let sealed = tools.seal(ctx, request).await;
        let admitted = tools.admit(ctx, sealed).await;
        let dispatched = tools.dispatch(ctx, admitted).await;
        tools.settle(ctx, dispatched).await
    };
    tokio::time::timeout(Duration::from_mins(1), pipeline).await.expect("the call never ends")
}

/// `ok` or the failure's code.
pub(crate) fn code(outcome: &impl Borrow<ToolOutcome>) -> String {
    outcome.borrow().failure.as_ref().map_or("ok".to_owned(), |failure| failure.code.to_string())
}
/// What the model is shown, as one text.
pub(crate) fn shown(outcome: &impl Borrow<ToolOutcome>) -> String {
    outcome.borrow().content.iter().filter_map(Block::as_text).collect()
}
/// The texts of an outcome's contexts.
pub(crate) fn contexts(outcome: &impl Borrow<ToolOutcome>) -> Vec<String> {
    outcome.borrow().contexts.iter().map(Message::text).collect()
}
pub(crate) fn context(text: &str) -> Message {
    Message::context("test", ContextForm::Notice, text)
}
pub(crate) fn failure(code: &str) -> ToolFailure {
    ToolFailure::new(ToolFailureCode::other(code), "it did not work")
}
/// A panic whose type fits anywhere.
pub(crate) fn explode<T>(what: &str) -> T {
    panic!("{what} exploded")
}
