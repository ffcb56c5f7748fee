//! What is known of a session apart from its events.
use serde::{Deserialize, Serialize};

use crate::event::Seq;
use crate::id::SessionId;

/// Version of the stored form that this build writes. A reader refuses a higher one by name.
pub const FORMAT_VERSION: u32 = 1;

/// The first line of a stored session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionHeader {
    /// Version of the stored form.
    pub version: u32,
    /// Identity.
    pub id: SessionId,
    /// Creation time, milliseconds since the Unix epoch.
    pub created_at: i64,
    /// Absolute working folder, if the session has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The session that this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// How many leading events were inherited from the parent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inherited: Seq,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if passes a reference")]
fn is_zero(n: &Seq) -> bool {
    *n == 0
}

impl SessionHeader {
    /// A header for a new session.
    pub fn new(created_at: i64, cwd: Option<String>) -> Self {
        Self {
            version: FORMAT_VERSION,
            id: SessionId::generate(),
            created_at,
            cwd,
            parent: None,
            inherited: 0,
        }
    }
}
