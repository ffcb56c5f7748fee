//! What the bridge listens to.
mod after_tool;
mod batch;
mod before_tool;
mod compaction;
mod notices;
mod prompt;
mod session;
mod stop;

use std::sync::Arc;

use harness_agent::Agents;
use harness_kernel::Ctx;

use crate::bridge::Bridge;

/// Registers every listener on a context.
pub(crate) fn all(ctx: &Ctx, bridge: &Arc<Bridge>, agents: &Arc<Agents>) {
    session::listen(ctx, bridge);
    prompt::listen(ctx, bridge);
    before_tool::listen(ctx, bridge, agents);
    after_tool::listen(ctx, bridge, agents);
    stop::listen(ctx, bridge);
    compaction::listen(ctx, bridge);
    notices::listen(ctx, bridge, agents);
}
