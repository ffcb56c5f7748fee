//! What goes wrong on the wire, as typed failures.
use harness_http::{BodyError, TimeoutError, TransportError, TransportKind};
use harness_llm::{Failure, FailureCode};

use crate::failure::Redactor;
use crate::stream::BodyFault;

/// Who was called, for messages.
pub(crate) struct Place {
    pub(crate) provider: String,
    /// Host and port.
    pub(crate) address: String,
    pub(crate) redactor: Redactor,
}

impl Place {
    /// A request that got no response.
    pub(crate) fn connection(&self, error: &TransportError) -> Failure {
        let Self { provider, address, .. } = self;
        let (code, what) = match error.kind {
            TransportKind::Connect => (
                FailureCode::TRANSPORT,
                format!(
                    "cannot connect to {address} for model provider `{provider}`; is the server running?"
                ),
            ),
            TransportKind::ConnectTimeout => (
                FailureCode::TIMEOUT,
                format!(
                    "no connection to {address} for model provider `{provider}` in time; is the address right?"
                ),
            ),
            TransportKind::Tls => (
                FailureCode::TRANSPORT,
                format!(
                    "no secure connection to {address}; for a certificate authority of your own set `extra_ca`"
                ),
            ),
            _ => (FailureCode::TRANSPORT, format!("the connection to {address} broke before any response")),
        };
        Failure::new(code, format!("{what} ({})", self.redactor.redact(&error.detail)))
    }

    /// A response that is late.
    pub(crate) fn timeout(&self, timeout: TimeoutError) -> Failure {
        let setting = match timeout {
            TimeoutError::Idle { .. } => "idle_timeout",
            _ => "first_byte_timeout",
        };
        let Self { provider, address, .. } = self;
        let text = format!(
            "model provider `{provider}` at {address}: {timeout}; a slow server wants a longer `{setting}`"
        );
        Failure::new(FailureCode::TIMEOUT, text)
    }

    /// A response body that stopped.
    pub(crate) fn body(&self, fault: BodyError<reqwest::Error>) -> BodyFault {
        match fault {
            BodyError::Timeout(timeout) => BodyFault::Failed(self.timeout(timeout)),
            BodyError::Transport(error) => {
                let error = TransportError::from(error);
                match error.kind {
                    TransportKind::ClosedEarly => BodyFault::ClosedEarly,
                    _ => BodyFault::Broken(self.redactor.redact(&error.detail).into_owned()),
                }
            }
        }
    }
}
