//! The listener around the stream.
use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use harness_kernel::{Ctx, Plugin, PluginError};
use harness_llm::{AdapterStream, Chunk, LlmError, LlmStream, Purpose, Request};
use harness_session::{EventClass, EventTypeInfo, PluginEvent, Sessions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::detect::{Detector, Found};
use crate::read::TextForm;

/// Configuration section `text-calls`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TextCallsConfig {
    /// Models whose printed tool calls are made: `provider/model` or a model name, with `*` at the end for any ending
    pub models: Vec<String>,
}
impl TextCallsConfig {
    fn names(&self, provider: &str, model: &str) -> bool {
        let route = format!("{provider}/{model}");
        self.models.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => route.starts_with(start) || model.starts_with(start),
            None => *pattern == route || pattern == model,
        })
    }
}

/// `llm/text-call`: a printed call was made a real one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCallLogged {
    /// The id that the call got.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// How it was printed.
    pub form: TextForm,
    /// The text of the answer, as the model printed it.
    pub text: String,
}
impl PluginEvent for TextCallLogged {
    const TYPE: &'static str = "llm/text-call";
    const CLASS: EventClass = EventClass::Execution;
}

/// Makes printed tool calls real, for the models that the settings name.
#[derive(Debug)]
pub struct TextCalls {
    /// The settings.
    pub config: TextCallsConfig,
}

impl Plugin for TextCalls {
    type Deps = Arc<Sessions>;
    fn name(&self) -> &'static str {
        "text-calls"
    }
    async fn apply(&self, ctx: Ctx, sessions: Arc<Sessions>) -> Result<(), PluginError> {
        sessions.register_event_type(&ctx, EventTypeInfo::of::<TextCallLogged>())?;
        if self.config.models.is_empty() {
            return Ok(());
        }
        let config = Arc::new(self.config.clone());
        ctx.around::<LlmStream, _>(move |event, next| {
            let (config, sessions) = (Arc::clone(&config), Arc::clone(&sessions));
            async move {
                let request = Arc::clone(event.0.request());
                let wanted = request.purpose == Purpose::Step
                    && !request.tools.is_empty()
                    && config.names(&request.config.provider, &request.config.model);
                let stream = next.run(event).await?;
                Ok(if wanted { watched(stream, request, sessions) } else { stream })
            }
        });
        Ok(())
    }
}

struct Watch {
    stream: Option<AdapterStream>,
    detector: Detector,
    ready: VecDeque<Result<Chunk, LlmError>>,
    request: Arc<Request>,
    sessions: Arc<Sessions>,
}

fn watched(stream: AdapterStream, request: Arc<Request>, sessions: Arc<Sessions>) -> AdapterStream {
    let detector = Detector::default();
    let watch = Watch { stream: Some(stream), detector, ready: VecDeque::new(), request, sessions };
    Box::pin(futures_util::stream::unfold(watch, |mut watch| async move {
        loop {
            if let Some(item) = watch.ready.pop_front() {
                return Some((item, watch));
            }
            let item = watch.stream.as_mut()?.next().await;
            let mut out = Vec::new();
            match item {
                Some(Ok(chunk)) => {
                    if let Some(found) = watch.detector.push(chunk, &watch.request.tools, &mut out) {
                        log(&watch.sessions, &watch.request, found);
                    }
                }
                // What was held back is part of the failed attempt, and of its record.
                end => {
                    watch.stream = None;
                    watch.detector.flush(&mut out);
                    watch.ready.extend(out.drain(..).map(Ok));
                    watch.ready.extend(end);
                }
            }
            watch.ready.extend(out.into_iter().map(Ok));
        }
    }))
}

fn log(sessions: &Sessions, request: &Request, found: Found) {
    let Found { id, call, text } = found;
    let event = TextCallLogged { call_id: id, tool: call.name, form: call.form, text };
    let session = request.session.as_ref().and_then(|id| id.parse().ok()).and_then(|id| sessions.get(id));
    match session.map(|session| session.append_plugin(&event)) {
        Some(Ok(_)) => {}
        Some(Err(error)) => tracing::error!(%error, "a printed tool call could not be logged"),
        None => tracing::error!(tool = event.tool, "a printed tool call has no session to be logged in"),
    }
}
