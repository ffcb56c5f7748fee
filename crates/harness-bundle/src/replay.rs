//! A recorded session driven again, apart from any running harness.
use std::sync::Arc;

use harness_agent::AgentPlugin;
use harness_agent_loop::AgentLoop;
use harness_approval::ApprovalLog;
use harness_kernel::App;
use harness_llm::LlmPlugin;
use harness_session::{Event, SessionHeader, SessionPlugin};
use harness_session_replay::{Report, replay};
use harness_system_prompt::SystemPromptPlugin;
use harness_tool_schema::ToolSchema;
use harness_tools::ToolsPlugin;

use crate::error::BundleError;

/// Drives the loop through a recorded session with the seams, the loop and the argument validator, and nothing else: no
/// adapter, no tool, no storage, no policy.
///
/// # Errors
/// If the parts do not start, or the record cannot be read. That the replay differs is told by the report.
pub async fn replay_session(header: &SessionHeader, events: &[Arc<Event>]) -> Result<Report, BundleError> {
    let running = App::default()
        .with(SessionPlugin::default())
        .with(LlmPlugin)
        .with(SystemPromptPlugin::default())
        .with(ToolsPlugin)
        .with(ToolSchema)
        .with(ApprovalLog)
        .with(AgentPlugin)
        .with(AgentLoop)
        .start()
        .await?;
    let report = replay(running.ctx(), header, events).await;
    let down = running.shutdown().await.map_err(|error| BundleError::Shutdown(error.to_string()));
    let report = report?;
    down?;
    Ok(report)
}
