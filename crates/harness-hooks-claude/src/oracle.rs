//! Prompt hooks are answered by the model service.
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use harness_hooks::{Oracle, Question};
use harness_kernel::{Ctx, Lazy};
use harness_llm::{Assembler, CallConfig, Llm, Message, Purpose, Request, StreamCall};
use tokio_util::sync::CancellationToken;

/// What the model is asked to answer with.
const FORM: &str = "Judge what a coding agent is about to do or has done. Answer with one JSON object and nothing else: \
{\"ok\": true} if it may go on, or {\"ok\": false, \"reason\": \"…\"} if not.";

/// Asks the route that agents use.
pub(crate) struct ModelOracle {
    pub(crate) ctx: Ctx,
    pub(crate) llm: Lazy<Llm>,
    /// Route and model of the newest agent.
    pub(crate) route: Arc<Mutex<Option<CallConfig>>>,
}

#[async_trait]
impl Oracle for ModelOracle {
    async fn ask(&self, question: Question, cancel: CancellationToken) -> Result<String, String> {
        let llm = self.llm.get().ok_or("there is no model service")?;
        let route = self.route.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut config = route.ok_or("no agent has named a model")?;
        if let Some(model) = question.model {
            config.model = model;
        }
        let prepared = llm.prepare(&config).map_err(|error| error.to_string())?;
        let request = Request {
            config: prepared.config().clone(),
            system: Some(FORM.into()),
            tools: Arc::from([]),
            messages: vec![Arc::new(Message::user(question.prompt))],
            session: None,
            purpose: Purpose::Hook,
        };
        let call = StreamCall::new(prepared, Arc::new(request), cancel);
        let mut stream = llm.stream(&self.ctx, call).await;
        let mut assembler = Assembler::default();
        while let Some(chunk) = stream.next().await {
            assembler.push(&chunk);
        }
        let answer = assembler.finish();
        if let Some(failure) = answer.finish.reason.failure() {
            return Err(failure.to_string());
        }
        Ok(answer.content.iter().filter_map(harness_llm::Block::as_text).collect())
    }
}
