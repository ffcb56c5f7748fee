//! The adapter: settings, checked at each call, and what calls share.
use std::sync::{Arc, Mutex, PoisonError};

use harness_http::StreamTimeouts;
use harness_llm::{CallConfig, FailureCode, LlmAdapter, LlmError, ModelInfo, PreparedCall};
use reqwest::Client;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::call::Call;
use crate::config::RouteConfig;
use crate::endpoint::Endpoint;
use crate::failure::Redactor;
use crate::protocol::Protocol;

/// Header names by which a key could be sent, which have a setting of their own.
const CREDENTIAL_HEADERS: [&str; 4] = ["authorization", "proxy-authorization", "api-key", "x-api-key"];

/// One provider route: a wire format at an address.
pub struct HttpAdapter(Arc<Route>);

/// What the calls of a route share.
pub(crate) struct Route {
    pub(crate) config: RouteConfig,
    pub(crate) protocol: Arc<dyn Protocol>,
    pub(crate) redactor: Redactor,
    pub(crate) timeouts: StreamTimeouts,
    pub(crate) endpoint: Result<Endpoint, LlmError>,
    key: Option<SecretString>,
    /// Made for the first request, then reused: it holds the open connections.
    client: Mutex<Option<Client>>,
}

impl HttpAdapter {
    /// An adapter. Nothing is looked up or opened; what is wrong with the settings shows at each call.
    pub fn new(config: RouteConfig, protocol: Arc<dyn Protocol>) -> Self {
        let endpoint = Endpoint::parse(&config.base_url, protocol.operation());
        // A key read from a file or a variable often has a line end.
        let key = config.api_key.as_ref().map(|key| key.expose_secret().trim());
        let key = key.filter(|key| !key.is_empty()).map(SecretString::from);
        Self(Arc::new(Route {
            redactor: key.clone().map(Redactor::new).unwrap_or_default(),
            timeouts: StreamTimeouts { first_byte: config.first_byte_timeout, idle: config.idle_timeout },
            endpoint,
            key,
            client: Mutex::default(),
            protocol,
            config,
        }))
    }
}

impl HttpAdapter {
    pub(crate) fn route(&self) -> &Route {
        &self.0
    }
}

impl LlmAdapter for HttpAdapter {
    fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
        let route = &self.0;
        let endpoint = route.endpoint.clone()?;
        let headers = route.headers(&endpoint)?;
        route.check_body(config)?;
        let known = route.config.models.iter().find(|entry| entry.model == config.model);
        let unknown = || ModelInfo { model: config.model.clone(), context_window: None, max_output: None };
        Ok(Arc::new(Call {
            route: Arc::clone(route),
            endpoint,
            headers,
            config: config.clone(),
            model: known.cloned().unwrap_or_else(unknown),
        }))
    }

    fn models(&self) -> Vec<ModelInfo> {
        self.0.config.models.clone()
    }
}

impl Route {
    /// The client, made at the first call.
    pub(crate) fn client(&self) -> Result<Client, LlmError> {
        let mut slot = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &*slot {
            return Ok(client.clone());
        }
        let client = harness_http::client(&self.config.http).map_err(|error| {
            LlmError::new(FailureCode::other(error.code()), format!("no model can be reached: {error}"))
        })?;
        Ok(slot.insert(client).clone())
    }

    pub(crate) fn headers(&self, endpoint: &Endpoint) -> Result<HeaderMap, LlmError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.config.headers {
            if CREDENTIAL_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                let text = format!("header `{name}` of provider `{}` carries a key", self.config.name);
                return Err(invalid(text + "; set it as `api_key`"));
            }
            let parsed = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            let Some((header, value)) = parsed else {
                let text = format!("header `{name}` of provider `{}` is not valid", self.config.name);
                return Err(invalid(text + "; use visible ASCII characters"));
            };
            headers.insert(header, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        for (name, value) in self.protocol.headers() {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = &self.key {
            let (header, text) = self.protocol.credential(key);
            let mut value = HeaderValue::try_from(text.expose_secret()).map_err(|_| {
                self.no_key("has characters that no key has, such as a line end in its middle")
            })?;
            value.set_sensitive(true);
            headers.insert(header, value);
        } else if !endpoint.is_loopback() {
            return Err(self.no_key("is not set"));
        }
        Ok(headers)
    }

    fn no_key(&self, what: &str) -> LlmError {
        let text =
            format!("the key of model provider `{}` {what}; set {}", self.config.name, self.key_source());
        LlmError::new(FailureCode::MISSING_CREDENTIAL, text)
    }

    /// Where the key belongs, for messages.
    pub(crate) fn key_source(&self) -> String {
        format!("the environment variable {} or `api_key` in the settings", self.config.api_key_env)
    }

    fn check_body(&self, config: &CallConfig) -> Result<(), LlmError> {
        if config.model.trim().is_empty() {
            let text = format!("no model is chosen for provider `{}`; name one", self.config.name);
            return Err(LlmError::new(FailureCode::UNKNOWN_MODEL, text));
        }
        if config.temperature.is_some_and(|temperature| !temperature.is_finite()) {
            return Err(invalid("the temperature is not a finite number".to_owned()));
        }
        self.protocol.check(config)?;
        let own_fields = self.protocol.own_fields();
        match self.config.extra_body.keys().find(|field| own_fields.contains(&field.as_str())) {
            Some(field) => {
                let text = format!("`extra_body` of provider `{}` sets `{field}`", self.config.name);
                Err(invalid(text + ", which the adapter writes itself; remove it"))
            }
            None => Ok(()),
        }
    }
}

fn invalid(text: String) -> LlmError {
    LlmError::new(FailureCode::INVALID_REQUEST, text)
}
