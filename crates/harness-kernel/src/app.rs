//! An app is a list of plugins; each starts when what it needs exists.
use std::sync::Arc;

use crate::fiber::Ctx;
use crate::plugin::{Plugin, PluginError, Source};
use crate::running::Running;
use crate::teardown::DisposeError;

/// Why an app did not start, or why a change of a running app did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Plugins wait for services that nobody provides: pairs of plugin and service.
    #[error("plugins cannot start: {list}", list = unmet(.0))]
    Unmet(Vec<(&'static str, &'static str)>),
    /// Two plugins have one name.
    #[error("two plugins are named {0}; remove or rename one of them")]
    Duplicate(&'static str),
    /// A plugin's `apply` returned an error or panicked; the source is then a [`Panic`](crate::Panic).
    #[error("plugin {0} failed to start")]
    Failed(&'static str, #[source] PluginError),
    /// No plugin has this name.
    #[error("no plugin is named {0}; `Running::plugins` lists them")]
    Unknown(String),
    /// The plugin was not stopped and nothing was changed ([`DisposeError::FromOwnTask`]), or the change is
    /// done but a cleanup panicked.
    #[error("plugin {0} did not stop cleanly")]
    Stop(String, #[source] DisposeError),
    /// There is no tokio runtime to run tasks on.
    #[error("no tokio runtime is running; start the app inside one")]
    NoRuntime,
}
fn unmet(needs: &[(&str, &str)]) -> String {
    let text = |(plugin, need): &(_, _)| format!("{plugin} needs {need}, but no plugin provides {need}");
    needs.iter().map(text).collect::<Vec<_>>().join("; ")
}
impl StartError {
    /// A stable code for each variant.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unmet(_) => "plugin-need-unmet",
            Self::Duplicate(_) => "plugin-name-duplicate",
            Self::Failed(..) => "plugin-failed",
            Self::Unknown(_) => "plugin-unknown",
            Self::Stop(_, source) => source.code(),
            Self::NoRuntime => "no-runtime",
        }
    }
}

/// Where a plugin stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginState {
    /// Applied, and not disposed since.
    Active,
    /// It starts with the next change that brings the services that it misses.
    Waiting {
        /// Those services.
        needs: Vec<&'static str>,
    },
    /// It did not start; reload or replace it.
    Failed {
        /// The error with its causes.
        error: String,
    },
}
/// One plugin of a running app, for the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginStatus {
    /// The plugin's name.
    pub name: &'static str,
    /// Where it stands.
    pub state: PluginState,
    /// The services it provides to the whole app now.
    pub provides: Vec<&'static str>,
    /// The services that must exist before it starts.
    pub needs: Vec<&'static str>,
}

/// A list of plugins that is not running yet.
#[derive(Default)]
pub struct App(Vec<(&'static str, Source)>);

impl App {
    /// Adds a plugin; a reload applies the same value again. List order matters only among plugins that are
    /// ready together.
    #[must_use]
    pub fn with(mut self, plugin: impl Plugin) -> Self {
        self.0.push(kept(plugin));
        self
    }
    /// Adds a plugin that is made anew each time it is applied; `name` counts, not [`Plugin::name`].
    #[must_use]
    pub fn with_factory<P: Plugin>(
        mut self,
        name: &'static str,
        make: impl Fn() -> P + Send + Sync + 'static,
    ) -> Self {
        self.0.push((name, Source::new(move || Arc::new(make()))));
        self
    }
    /// Starts every plugin once what it needs exists. On an error, what had started is disposed.
    ///
    /// # Errors
    /// [`StartError`], which names the plugin.
    pub async fn start(self) -> Result<Running, StartError> {
        let mut names: Vec<_> = self.0.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(StartError::Duplicate(pair[0]));
        }
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        Running::start(Ctx::root(runtime), self.0).await
    }
}
pub(crate) fn kept(plugin: impl Plugin) -> (&'static str, Source) {
    let (name, plugin) = (plugin.name(), Arc::new(plugin));
    (name, Source::new(move || Arc::clone(&plugin)))
}
