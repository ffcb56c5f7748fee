#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod catalog;
mod error;
mod harness;
mod hooks;
mod instructions;
mod models;
mod prompt;
mod providers;
mod replay;
mod settings;
mod storage;
mod surroundings;
mod upkeep;

pub use catalog::{Catalog, catalog};
pub use error::BundleError;
pub use harness::{Harness, OpenedAgent};
pub use hooks::{hooks_config, trust_hooks};
pub use models::{ModelRow, known_models, served_models};
pub use replay::replay_session;
pub use settings::{
    AgentSettings, BackendSetting, BashSection, CompressionSetting, DurabilitySetting, FsPolicySection,
    HttpSettings, ModelEntry, ModelSettings, ModelsSettings, PermissionSection, ProtocolSetting,
    ProviderSettings, ProvidersSettings, SessionSettings, sections,
};
pub use storage::storage;
pub use upkeep::{
    BudgetSection, CompactSection, PriceSettings, PricesSettings, RetrySection, TextCallsSection,
    ToolSettings,
};
