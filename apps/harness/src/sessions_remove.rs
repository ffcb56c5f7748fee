//! `harness sessions rm`.
use std::time::Duration;

use anyhow::Result;
use harness_bundle::Harness;
use harness_session::{Clock, SessionId, SystemClock};
use harness_session_persistence::PersistenceError;
use serde_json::json;

use crate::exit::Exit;
use crate::output::Output;

/// Deletes the sessions that are named, or those that did not change for so long. One that cannot be deleted, such as
/// one in use, does not keep the others.
pub(crate) async fn remove(
    harness: &Harness,
    mut ids: Vec<SessionId>,
    older_than: Option<Duration>,
    json: bool,
    output: &Output,
) -> Result<Exit> {
    let persistence = harness.persistence()?;
    let mut exit = Exit::Done;
    if let Some(age) = older_than {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let before = SystemClock.now_ms().saturating_sub(age);
        let listing = persistence.list().await?;
        for bad in listing.unreadable {
            // Nobody asked for it by name, and it may be worth a repair.
            output.talk(&format!("harness: not looked at: {}: {}", bad.location, bad.error));
        }
        let old = listing.sessions.into_iter().filter(|session| session.modified < before);
        ids.extend(old.map(|session| session.header.id));
        if ids.is_empty() && !json {
            output.talk("no session is that old");
        }
    }
    for id in ids {
        let removed = persistence.remove(id).await;
        if json {
            let error = removed.as_ref().err();
            let value = json!({
                "id": id.to_string(),
                "removed": removed.is_ok(),
                "code": error.map(PersistenceError::code),
                "error": error.map(ToString::to_string),
            });
            output.data(&format!("{value}\n"));
        } else if removed.is_ok() {
            output.data(&format!("{id}\n"));
        }
        if let Err(error) = removed {
            output.talk(&format!("harness: {error}"));
            exit = Exit::Failed;
        }
        output.room().await;
    }
    Ok(exit)
}

/// Reads an age such as `30d`.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no age; write a number and `h`, `d` or `w`, such as `30d`");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let hours: u64 = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 7 * 24,
        _ => return Err(wrong()),
    };
    let count: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    let seconds = count.checked_mul(hours).and_then(|hours| hours.checked_mul(3600)).ok_or_else(wrong)?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        let hours = |hours: u64| Ok(Duration::from_secs(hours * 3600));
        assert_eq!([age("36h"), age("30d"), age("2w")], [hours(36), hours(720), hours(336)]);
        for wrong in
            ["", "30", "d", "-1d", "1.5d", "30m", "30 d", "99999999999999999999d", "9999999999999999w", "ü"]
        {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
