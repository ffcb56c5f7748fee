//! What a replay came to.
use std::collections::BTreeMap;

use harness_session::Seq;

/// What a replay came to.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Turns that were driven.
    pub turns: usize,
    /// Requests that were answered from the record.
    pub requests: usize,
    /// Tool calls that were answered from the record.
    pub calls: usize,
    /// Things that the loop made again and that were compared.
    pub compared: usize,
    /// How many processes had written the session, as far as the record tells: a clean end leaves no trace.
    pub lives: usize,
    /// What others than the loop had decided, done or logged: taken from the record, not made again. By name.
    pub taken: BTreeMap<String, usize>,
    /// The first difference; none if the same log came out.
    pub difference: Option<Difference>,
}

/// Where a replay differs from its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The recorded event, or the last one if the replay made more than that.
    pub seq: Seq,
    /// What was recorded: kind and data as JSON text; none if nothing more was.
    pub recorded: Option<String>,
    /// What came out; none if nothing more did.
    pub replayed: Option<String>,
}
