//! Which requests go through a proxy.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Proxy;
use url::{Host, Url};

use crate::config::{HttpConfig, ProxySetting};
use crate::error::HttpError;

const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// The proxies of a client, one for each target scheme.
pub(crate) fn proxies(config: &HttpConfig) -> Result<Vec<Proxy>, HttpError> {
    let matcher = match &config.proxy {
        ProxySetting::Direct => return Ok(Vec::new()),
        ProxySetting::System => Matcher::from_system(),
        ProxySetting::Url(url) => {
            check(url)?;
            Matcher::builder().all(url.clone()).no(config.no_proxy.join(",")).build()
        }
    };
    let matcher = Arc::new(matcher);
    Ok(["http", "https"].map(|scheme| guarded(&matcher, scheme)).into())
}

/// A proxy rule that asks `matcher`, except for loopback hosts.
fn guarded(matcher: &Arc<Matcher>, scheme: &'static str) -> Proxy {
    let shared = Arc::clone(matcher);
    let proxy = Proxy::custom(
        move |target: &Url| {
            if target.scheme() == scheme { intercept(&shared, target) } else { None }
        },
    );
    // A rule of this kind returns only a URL, which cannot carry a ready-made header. The header is
    // the same for all hosts of a scheme, so any host outside the bypass list shows it.
    let sample = format!("{scheme}://proxy-credentials.invalid/").parse().ok();
    let credentials = sample.and_then(|sample| matcher.intercept(&sample)?.basic_auth().cloned());
    match credentials {
        Some(header) => proxy.custom_http_auth(header),
        None => proxy,
    }
}

fn intercept(matcher: &Matcher, target: &Url) -> Option<Url> {
    if is_loopback(target) {
        return None;
    }
    let found = matcher.intercept(&target.as_str().parse().ok()?)?;
    let mut url: Url = found.uri().to_string().parse().ok()?;
    if let Some((user, password)) = found.raw_auth() {
        url.set_username(user).ok()?;
        url.set_password(Some(password)).ok()?;
    }
    Some(url)
}

/// True for hosts that are this machine: a proxy would take them for itself.
fn is_loopback(target: &Url) -> bool {
    let is_local = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    match target.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => is_local(address.into()),
        Some(Host::Ipv6(address)) => is_local(
            address.to_ipv4_mapped().map_or_else(|| <Ipv6Addr as Into<IpAddr>>::into(address), IpAddr::from),
        ),
        None => false,
    }
}

/// Says no to what the matcher would ignore without a word.
fn check(url: &str) -> Result<(), HttpError> {
    let refuse = |reason: String| Err(HttpError::ProxyUrl { reason });
    match Url::parse(url) {
        Err(fault) => refuse(fault.to_string()),
        Ok(url) if !SCHEMES.contains(&url.scheme()) => {
            refuse(format!("scheme `{}` is none of {}", url.scheme(), SCHEMES.join(", ")))
        }
        Ok(url) if !url.has_host() => refuse("it names no host".to_owned()),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(matcher: &Matcher, target: &str) -> Option<String> {
        intercept(matcher, &target.parse().unwrap()).map(Into::into)
    }

    #[test]
    fn loopback_hosts_bypass_every_proxy() {
        let matcher = Matcher::builder().all("http://proxy:8080").build();
        for host in [
            "127.0.0.1",
            "127.9.9.9:80",
            "localhost:1234",
            "LOCALHOST",
            "localhost.",
            "model.localhost",
            "[::1]:80",
            "[::ffff:127.0.0.1]",
            "0.0.0.0:8000",
            "[::]",
        ] {
            assert_eq!(through(&matcher, &format!("http://{host}/v1")), None, "{host}");
            assert_eq!(through(&matcher, &format!("https://{host}/v1")), None, "{host}");
        }
    }

    #[test]
    fn other_hosts_go_through_unless_listed() {
        let matcher = Matcher::builder().all("http://proxy:8080").no("corp.test,10.0.0.0/8").build();
        let proxy = Some("http://proxy:8080/".to_owned());
        for host in ["api.test", "localhost.test", "notlocalhost", "128.0.0.1", "[2001:db8::1]"] {
            assert_eq!(through(&matcher, &format!("https://{host}/v1")), proxy, "{host}");
        }
        for host in ["corp.test", "api.corp.test", "10.1.2.3"] {
            assert_eq!(through(&matcher, &format!("https://{host}/v1")), None, "{host}");
        }
    }

    #[test]
    fn socks_credentials_stay_with_the_proxy() {
        let matcher = Matcher::builder().all("socks5h://me:p%40ss@proxy:1080").build();
        assert_eq!(
            through(&matcher, "https://api.test/").as_deref(),
            Some("socks5h://me:p%40ss@proxy:1080/")
        );
    }

    #[test]
    fn an_unusable_proxy_url_is_refused_without_showing_it() {
        for (url, part) in [
            ("ftp://me:hush@proxy", "scheme `ftp`"),
            ("proxy:8080", "scheme `proxy`"),
            ("http://", "empty host"),
            ("hush", "relative URL"),
        ] {
            let config = HttpConfig { proxy: ProxySetting::Url(url.into()), ..HttpConfig::default() };
            let fault = proxies(&config).unwrap_err();
            assert_eq!(fault.code(), "HTTP_PROXY_URL");
            let text = fault.to_string();
            assert!(text.contains(part) && !text.contains("hush"), "{url}: {text}");
        }
    }
}
