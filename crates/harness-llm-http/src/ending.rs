//! Streams that end before their terminal marker.
use harness_llm::{Failure, FailureCode};

/// How a stream ended, if not with its terminal marker.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending<'a> {
    /// The server closed it after a complete event, or before any.
    Clean,
    /// The server closed it in the middle of an event.
    Truncated {
        /// The part of the event's data that arrived, if any.
        data: Option<&'a str>,
    },
    /// The connection broke.
    Broken {
        /// What the transport said.
        detail: &'a str,
        /// Bytes of an unfinished event that had arrived.
        pending: usize,
    },
    /// The call was given up: cancelled, timed out, or the bytes are no event stream.
    Failed(Failure),
}

impl Ending<'_> {
    /// The failure for a stream that ended so after `events` events, without its end `marker`.
    pub fn failure(&self, events: u64, finish_reason: Option<&str>, marker: &str) -> Failure {
        let progress = match (events, finish_reason) {
            (0, _) => "before any event".to_owned(),
            (_, Some(reason)) => format!("after {} and the finish reason `{reason}`", count(events)),
            (_, None) => format!("after {}, without a finish reason", count(events)),
        };
        match self {
            Ending::Failed(failure) => failure.clone(),
            Ending::Broken { detail, pending: 0 } => {
                let text = format!("the connection to the model server broke {progress}: {detail}");
                Failure::new(FailureCode::TRANSPORT, text)
            }
            Ending::Broken { detail, pending } => {
                let text = format!(
                    "the connection to the model server broke {progress}, {pending} bytes into the next one: {detail}"
                );
                Failure::new(FailureCode::TRANSPORT, text)
            }
            Ending::Truncated { .. } => closed(format!(
                "the model stream was cut in the middle of an event, {progress}; the answer is incomplete"
            )),
            Ending::Clean if events == 0 => closed(
                "the model server accepted the request and closed the stream without sending anything"
                    .to_owned(),
            ),
            Ending::Clean => closed(format!(
                "the model server closed the stream {progress}, but its end marker `{marker}` is missing; the answer may be \
             cut off"
            )),
        }
    }

    /// The failure for an end marker that came before any finish reason.
    pub fn without_reason(events: u64, marker: &str) -> Failure {
        closed(format!(
            "the model stream ended with `{marker}` after {}, but never said why it stopped; the answer may be cut off",
            count(events)
        ))
    }
}

fn count(events: u64) -> String {
    if events == 1 { "1 event".to_owned() } else { format!("{events} events") }
}

/// The failure for a stream that ended before its end.
pub fn closed(text: String) -> Failure {
    Failure::new(FailureCode::STREAM_CLOSED, text)
}
