//! Who writes a session.
use std::fmt;

use serde::{Deserialize, Serialize};

/// The holder of a session's writer lease, for messages to people. The lease itself is the backend's lock, which
/// ends with its process; this record may outlive it and proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseOwner {
    /// Process id on that host.
    pub pid: u32,
    /// Host name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// When the lease was taken, milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}
impl fmt::Display for LeaseOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {}", self.pid)?;
        if let Some(host) = &self.host {
            write!(f, " on {host}")?;
        }
        let since = self.since.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        since.map_or(Ok(()), |since| write!(f, " since {since:.0}"))
    }
}

#[cfg(test)]
mod tests {
    use super::LeaseOwner;

    #[test]
    fn names_what_is_known() {
        let mut owner = LeaseOwner { pid: 7, host: Some("build-3".into()), since: Some(1_700_000_000_999) };
        assert_eq!(owner.to_string(), "pid 7 on build-3 since 2023-11-14T22:13:20Z");
        (owner.host, owner.since) = (None, None);
        assert_eq!(owner.to_string(), "pid 7");
    }
}
