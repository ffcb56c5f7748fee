//! The suite that every backend must pass, and the tools to run it.
//!
//! A backend implements [`ContractStore`] on its test rig and calls [`run_persistence_contract`]. Every case gets a
//! fresh store. All cases run; those that failed are named together at the end.
#![expect(
    clippy::missing_panics_doc,
    clippy::return_self_not_must_use,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this module is a test suite: a panic is how a case fails"
)]
use std::sync::Arc;

use async_trait::async_trait;
use harness_kernel::contain;
use harness_session::{SessionHeader, SessionId};

use crate::service::SessionPersistence;

mod damaged;
mod drive;
mod leasing;
mod listing;
mod memory;
mod mending;
mod storing;

pub use drive::{Script, continued, drive, encoded};
pub use memory::{Fault, MemoryPersistence, Write};

/// Ways in which stored sessions get damaged. The store is at rest when they are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The last record is cut in the middle of a character of several bytes.
    TornCharacter,
    /// The last record is cut just before its terminator.
    NoTerminator,
    /// Empty records follow the last one.
    BlankRecords,
    /// Only the header is left, whole.
    HeaderOnly,
    /// Nothing at all is left, though the session's place exists.
    Empty,
    /// A record in the middle is garbled.
    Garbled,
    /// One event in the middle is missing.
    Missing,
    /// The header claims the format version that follows this build's.
    NewerFormat,
}

/// One storage, as the suite needs it.
#[async_trait]
pub trait ContractStore: Send + Sync {
    /// A backend on this storage. Each call gives one that shares nothing in memory with the others, like that of
    /// another process.
    fn connect(&self) -> Arc<dyn SessionPersistence>;
    /// The same storage reached by another path, where there are paths; called once a session is stored.
    fn connect_through_link(&self, id: SessionId) -> Option<Arc<dyn SessionPersistence>>;
    /// Changes exactly when what is stored of a session changes.
    fn fingerprint(&self, id: SessionId) -> Vec<u8>;
    /// Damages a session, or says that this cannot happen to it.
    fn damage(&self, id: SessionId, damage: Damage) -> bool;
    /// Another process that has opened the session, where sessions outlive processes.
    async fn other_process(&self, id: SessionId) -> Option<Box<dyn OtherProcess>>;
}

/// A process that holds a session's lease.
pub trait OtherProcess: Send {
    /// Its process id.
    fn pid(&self) -> u32;
    /// Ends it without any chance to clean up, and waits until it is gone.
    fn kill(self: Box<Self>);
}

/// A header of a new session with a fixed creation time.
fn fixed_header() -> SessionHeader {
    SessionHeader::new(1_700_000_000_000, None)
}

type Running<'a> = harness_kernel::BoxFuture<'a, bool>;
/// A case says whether it applied.
type Case = (&'static str, for<'a> fn(&'a dyn ContractStore) -> Running<'a>);

macro_rules! cases {
    ($($module:ident: $($case:ident),+ $(,)?;)+) => {
        const CASES: &[Case] = &[$($((
            concat!(stringify!($module), "::", stringify!($case)),
            |store| Box::pin($module::$case(store)),
        )),+),+];
    };
}
cases! {
    storing: comes_back_as_it_was, without_events_it_does_not_exist, wrong_sequences_are_refused,
        a_taken_identity_is_refused, goes_on_after_reopening, barriers_without_events, a_fork_keeps_its_lineage,
        large_and_many, unknown_events_are_kept, required_unknown_events_refuse_the_load;
    mending: unstarted_and_running_calls, an_open_step, an_open_turn, a_cut_stream_makes_no_message,
        reading_changes_nothing, a_mended_session_goes_on;
    damaged: torn_character, no_terminator, blank_records, header_only, empty, garbled, missing, newer_format;
    leasing: the_second_writer_is_told_who_has_it, dropping_the_writer_frees_it, reading_needs_no_lease,
        through_a_link, removing_needs_the_lease, a_killed_owner_leaves_nothing;
    listing: newest_change_first, summaries_say_what_it_is_about, the_latest_of_a_folder, nothing_stored;
}

/// Runs every case on a store of its own. Returns the names of the cases that do not apply to this backend.
///
/// # Panics
/// When cases failed, with the name and the message of each.
pub async fn run_persistence_contract<S: ContractStore>(fresh: impl Fn() -> S) -> Vec<&'static str> {
    let (mut failures, mut skipped) = (Vec::new(), Vec::new());
    for (name, case) in CASES {
        let store = fresh();
        match contain(case(&store)).await {
            Ok(true) => {}
            Ok(false) => skipped.push(*name),
            Err(panic) => failures.push(format!("{name}: {panic}")),
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} persistence contract cases failed:\n{}",
        failures.len(),
        CASES.len(),
        failures.join("\n")
    );
    skipped
}
