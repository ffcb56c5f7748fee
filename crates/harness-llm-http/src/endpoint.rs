//! From a configured base URL to the URL that is called.
use harness_llm::{FailureCode, LlmError};
use url::{Host, Url};

/// A usable endpoint.
///
/// The rule for base URLs, with or without a slash at the end, for an operation such as `chat/completions`:
///
/// | base URL | what is called |
/// |---|---|
/// | `http://host` (no path) | `http://host/v1/chat/completions` |
/// | `http://host/v1`, or any other path | the path, then `/chat/completions` |
/// | a path that ends in `/chat/completions` | as it is |
///
/// A query is kept, as some gateways want a version there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: Url,
    /// Length of the path before the operation, its slash included.
    base: usize,
}

impl Endpoint {
    /// Reads a base URL; `operation` is called below it.
    ///
    /// # Errors
    /// [`FailureCode::INVALID_ENDPOINT`] if it is not an absolute `http` or `https` URL with a host, or holds a
    /// user name or password: a key has a setting of its own.
    pub fn parse(base_url: &str, operation: &str) -> Result<Self, LlmError> {
        let text = base_url.trim();
        let mut url =
            Url::parse(text).map_err(|error| invalid(&format!("`{text}` is not a URL: {error}")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("it holds a user name or password, which belongs into the key setting"));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid(&format!("`{text}` is neither http nor https")));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(invalid(&format!("`{text}` has no host")));
        }
        let path = url.path().trim_end_matches('/');
        let path = match path {
            "" => format!("/v1/{operation}"),
            path if path.ends_with(&format!("/{operation}")) => path.to_owned(),
            path => format!("{path}/{operation}"),
        };
        url.set_path(&path);
        url.set_fragment(None);
        Ok(Self { base: url.path().len() - operation.len(), url })
    }

    /// Where the server lists its models.
    pub fn models_url(&self) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}models", &self.url.path()[..self.base]));
        url
    }

    /// The URL to post to.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The URL for messages: without its query, which may be a credential.
    pub fn shown(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.into()
    }

    /// Host and port for messages.
    pub fn host_and_port(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port_or_known_default() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Whether the server is on this machine, where no key is needed.
    pub fn is_loopback(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    /// The host, without its port.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }
}

fn invalid(reason: &str) -> LlmError {
    let text =
        format!("the base URL cannot be used: {reason}; expected for example `https://api.openai.com/v1`");
    LlmError::new(FailureCode::INVALID_ENDPOINT, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(base: &str) -> Result<Endpoint, LlmError> {
        Endpoint::parse(base, "chat/completions")
    }

    #[test]
    fn base_urls_are_joined_by_the_documented_rule() {
        for (base, called) in [
            ("http://h", "http://h/v1/chat/completions"),
            ("http://h/", "http://h/v1/chat/completions"),
            ("http://h:8080/v1", "http://h:8080/v1/chat/completions"),
            ("http://h/v1/", "http://h/v1/chat/completions"),
            (" https://h/api/paas/v4// ", "https://h/api/paas/v4/chat/completions"),
            ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
            ("https://h/v1/chat/completions/", "https://h/v1/chat/completions"),
            ("https://h/openai?api-version=1#x", "https://h/openai/chat/completions?api-version=1"),
        ] {
            let endpoint = parse(base).unwrap();
            assert_eq!(endpoint.url().as_str(), called, "{base}");
            let models = endpoint.models_url();
            assert_eq!(models.as_str(), called.replace("chat/completions", "models"), "{base}");
        }
    }

    #[test]
    fn unusable_urls_are_refused_with_a_reason() {
        for (base, reason) in [
            ("", "not a URL"),
            ("api.openai.com/v1", "not a URL"),
            ("localhost:8080", "neither http nor https"),
            ("ftp://h/v1", "neither http nor https"),
            ("http://", "not a URL"),
            ("http://me:hush@h/v1", "user name or password"),
        ] {
            let error = parse(base).unwrap_err();
            assert_eq!(error.code(), "INVALID_ENDPOINT");
            assert!(error.0.message.contains(reason), "{base}: {error}");
            assert!(!error.0.message.contains("hush"));
        }
    }

    #[test]
    fn loopback_is_told_by_the_host() {
        for base in [
            "http://127.0.0.1:1",
            "http://localhost:1/v1",
            "http://[::1]:1",
            "http://127.9.9.9",
            "http://a.localhost",
        ] {
            assert!(parse(base).unwrap().is_loopback(), "{base}");
        }
        for base in [
            "http://10.0.0.1",
            "http://localhost.example.com",
            "https://api.openai.com/v1",
            "http://127.0.0.1.example.com",
        ] {
            assert!(!parse(base).unwrap().is_loopback(), "{base}");
        }
    }

    #[test]
    fn messages_do_not_show_the_query() {
        let endpoint = parse("http://h/v1?key=hush").unwrap();
        assert_eq!(endpoint.shown(), "http://h/v1/chat/completions");
        assert_eq!(endpoint.host_and_port(), "h:80");
    }
}
