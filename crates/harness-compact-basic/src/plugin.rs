//! The plugin.
use std::sync::Arc;

use harness_agent::{PreStep, RequestErrorDecision, RequestFailed};
use harness_compact::{CompactBegin, CompactEnd, CompactPruned, Compactor};
use harness_kernel::{Ctx, Plugin, PluginError};
use harness_llm::Llm;
use harness_session::{EventTypeInfo, Sessions};

use crate::config::{CompactConfig, CompactConfigError};
use crate::engine::Engine;
use crate::{overflow, pressure};

/// Compacts under pressure, after a refusal, and on request.
#[derive(Debug)]
pub struct CompactBasic {
    config: CompactConfig,
}
impl CompactBasic {
    /// Reads the settings.
    ///
    /// # Errors
    /// If they do not fit together.
    pub fn new(config: CompactConfig) -> Result<Self, CompactConfigError> {
        config.check()?;
        Ok(Self { config })
    }
}

impl Plugin for CompactBasic {
    type Deps = (Arc<Sessions>, Arc<Llm>);
    fn name(&self) -> &'static str {
        "compact-basic"
    }
    async fn apply(&self, ctx: Ctx, (sessions, llm): Self::Deps) -> Result<(), PluginError> {
        sessions.register_event_type(&ctx, EventTypeInfo::of::<CompactBegin>())?;
        sessions.register_event_type(&ctx, EventTypeInfo::of::<CompactEnd>())?;
        sessions.register_event_type(&ctx, EventTypeInfo::of::<CompactPruned>())?;
        let engine = Arc::new(Engine { llm, config: self.config });
        ctx.provide::<dyn Compactor>(Arc::clone(&engine) as Arc<dyn Compactor>)?;
        if !self.config.auto {
            return Ok(());
        }
        let before = Arc::clone(&engine);
        ctx.around::<PreStep, _>(move |event, next| {
            let engine = Arc::clone(&before);
            async move {
                match pressure::relieve(&engine, &event).await {
                    Some(decision) => Ok(decision),
                    None => next.run(event).await,
                }
            }
        });
        ctx.around::<RequestFailed, _>(move |event, next| {
            let engine = Arc::clone(&engine);
            async move {
                match next.run(event.clone()).await? {
                    RequestErrorDecision::Fail => {
                        Ok(overflow::recover(&engine, &event).await.unwrap_or(RequestErrorDecision::Fail))
                    }
                    decision => Ok(decision),
                }
            }
        });
        Ok(())
    }
}
