//! What the booted bundle offers, for the generated catalog.
use std::path::Path;

use harness_config::{Config, Environment, Paths, SectionInfo};
use harness_kernel::{ListenerInfo, ServiceInfo};
use harness_llm::ToolSpec;
use harness_tools::Tools;

use crate::error::BundleError;
use crate::harness::Harness;
use crate::settings::sections;

/// Facts of a booted bundle.
#[derive(Debug)]
pub struct Catalog {
    /// The default tools, as the model is told of them.
    pub tools: Vec<ToolSpec>,
    /// The sections of the settings.
    pub sections: Vec<SectionInfo>,
    /// Services that plugins provide.
    pub services: Vec<ServiceInfo>,
    /// Listeners that plugins register.
    pub listeners: Vec<ListenerInfo>,
}

/// Boots the bundle with default settings, without touching a disk or a network, and looks at it.
pub async fn catalog() -> Result<Catalog, BundleError> {
    let environment: Environment = [("PATH", "/usr/local/bin:/usr/bin:/bin")].into_iter().collect();
    let config: Config = sections(Config::builder()).build();
    let harness = Harness::start(&config, &environment, &Paths::under(Path::new("/nonexistent"))).await?;
    let ctx = harness.ctx();
    let tools = ctx.service::<Tools>().ok_or(BundleError::Missing("tools"))?.specs(ctx);
    let (services, listeners) = (ctx.services(), ctx.listeners());
    harness.shutdown().await?;
    Ok(Catalog { tools, sections: config.into_sections(), services, listeners })
}
