//! From settings to provider routes: the known ones, changed and joined by the configured ones.
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use harness_config::Environment;
use harness_http::HttpConfig;
use harness_llm::ModelInfo;
use harness_llm_anthropic::AnthropicRoute;
use harness_llm_catalog::{KnownProvider, models_of, provider, providers};
use harness_llm_deepseek::DeepSeekRoute;
use harness_llm_http::{HttpAdapter, RouteConfig};
use harness_llm_openai::{OpenAiRoute, WireFormat};
use secrecy::SecretString;

use crate::error::BundleError;
use crate::settings::{HttpSettings, ModelsSettings, ProtocolSetting, ProviderSettings, ProvidersSettings};

/// The routes of one run.
pub(crate) struct Providers(BTreeMap<String, Route>);

struct Route {
    adapter: Adapter,
    key_variable: String,
    key: Option<SecretString>,
    default_model: Option<String>,
}

/// Which adapter serves a route.
enum Adapter {
    OpenAi(OpenAiRoute),
    DeepSeek(DeepSeekRoute),
    Anthropic(AnthropicRoute),
}

/// What all routes are made from.
pub(crate) struct Sources<'a> {
    pub(crate) providers: &'a ProvidersSettings,
    pub(crate) models: &'a ModelsSettings,
    pub(crate) http: &'a HttpSettings,
    pub(crate) environment: &'a Environment,
}

/// Builds the routes. A route without an address is left out: nothing can be asked of it.
pub(crate) fn resolve(sources: &Sources<'_>) -> Result<Providers, BundleError> {
    let mut names: Vec<String> = providers().into_iter().map(|known| known.name).collect();
    names.extend(sources.providers.0.keys().filter(|name| provider(name).is_none()).cloned());
    let mut routes = BTreeMap::new();
    for name in names {
        if let Some(route) = route(&name, sources)? {
            routes.insert(name, route);
        }
    }
    Ok(Providers(routes))
}

fn route(name: &str, sources: &Sources<'_>) -> Result<Option<Route>, BundleError> {
    let set = sources.providers.0.get(name).cloned().unwrap_or_default();
    let known = provider(name);
    let Some(base_url) = set.base_url.clone().or_else(|| known.as_ref().map(|known| known.base_url.clone()))
    else {
        return Ok(None);
    };
    let variable = set
        .api_key_env
        .clone()
        .or_else(|| known.as_ref().map(|known| known.api_key_env.clone()))
        .unwrap_or_else(|| format!("{}_API_KEY", name.to_uppercase().replace('-', "_")));
    let key = set.api_key.clone().or_else(|| sources.environment.get(&variable).map(str::to_owned));
    let key = key.map(SecretString::from);
    let mut config = RouteConfig {
        api_key: key.clone(),
        http: transport(sources.http),
        models: models(name, sources.models),
        headers: set.headers.clone(),
        extra_body: set.extra_body.clone(),
        ..RouteConfig::new(name, base_url, &*variable)
    };
    if let Some(seconds) = set.first_byte_timeout {
        config.first_byte_timeout = Duration::from_secs(seconds);
    }
    if let Some(seconds) = set.idle_timeout {
        config.idle_timeout = Duration::from_secs(seconds);
    }
    let default_model = set.default_model.clone();
    let default_model =
        default_model.or_else(|| known.as_ref().and_then(|known| known.default_model.clone()));
    let adapter = adapter(name, config, &set, known.as_ref())?;
    Ok(Some(Route { adapter, key_variable: variable, key, default_model }))
}

fn adapter(
    name: &str,
    route: RouteConfig,
    set: &ProviderSettings,
    known: Option<&KnownProvider>,
) -> Result<Adapter, BundleError> {
    let protocol = protocol(set, known);
    let is_chat = matches!(protocol, ProtocolSetting::ChatCompletions | ProtocolSetting::DeepSeek);
    if set.compat.is_some() && !is_chat {
        let text = format!(
            "providers.{name}.compat is for chat completions, but the route speaks `{}`; remove one of them",
            protocol.word()
        );
        return Err(BundleError::Setting(text));
    }
    if set.encrypted_reasoning.is_some() && protocol != ProtocolSetting::Responses {
        let text = format!("providers.{name}.encrypted_reasoning is for the responses format; remove it");
        return Err(BundleError::Setting(text));
    }
    Ok(match protocol {
        ProtocolSetting::ChatCompletions => {
            let compat = set.compat.clone().or_else(|| {
                // Right by the catalog's own test.
                let compat = known.map(|known| known.compat.clone()).filter(|compat| !compat.is_empty())?;
                serde_json::from_value(compat.into()).ok()
            });
            let format = WireFormat::ChatCompletions(compat.unwrap_or_default());
            Adapter::OpenAi(OpenAiRoute { route, format })
        }
        ProtocolSetting::Responses => {
            let mut compat = harness_llm_openai::ResponsesCompat::default();
            compat.encrypted_reasoning = set.encrypted_reasoning.unwrap_or(compat.encrypted_reasoning);
            Adapter::OpenAi(OpenAiRoute { route, format: WireFormat::Responses(compat) })
        }
        ProtocolSetting::Messages => Adapter::Anthropic(AnthropicRoute { route }),
        ProtocolSetting::DeepSeek => Adapter::DeepSeek(DeepSeekRoute { route, compat: set.compat.clone() }),
    })
}

