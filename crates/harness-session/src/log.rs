//! The log in memory: append at the end, constant-time shared views.
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::event::{Event, Seq};

const SEGMENT: usize = 256;
type Segment = Arc<[OnceLock<Arc<Event>>]>;

/// Fixed segments, so that a view never copies and an append never moves what a view can see.
#[derive(Debug, Default)]
pub(crate) struct Log(RwLock<Vec<Segment>>);

impl Log {
    /// Places an event at its sequence number. The caller is the only writer and counts without gaps.
    pub(crate) fn place(&self, event: Arc<Event>) {
        let (segment, slot) = split(event.seq);
        let mut segments = self.0.write().unwrap_or_else(PoisonError::into_inner);
        while segments.len() <= segment {
            segments.push((0..SEGMENT).map(|_| OnceLock::new()).collect());
        }
        let fresh = segments[segment][slot].set(event).is_ok();
        debug_assert!(fresh, "one writer counts without gaps");
    }
    fn segment(&self, at: usize) -> Option<Segment> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(at).map(Arc::clone)
    }
}

fn split(seq: Seq) -> (usize, usize) {
    let seq = usize::try_from(seq).unwrap_or(usize::MAX);
    (seq / SEGMENT, seq % SEGMENT)
}

/// The log up to a moment. Taking one costs two words and copies nothing.
#[derive(Debug, Clone)]
pub struct LogView {
    log: Arc<Log>,
    len: Seq,
}

impl LogView {
    pub(crate) fn new(log: Arc<Log>, len: Seq) -> Self {
        Self { log, len }
    }
    /// How many events the view holds.
    pub fn len(&self) -> Seq {
        self.len
    }
    /// Whether the view holds no event.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The event with this sequence number.
    pub fn get(&self, seq: Seq) -> Option<Arc<Event>> {
        if seq >= self.len {
            return None;
        }
        let (segment, slot) = split(seq);
        self.log.segment(segment)?[slot].get().map(Arc::clone)
    }
    /// The newest event.
    pub fn last(&self) -> Option<Arc<Event>> {
        self.get(self.len.checked_sub(1)?)
    }
    /// All events, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Arc<Event>> + '_ {
        self.iter_from(0)
    }
    /// The events from a sequence number on.
    pub fn iter_from(&self, first: Seq) -> impl Iterator<Item = Arc<Event>> + '_ {
        let mut held: Option<(usize, Segment)> = None;
        (first..self.len).filter_map(move |seq| {
            let (at, slot) = split(seq);
            if held.as_ref().is_none_or(|(held_at, _)| *held_at != at) {
                held = Some((at, self.log.segment(at)?));
            }
            held.as_ref()?.1[slot].get().map(Arc::clone)
        })
    }
}
