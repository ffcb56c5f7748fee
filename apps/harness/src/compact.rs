//! `harness run --compact`: older history is replaced by a summary before the turn.
use std::sync::Arc;

use anyhow::{Context, Result};
use harness_agent::Agent;
use harness_compact::{CompactError, Compacted, Compactor, Trigger};
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::output::Output;
use crate::signals::Signals;

/// Compacts the agent's session. Returns an exit if a signal came meanwhile.
pub(crate) async fn compact(
    agent: &Arc<dyn Agent>,
    output: &Output,
    signals: &mut Signals,
) -> Result<Option<Exit>> {
    let compactor = agent.ctx().service::<dyn Compactor>().context("the composition has no compactor")?;
    let cancel = CancellationToken::new();
    let mut compacting = compactor.compact(agent, Trigger::Manual, cancel.clone());
    let mut asked = None;
    let result = loop {
        tokio::select! {
            result = &mut compacting => break result,
            signal = signals.next() => {
                asked = Some(signal);
                cancel.cancel();
            }
        }
    };
    match (asked, result) {
        (Some(asked), _) => Ok(Some(asked.exit())),
        (None, Ok(Compacted { before, after })) => {
            output.talk(&format!("harness: history compacted: about {before} tokens before, {after} now"));
            Ok(None)
        }
        (None, Err(error @ CompactError::Nothing)) => {
            output.talk(&format!("harness: {error}"));
            Ok(None)
        }
        (None, Err(error)) => Err(error).context("--compact failed; the history is as it was"),
    }
}
