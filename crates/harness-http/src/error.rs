//! Why a client cannot be built.

use std::path::PathBuf;

/// A setting that no client can be built from. Nothing has been sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// An extra certificate authority file cannot be read.
    #[error("cannot read the certificate authority file {}: {source}", path.display())]
    ExtraCaUnreadable {
        /// The file named in [`HttpConfig::extra_ca`](crate::HttpConfig::extra_ca).
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An extra certificate authority file holds no usable certificate.
    #[error("no usable certificate in {}: {reason}; expected PEM blocks `BEGIN CERTIFICATE`", path.display())]
    ExtraCaInvalid {
        /// The file named in [`HttpConfig::extra_ca`](crate::HttpConfig::extra_ca).
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The proxy URL cannot be used. It is not repeated, as it may hold a password.
    #[error("the proxy URL cannot be used: {reason}; expected for example `http://host:8080`")]
    ProxyUrl {
        /// What is wrong with it.
        reason: String,
    },
    /// The user agent is not a valid header value.
    #[error("the user agent {user_agent:?} is not a valid header value; use visible ASCII characters")]
    UserAgent {
        /// The value of [`HttpConfig::user_agent`](crate::HttpConfig::user_agent).
        user_agent: String,
    },
    /// The TLS library refused its settings.
    #[error("tls cannot be set up: {source}")]
    Tls {
        /// What the library said.
        source: rustls::Error,
    },
    /// The client library refused the settings for another reason.
    #[error("http client cannot be built: {source}")]
    Build {
        /// What the library said.
        source: reqwest::Error,
    },
}

impl HttpError {
    /// A name for the fault that does not change between releases.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ExtraCaUnreadable { .. } => "HTTP_EXTRA_CA_UNREADABLE",
            Self::ExtraCaInvalid { .. } => "HTTP_EXTRA_CA_INVALID",
            Self::ProxyUrl { .. } => "HTTP_PROXY_URL",
            Self::UserAgent { .. } => "HTTP_USER_AGENT",
            Self::Tls { .. } => "HTTP_TLS",
            Self::Build { .. } => "HTTP_BUILD",
        }
    }
}
