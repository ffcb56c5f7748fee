//! What is known of models, and what their servers say.
use harness_config::{Config, Environment};
use harness_llm_catalog::find;
use harness_llm_http::ListedModel;
use serde::Serialize;

use crate::error::BundleError;
use crate::providers::{Sources, resolve};
use crate::settings::{HttpSettings, ModelsSettings, ProvidersSettings};
use crate::upkeep::{PriceSettings, PricesSettings};

/// One model that is known of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelRow {
    /// The provider's route.
    pub provider: String,
    /// The model's name.
    pub model: String,
    /// Context window in tokens.
    pub context_window: Option<u64>,
    /// Most answer tokens.
    pub max_output: Option<u64>,
    /// What tokens cost, in US dollars a million; `None` where it is not known.
    pub price: Option<PriceSettings>,
    /// Whether there is a key for the route.
    pub has_key: bool,
    /// Year and month in which the catalog's line was read; `None` for what the settings say.
    pub as_of: Option<String>,
    /// What the numbers do not say.
    pub note: Option<String>,
}

fn routes(config: &Config, environment: &Environment) -> Result<crate::providers::Providers, BundleError> {
    let (providers, models): (ProvidersSettings, ModelsSettings) = (config.section()?, config.section()?);
    let http: HttpSettings = config.section()?;
    resolve(&Sources { providers: &providers, models: &models, http: &http, environment })
}

/// The models of the catalog and the settings, by provider.
///
/// # Errors
/// For settings that cannot be used.
pub fn known_models(config: &Config, environment: &Environment) -> Result<Vec<ModelRow>, BundleError> {
    let prices: PricesSettings = config.section()?;
    let mut rows = Vec::new();
    for (route, has_key) in routes(config, environment)?.described() {
        for info in &route.models {
            let known = find(&route.name, &info.model);
            rows.push(ModelRow {
                provider: route.name.clone(),
                model: info.model.clone(),
                context_window: info.context_window,
                max_output: info.max_output,
                price: prices.of(&route.name, &info.model),
                has_key,
                as_of: known.as_ref().map(|known| known.as_of.clone()),
                note: known.and_then(|known| known.note),
            });
        }
    }
    Ok(rows)
}

/// Asks a provider's server which models it serves.
///
/// # Errors
/// [`BundleError::UnknownProvider`], or what the server or the connection to it says.
pub async fn served_models(
    config: &Config,
    environment: &Environment,
    provider: &str,
) -> Result<Vec<ListedModel>, BundleError> {
    let adapter = routes(config, environment)?.adapter(provider)?;
    adapter.list_models().await.map_err(BundleError::Model)
}
