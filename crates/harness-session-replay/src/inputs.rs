//! What came from outside, given again at the place where it came: messages, withdrawals, changes of the history.
use harness_agent::{AgentError, Delivery};
use harness_session::{AppendError, Body, Draft, Event, InboxSpliced, InboxTarget, Seq, SurfaceOp};

use crate::life::made_by_the_loop;
use crate::script::Script;

impl Script {
    /// Gives what came before a position and was not given yet.
    pub(crate) fn give(&self, until: usize) {
        for at in self.due(until) {
            let event = &self.life.events[at];
            if made_by_the_loop(event) {
                continue;
            }
            let given = match &event.body {
                Body::InboxSpliced(change) => self.splice(at, change).map_err(|error| error.to_string()),
                Body::SessionResumed(_) => Ok(()),
                Body::Plugin(data) => {
                    self.count(data.name());
                    Ok(())
                }
                _ => self.replace(event),
            };
            if let Err(error) = given {
                self.failed(event.seq, format!("what came from outside could not be given again: {error}"));
            }
        }
    }

    fn splice(&self, at: usize, change: &InboxSpliced) -> Result<(), AgentError> {
        let Some(agent) = self.agent.get() else { return Ok(()) };
        for id in &change.removed {
            agent.withdraw(*id)?;
        }
        for message in &change.inserted {
            let open = self.life.turn_at(at);
            let wake = match change.target {
                InboxTarget::NextTurn => open.is_some() || self.life.turn_starts_after(at),
                // Context for whoever comes next, unless the next turn was opened for it.
                InboxTarget::NextStep => match self.life.claimed(message.id) {
                    Some(claim) => self.life.turn_at(claim) != open,
                    None => false,
                },
            };
            agent.send(message.as_ref().clone(), Delivery { target: change.target, wake })?;
        }
        Ok(())
    }

    /// A message that takes the place of others: positions differ from log to log, places along the surface do not.
    fn replace(&self, event: &Event) -> Result<(), String> {
        let Some(agent) = self.agent.get() else { return Ok(()) };
        self.count("changes of the history");
        let ours: Vec<Seq> = {
            let view = agent.session().view();
            view.iter().filter(|event| event.surface.is_some()).map(|event| event.seq).collect()
        };
        let place = |seq: &Seq| {
            let at = self.surface.get(seq).and_then(|nth| ours.get(*nth));
            at.copied().ok_or_else(|| format!("event {seq} has no counterpart"))
        };
        let Some(SurfaceOp::Replace(first, last)) = event.surface else { return Ok(()) };
        let sources: Result<Vec<Seq>, String> = event.sources.iter().flatten().map(place).collect();
        let draft = Draft::new(event.body.clone()).replacing(place(&first)?, place(&last)?).citing(sources?);
        agent.session().append(draft).map(drop).map_err(|error: AppendError| error.to_string())
    }
}
