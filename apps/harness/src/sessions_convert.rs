//! `harness sessions convert`.
use anyhow::Result;
use harness_bundle::{BackendSetting, Harness, storage};
use harness_config::{Config, Paths};
use harness_session::SessionId;
use harness_session_persistence::copy_session;

use crate::args::BackendName;
use crate::exit::Exit;
use crate::output::Output;
use crate::sessions_check::known;

/// Copies these sessions, or all, into a backend from the other one. One that cannot be copied is told, and the others
/// are copied all the same.
pub(crate) async fn convert(
    harness: &Harness,
    config: &Config,
    paths: &Paths,
    mut ids: Vec<SessionId>,
    to: BackendName,
    remove: bool,
    output: &Output,
) -> Result<Exit> {
    let (from, to) = match to {
        BackendName::Jsonl => (BackendSetting::Sqlite, BackendSetting::Jsonl),
        BackendName::Sqlite => (BackendSetting::Jsonl, BackendSetting::Sqlite),
    };
    let (from, to) = (storage(from, config, paths)?, storage(to, config, paths)?);
    let known = known(harness);
    let mut failed = false;
    if ids.is_empty() {
        let listing = from.list().await?;
        ids.extend(listing.sessions.iter().map(|session| session.header.id));
        for bad in listing.unreadable {
            failed = true;
            output.talk(&format!("harness: {}: {}", bad.location, bad.error));
        }
    }
    for id in ids {
        let mut copied = copy_session(from.as_ref(), to.as_ref(), id, &known).await;
        if remove && copied.is_ok() {
            copied = from.remove(id).await.and(copied);
        }
        match copied {
            Ok(events) => output.data(&format!("{id}  {events} events\n")),
            Err(error) => {
                failed = true;
                output.talk(&format!("harness: {error}"));
            }
        }
        output.room().await;
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}
