//! An app is a list of plugins; each starts when what it needs exists.
use std::sync::Arc;

use crate::fiber::Ctx;
use crate::panic::Panic;
use crate::plugin::{Factory, Plugin, PluginError, Source};
use crate::running::Running;

/// Why an app, or one plugin of a running app, did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Plugins wait for services that nobody provides: pairs of plugin and service.
    #[error(
        "plugins cannot start: {}",
        .0.iter().map(|(plugin, need)| format!("{plugin} needs {need}, but no plugin provides {need}")).collect::<Vec<_>>().join("; ")
    )]
    Unmet(Vec<(&'static str, &'static str)>),
    /// Two plugins have one name.
    #[error("two plugins are named {plugin}; remove one of them")]
    Duplicate {
        /// The name.
        plugin: &'static str,
    },
    /// A plugin's `apply` returned an error.
    #[error("plugin {plugin} failed to start")]
    Failed {
        /// The plugin's name.
        plugin: &'static str,
        /// What it said.
        source: PluginError,
    },
    /// A plugin's `apply` panicked.
    #[error("plugin {plugin} panicked while it started")]
    Panicked {
        /// The plugin's name.
        plugin: &'static str,
        /// What it said.
        source: Panic,
    },
    /// There is no tokio runtime to run tasks on.
    #[error("no tokio runtime is running; start the app inside one")]
    NoRuntime,
}
impl StartError {
    /// A stable code for each variant.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unmet(_) => "plugin-need-unmet",
            Self::Duplicate { .. } => "plugin-name-duplicate",
            Self::Failed { .. } => "plugin-failed",
            Self::Panicked { .. } => "plugin-panicked",
            Self::NoRuntime => "no-runtime",
        }
    }
}

/// A list of plugins that is not running yet.
#[derive(Default)]
pub struct App {
    plugins: Vec<(&'static str, Arc<dyn Source>)>,
}
impl App {
    /// Adds a plugin; list order matters only among plugins that are ready together. A reload applies the
    /// same value again.
    #[must_use]
    pub fn with(mut self, plugin: impl Plugin) -> Self {
        self.plugins.push(kept(plugin));
        self
    }
    /// Adds a plugin that is made anew each time it is applied. `name` counts, not [`Plugin::name`].
    #[must_use]
    pub fn with_factory<P: Plugin>(
        mut self,
        name: &'static str,
        make: impl Fn() -> P + Send + Sync + 'static,
    ) -> Self {
        self.plugins.push((name, Arc::new(Factory(make))));
        self
    }
    /// Starts every plugin once what it needs exists. On an error, what had started is disposed.
    ///
    /// # Errors
    /// [`StartError`], which names the plugin.
    pub async fn start(self) -> Result<Running, StartError> {
        for (at, (plugin, _)) in self.plugins.iter().enumerate() {
            if self.plugins[..at].iter().any(|(other, _)| other == plugin) {
                return Err(StartError::Duplicate { plugin });
            }
        }
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        Running::start(Ctx::root(runtime), self.plugins).await
    }
}

/// A plugin that is applied again as it is.
pub(crate) fn kept<P: Plugin>(plugin: P) -> (&'static str, Arc<dyn Source>) {
    let (name, plugin) = (plugin.name(), Arc::new(plugin));
    (name, Arc::new(Factory(move || Arc::clone(&plugin))))
}