/// What a route speaks: what the settings say, else what the catalog says. Servers at other addresses that go by the
/// name of `openai` speak chat completions, as far as is known.
fn protocol(set: &ProviderSettings, known: Option<&KnownProvider>) -> ProtocolSetting {
    if let Some(protocol) = set.protocol {
        return protocol;
    }
    let known = known.and_then(|known| ProtocolSetting::of(&known.protocol)).unwrap_or_default();
    match known {
        ProtocolSetting::Responses if set.base_url.is_some() => ProtocolSetting::ChatCompletions,
        known => known,
    }
}

/// What is known of a route's models: the catalog, changed and joined by the settings.
fn models(provider: &str, settings: &ModelsSettings) -> Vec<ModelInfo> {
    let mut models: BTreeMap<String, ModelInfo> = models_of(provider)
        .map(|known| {
            let (context_window, max_output) = (known.context_window, known.max_output);
            (known.model.clone(), ModelInfo { model: known.model, context_window, max_output })
        })
        .collect();
    for (name, set) in &settings.0 {
        let Some(model) = name.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')) else {
            continue;
        };
        let info = models.entry(model.to_owned()).or_insert_with(|| ModelInfo {
            model: model.to_owned(),
            context_window: None,
            max_output: None,
        });
        info.context_window = set.context_window.or(info.context_window);
        info.max_output = set.max_output.or(info.max_output);
    }
    models.into_values().collect()
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
    /// The routes that speak OpenAI's formats.
    pub(crate) fn openai(&self) -> Vec<OpenAiRoute> {
        self.of(|adapter| if let Adapter::OpenAi(route) = adapter { Some(route) } else { None })
    }
    /// The routes that behave like DeepSeek.
    pub(crate) fn deepseek(&self) -> Vec<DeepSeekRoute> {
        self.of(|adapter| if let Adapter::DeepSeek(route) = adapter { Some(route) } else { None })
    }
    /// The routes that speak Anthropic's format.
    pub(crate) fn anthropic(&self) -> Vec<AnthropicRoute> {
        self.of(|adapter| if let Adapter::Anthropic(route) = adapter { Some(route) } else { None })
    }
    fn of<R: Clone>(&self, pick: impl Fn(&Adapter) -> Option<&R>) -> Vec<R> {
        self.0.values().filter_map(|route| pick(&route.adapter).cloned()).collect()
    }
    /// The model to ask for at a route: the named one, else the route's own.
    pub(crate) fn model(&self, provider: &str, named: Option<&String>) -> Result<String, BundleError> {
        let Some(route) = self.0.get(provider) else {
            return Err(BundleError::UnknownProvider(provider.to_owned()));
        };
        let model = named.or(route.default_model.as_ref()).cloned();
        model.ok_or_else(|| BundleError::NoModel(provider.to_owned()))
    }
    /// A route's adapter, to ask its server about models.
    pub(crate) fn adapter(&self, provider: &str) -> Result<HttpAdapter, BundleError> {
        let route = self.0.get(provider).ok_or_else(|| BundleError::UnknownProvider(provider.to_owned()))?;
        Ok(match &route.adapter {
            Adapter::OpenAi(route) => harness_llm_openai::adapter(route.clone()),
            Adapter::DeepSeek(route) => harness_llm_deepseek::adapter(route.clone()),
            Adapter::Anthropic(route) => harness_llm_anthropic::adapter(route.clone()),
        })
    }
    /// Each route with its address and whether it has a key.
    pub(crate) fn described(&self) -> impl Iterator<Item = (&RouteConfig, bool)> {
        self.0.values().map(|route| {
            let config = match &route.adapter {
                Adapter::OpenAi(adapter) => &adapter.route,
                Adapter::DeepSeek(adapter) => &adapter.route,
                Adapter::Anthropic(adapter) => &adapter.route,
            };
            (config, route.key.is_some())
        })
    }
    /// Variables that hold keys: no command may see them.
    pub(crate) fn key_variables(&self) -> Vec<String> {
        self.0.values().map(|route| route.key_variable.clone()).collect()
    }
    /// The keys themselves: no variable of any name may carry one into a command.
    pub(crate) fn keys(&self) -> Vec<SecretString> {
        self.0.values().filter_map(|route| route.key.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use harness_llm_chat_completions::Compat;

    use super::*;

    #[test]
    fn what_the_catalog_says_of_providers_is_understood() {
        for known in providers() {
            assert!(ProtocolSetting::of(&known.protocol).is_some(), "{known:?}");
            serde_json::from_value::<Compat>(known.compat.clone().into()).unwrap();
        }
    }

    #[test]
    fn the_settings_have_the_last_word_on_models() {
        let settings: ModelsSettings = serde_json::from_value(serde_json::json!({
            "deepseek/deepseek-flash": {"context_window": 5},
            "deepseek/mine": {"max_output": 7},
            "other/mine": {"max_output": 8},
        }))
        .unwrap();
        let models = models("deepseek", &settings);
        let find = |name: &str| models.iter().find(|info| info.model == name).unwrap();
        assert_eq!(find("deepseek-flash").context_window, Some(5));
        assert_eq!(find("deepseek-flash").max_output, Some(384_000));
        assert_eq!((find("mine").context_window, find("mine").max_output), (None, Some(7)));
    }
}
