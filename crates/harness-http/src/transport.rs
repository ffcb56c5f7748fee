//! Says what went wrong on the wire, in one line and one kind.

use std::error::Error;
use std::io;

/// A request or response body that failed below HTTP.
///
/// Made from a [`reqwest::Error`]. The text never holds the URL, whose query may be a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
#[non_exhaustive]
pub struct TransportError {
    /// What happened, for code.
    pub kind: TransportKind,
    /// What happened, for people: the whole chain of causes.
    pub detail: String,
}

/// The ways in which a connection fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportKind {
    /// No connection: refused, unreachable, unknown host.
    Connect,
    /// No connection within the connect timeout.
    ConnectTimeout,
    /// The server's certificate or the TLS handshake was refused.
    Tls,
    /// The peer broke the connection off (TCP reset, broken pipe).
    Reset,
    /// The peer closed the connection before the response was complete.
    ClosedEarly,
    /// Anything else, such as a malformed response.
    Other,
}

impl TransportKind {
    /// A name for the fault that does not change between releases.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Connect => "HTTP_CONNECT",
            Self::ConnectTimeout => "HTTP_CONNECT_TIMEOUT",
            Self::Tls => "HTTP_TLS",
            Self::Reset => "HTTP_RESET",
            Self::ClosedEarly => "HTTP_CLOSED_EARLY",
            Self::Other => "HTTP_OTHER",
        }
    }
}

impl TransportError {
    /// A name for the fault that does not change between releases.
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let kind = causes(&error).find_map(kind_of_cause);
        let kind = match kind {
            Some(TransportKind::Tls) => TransportKind::Tls,
            _ if error.is_connect() && error.is_timeout() => TransportKind::ConnectTimeout,
            _ if error.is_connect() => TransportKind::Connect,
            Some(kind) => kind,
            None => TransportKind::Other,
        };
        Self { kind, detail: one_line(&error) }
    }
}

/// The error and everything that caused it, outermost first.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause_of(*error))
}

fn cause_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    // An I/O error hides the error it wraps: its own source is the source of that one.
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

fn kind_of_cause(cause: &(dyn Error + 'static)) -> Option<TransportKind> {
    if cause.is::<rustls::Error>() {
        return Some(TransportKind::Tls);
    }
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        return error.is_incomplete_message().then_some(TransportKind::ClosedEarly);
    }
    match cause.downcast_ref::<io::Error>()?.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
            Some(TransportKind::Reset)
        }
        io::ErrorKind::UnexpectedEof => Some(TransportKind::ClosedEarly),
        _ => None,
    }
}

/// All messages of the chain, without those that the one before repeats.
fn one_line(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).fold(String::new(), |line, message| {
        if line.is_empty() {
            message
        } else if line.ends_with(&message) {
            line
        } else {
            line + ": " + &message
        }
    })
}
