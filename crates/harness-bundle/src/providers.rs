//! From settings to provider routes: the built-in ones, changed and joined by the configured ones.
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use harness_config::Environment;
use harness_http::HttpConfig;
use harness_llm_chat_completions::{Compat, ReasoningReplay};
use harness_llm_http::RouteConfig;
use harness_llm_openai::{OpenAiRoute, WireFormat};
use secrecy::SecretString;

use crate::error::BundleError;
use crate::settings::{HttpSettings, ProviderSettings, ProvidersSettings};

/// The routes of one run.
pub(crate) struct Providers(BTreeMap<String, Route>);

struct Route {
    config: OpenAiRoute,
    default_model: Option<String>,
}

/// Builds the routes. A route without an address is left out: nothing can be asked of it.
pub(crate) fn resolve(
    settings: &ProvidersSettings,
    http: &HttpSettings,
    environment: &Environment,
) -> Providers {
    let http = transport(http);
    let mut routes = BTreeMap::new();
    let mut names: Vec<&str> = vec!["deepseek", "openai"];
    names.extend(settings.0.keys().map(String::as_str).filter(|name| !["deepseek", "openai"].contains(name)));
    for name in names {
        let set = settings.0.get(name).cloned().unwrap_or_default();
        if let Some(route) = route(name, set, &http, environment) {
            routes.insert(name.to_owned(), route);
        }
    }
    Providers(routes)
}

fn route(name: &str, set: ProviderSettings, http: &HttpConfig, environment: &Environment) -> Option<Route> {
    let (url, model, reasoning) = match name {
        "deepseek" => (Some("https://api.deepseek.com"), Some("deepseek-chat"), ReasoningReplay::ToolCalls),
        "openai" => (Some("https://api.openai.com/v1"), None, ReasoningReplay::Never),
        _ => (None, None, ReasoningReplay::Never),
    };
    let variable =
        set.api_key_env.unwrap_or_else(|| format!("{}_API_KEY", name.to_uppercase().replace('-', "_")));
    let key = set.api_key.or_else(|| environment.get(&variable).map(str::to_owned));
    let base_url = set.base_url.or_else(|| url.map(str::to_owned))?;
    let mut config = RouteConfig {
        api_key: key.map(SecretString::from),
        http: http.clone(),
        ..RouteConfig::new(name, base_url, variable)
    };
    if let Some(seconds) = set.first_byte_timeout {
        config.first_byte_timeout = Duration::from_secs(seconds);
    }
    if let Some(seconds) = set.idle_timeout {
        config.idle_timeout = Duration::from_secs(seconds);
    }
    let format = WireFormat::ChatCompletions(Compat { reasoning_replay: reasoning, ..Compat::default() });
    let config = OpenAiRoute { route: config, format };
    Some(Route { config, default_model: set.default_model.or_else(|| model.map(str::to_owned)) })
}

pub(crate) fn transport(settings: &HttpSettings) -> HttpConfig {
    let mut http = HttpConfig::default();
    if let Some(seconds) = settings.connect_timeout {
        http.connect_timeout = Duration::from_secs(seconds);
    }
    http.extra_ca = settings.extra_ca.iter().map(PathBuf::from).collect();
    if let Some(Ok(proxy)) = settings.proxy.as_ref().map(|proxy| proxy.parse()) {
        http.proxy = proxy;
    }
    http
}

impl Providers {
    /// The adapters' settings.
    pub(crate) fn configs(&self) -> Vec<OpenAiRoute> {
        self.0.values().map(|route| route.config.clone()).collect()
    }
    /// The model to ask for at a route: the named one, else the route's own.
    pub(crate) fn model(&self, provider: &str, named: Option<&String>) -> Result<String, BundleError> {
        let Some(route) = self.0.get(provider) else {
            return Err(BundleError::UnknownProvider(provider.to_owned()));
        };
        let model = named.or(route.default_model.as_ref()).cloned();
        model.ok_or_else(|| BundleError::NoModel(provider.to_owned()))
    }
    /// Variables that hold keys: no command may see them.
    pub(crate) fn key_variables(&self) -> Vec<String> {
        self.0.values().map(|route| route.config.route.api_key_env.clone()).collect()
    }
    /// The keys themselves: no variable of any name may carry one into a command.
    pub(crate) fn keys(&self) -> Vec<SecretString> {
        self.0.values().filter_map(|route| route.config.route.api_key.clone()).collect()
    }
}
