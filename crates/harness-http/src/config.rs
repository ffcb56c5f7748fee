//! What a caller may decide about the client.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Settings of an HTTP client. Everything else is fixed by [`client`](crate::client).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// Longest wait for name lookup, TCP connection and TLS handshake together. Default 10 s.
    pub connect_timeout: Duration,
    /// PEM files with certificate authorities to trust besides those of the platform.
    pub extra_ca: Vec<PathBuf>,
    /// Which proxy to use. Loopback hosts never go through one.
    pub proxy: ProxySetting,
    /// Hosts that bypass a [`ProxySetting::Url`]: names (with their subdomains), addresses,
    /// networks such as `10.0.0.0/8`, or `*`. [`ProxySetting::System`] brings its own list.
    pub no_proxy: Vec<String>,
    /// Value of the `User-Agent` header.
    pub user_agent: String,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            extra_ca: Vec::new(),
            proxy: ProxySetting::System,
            no_proxy: Vec::new(),
            user_agent: concat!("harness/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// Where requests go through.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum ProxySetting {
    /// `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` in either case, and on macOS the
    /// system's network settings.
    #[default]
    System,
    /// Straight to the host, whatever the environment says.
    Direct,
    /// This proxy: `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`, with a user name
    /// and password in the URL if it wants them.
    Url(String),
}

/// Reads `system`, `none` or a URL, the form that a configuration file holds.
impl FromStr for ProxySetting {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "system" => Self::System,
            "none" => Self::Direct,
            url => Self::Url(url.to_owned()),
        })
    }
}

/// Leaves the URL out: it may hold a password.
impl fmt::Debug for ProxySetting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::System => "System",
            Self::Direct => "Direct",
            Self::Url(_) => "Url(..)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_setting_is_read_from_its_configuration_form() {
        assert_eq!("system".parse(), Ok(ProxySetting::System));
        assert_eq!("none".parse(), Ok(ProxySetting::Direct));
        assert_eq!("http://p:8".parse(), Ok(ProxySetting::Url("http://p:8".into())));
    }

    #[test]
    fn a_proxy_password_is_not_shown() {
        let config = HttpConfig {
            proxy: ProxySetting::Url("http://me:hush@proxy:8080".into()),
            ..HttpConfig::default()
        };
        assert!(!format!("{config:?}").contains("hush"));
    }
}
