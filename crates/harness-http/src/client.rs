//! The one place in the workspace that builds an HTTP client.

use reqwest::Client;
use reqwest::header::HeaderValue;
use reqwest::redirect::Policy;

use crate::config::HttpConfig;
use crate::error::HttpError;
use crate::{proxy, tls};

/// Builds a client. Cheap: no certificate store is read until a server's certificate is checked.
///
/// What it fixes, for every caller:
/// - TLS by rustls with the ring provider; the platform's trust store plus `extra_ca`.
/// - Redirects are never followed: a 3xx is returned as the response, so neither credentials nor a
///   prompt ever reach a host that nobody configured.
/// - Nothing is sent twice: retrying is a decision of the caller, who can log it.
/// - No total timeout, which would cut long streams; see [`StreamTimeouts`](crate::StreamTimeouts).
/// - No compression is asked for, as it holds small events back.
pub fn client(config: &HttpConfig) -> Result<Client, HttpError> {
    let user_agent = HeaderValue::from_str(&config.user_agent)
        .map_err(|_| HttpError::UserAgent { user_agent: config.user_agent.clone() })?;
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::client_config(&config.extra_ca)?)
        .connect_timeout(config.connect_timeout)
        .redirect(Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .user_agent(user_agent)
        // Also stops the library from adding the system's proxies by itself.
        .no_proxy();
    proxy::proxies(config)?
        .into_iter()
        .fold(builder, reqwest::ClientBuilder::proxy)
        .build()
        .map_err(|source| HttpError::Build { source })
}
