//! Where a stream comes from, for what its failures say.
use harness_llm::{Chunk, Failure, FailureCode, Finish, FinishReason};

use crate::failure::{Redactor, bounded};

/// Most characters of an event that cannot be read that are quoted.
const QUOTE: usize = 200;

/// Puts the server's name for the request into failures and keeps the key out of them.
#[derive(Debug, Clone, Default)]
pub struct StreamSite {
    /// Knows the key.
    pub redactor: Redactor,
    /// The server's name for the request.
    pub request_id: Option<String>,
}

impl StreamSite {
    /// The finish of a stream that failed.
    pub fn finish(&self, mut failure: Failure) -> Chunk {
        failure.message = self.redactor.redact(&failure.message).into_owned();
        failure.request_id = failure.request_id.or_else(|| self.request_id.clone());
        let reason = if failure.code == FailureCode::ABORTED {
            FinishReason::Aborted { failure }
        } else {
            FinishReason::Error { failure }
        };
        Chunk::Finish(Finish::from(reason))
    }

    /// The failure for an event that is not what the format says.
    pub fn unreadable(&self, data: &str, fault: &serde_json::Error) -> Failure {
        // The key first: a cut could leave a part of it behind.
        let quote = bounded(&self.redactor.redact(data), QUOTE);
        let text = format!("the model server sent an event that cannot be read ({fault}): {quote}");
        Failure::new(FailureCode::MALFORMED_RESPONSE, text)
    }
}
