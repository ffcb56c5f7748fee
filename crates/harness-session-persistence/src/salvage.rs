//! What can be kept of a damaged log: a pure function of its records.
//!
//! Sequence numbers never change, so that no reference to an earlier event is wrong afterwards: an event that is lost
//! leaves a `session/lost` event in its place, or one of the events that the rest needs to make sense (a turn's or a
//! step's begin or end, the start or the answer of a call).
use std::sync::Arc;

use harness_session::{
    Body, Derivation, Event, EventClass, Grammar, PluginData, PluginEvent, Seq, SessionId, SurfaceOp,
};
use serde::{Deserialize, Serialize};

use crate::bridge::bridge;
use crate::error::Position;

/// `session/lost`: stands where an event was lost to damage. Says nothing to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostEvent {
    /// What was wrong.
    pub detail: String,
}
impl PluginEvent for LostEvent {
    const TYPE: &'static str = "session/lost";
    const CLASS: EventClass = EventClass::Standalone;
}

/// One record of a damaged log, as far as it can be read.
#[derive(Debug)]
pub struct Record {
    /// Where it is.
    pub position: Position,
    /// The event, or why it cannot be read.
    pub event: Result<Event, String>,
}

/// A record that was not kept, or an event of which there is no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where it was, or would have been.
    pub position: Position,
    /// Index of the record, if there is one.
    pub record: Option<usize>,
    /// What is wrong.
    pub detail: String,
}

/// What is kept, and what is not.
#[derive(Debug, Default)]
pub struct Salvage {
    /// A log that follows the rules, except that its last turn may be open.
    pub events: Vec<Arc<Event>>,
    /// In the order of the records.
    pub losses: Vec<Loss>,
    /// How many of the events were in the records; the others were put in.
    pub kept: usize,
}

/// Keeps every event that can be read and that makes sense in its place.
pub fn salvage(id: SessionId, records: Vec<Record>) -> Salvage {
    let mut work = Work {
        id,
        salvage: Salvage::default(),
        free: Vec::new(),
        early: Vec::new(),
        folded: Folded::default(),
    };
    let seqs: Vec<Option<Seq>> =
        records.iter().map(|record| record.event.as_ref().ok().map(|event| event.seq)).collect();
    for (index, Record { position, event }) in records.into_iter().enumerate() {
        let next = work.salvage.events.len() as Seq;
        let outcome = match event {
            Err(detail) => Err(detail),
            Ok(event) if event.seq < next => Err(format!("event {} is there already", event.seq)),
            Ok(event) if event.seq > next && !goes_on(&seqs, index) => {
                Err(format!("event {next} is expected here, not event {}", event.seq))
            }
            Ok(mut event) => {
                if let Body::AssistantMessage(message) = &mut event.body
                    && !work.salvage.losses.is_empty()
                {
                    // Chunks that are not kept cannot give its content back: it is spelt out.
                    message.spell_out();
                }
                work.fill(&event, position);
                work.take(event)
            }
        };
        if let Err(detail) = outcome {
            work.salvage.losses.push(Loss { position, record: Some(index), detail });
        }
    }
    work.salvage
}

/// Whether the records after a gap count on from it: a single wrong number must not cost those behind it.
fn goes_on(seqs: &[Option<Seq>], index: usize) -> bool {
    let own = seqs[index];
    let following = seqs[index + 1..].iter().flatten().next();
    following.is_none_or(|following| own.is_some_and(|own| *following == own + 1))
}

#[derive(Default, Clone)]
struct Folded {
    grammar: Grammar,
    derivation: Derivation,
}
impl Folded {
    fn accept(&mut self, event: &Event) -> Result<(), String> {
        let mut grammar = self.grammar.clone();
        grammar.accept(event).map_err(|error| error.to_string())?;
        self.derivation.accept(event).map_err(|error| error.to_string())?;
        self.grammar = grammar;
        Ok(())
    }
}

struct Work {
    id: SessionId,
    salvage: Salvage,
    /// Places of lost events since the last one that matters to the order of turns and steps.
    free: Vec<usize>,
    /// Those before calls and results of the open step: only calls and results fit there.
    early: Vec<usize>,
    folded: Folded,
}
impl Work {
    /// Holds the places of events that are missing before this one.
    fn fill(&mut self, event: &Event, position: Position) {
        let missing = self.salvage.events.len() as Seq..event.seq;
        let explained = self.salvage.losses.last().is_some_and(|loss| loss.record.is_some());
        if !missing.is_empty() && !explained {
            let detail = format!("events {} to {} are missing", missing.start, missing.end - 1);
            self.salvage.losses.push(Loss { position, record: None, detail });
        }
        for seq in missing {
            self.lost(seq, event.time, "it could not be read");
        }
    }
    fn lost(&mut self, seq: Seq, time: i64, detail: &str) {
        let lost = LostEvent { detail: detail.to_owned() };
        // A struct with one text always has a JSON form.
        if let Ok(data) = PluginData::of(&lost) {
            self.free.push(self.salvage.events.len());
            let body = Body::Plugin(data);
            self.salvage.events.push(Arc::new(Event { seq, time, body, surface: None, sources: None }));
        }
    }
    fn take(&mut self, event: Event) -> Result<(), String> {
        let refused = match self.folded.accept(&event) {
            Ok(()) => None,
            Err(detail) if self.bridged(&event) => {
                let again = self.folded.accept(&event);
                again.err().map(|_| detail)
            }
            Err(detail) => Some(detail),
        };
        if let Some(detail) = refused {
            self.lost(event.seq, event.time, &detail);
            return Err(detail);
        }
        match event.body {
            Body::Plugin(_) | Body::InboxSpliced(_) | Body::AgentParked(_) | Body::SessionResumed(_) => {}
            Body::ToolCall(_) | Body::ToolResult(_) => self.early.append(&mut self.free),
            _ => {
                self.free.clear();
                self.early.clear();
            }
        }
        self.salvage.kept += 1;
        self.salvage.events.push(Arc::new(event));
        Ok(())
    }
    /// Puts what must have been there into the places of lost events, if these suffice.
    fn bridged(&mut self, event: &Event) -> bool {
        let Some(needed) = bridge(self.id, &self.folded.grammar, &self.salvage.events, event) else {
            return false;
        };
        let (mut free, mut early) = (self.free.clone(), self.early.clone());
        let (mut folded, mut placed) = (self.folded.clone(), Vec::new());
        for (body, surface, sources) in needed {
            let cited = sources.as_deref().and_then(|sources| sources.last().copied());
            let inner = matches!(body, Body::ToolCall(_) | Body::ToolResult(_));
            let fits = early.iter().position(|at| inner && cited.is_none_or(|cited| cited < *at as Seq));
            let at = match fits {
                Some(found) => early.remove(found),
                None if free.is_empty() => return false,
                None => free.remove(0),
            };
            let held = &self.salvage.events[at];
            let made = Event { seq: held.seq, time: held.time, body, surface, sources };
            if folded.accept(&made).is_err() {
                return false;
            }
            placed.push((at, Arc::new(made)));
        }
        if placed.is_empty() || folded.clone().accept(event).is_err() {
            return false;
        }
        (self.free, self.early) = (free, early);
        for (at, made) in placed {
            self.salvage.events[at] = made;
        }
        self.folded = folded;
        true
    }
}

/// An event without its place.
pub(crate) type Made = (Body, Option<SurfaceOp>, Option<Vec<Seq>>);
