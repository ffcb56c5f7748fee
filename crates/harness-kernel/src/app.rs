//! An app is a list of plugins; each starts when what it needs exists.
use std::sync::Arc;

use crate::plugin::{Plugin, PluginError, Source};
use crate::{fiber::Ctx, running::Running, teardown::DisposeError};

/// Why an app did not start, or why a change of a running app did not end well. It names the plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Plugins wait for services that nobody provides: pairs of plugin and service.
    #[error("plugins cannot start: {list}", list = .0.iter().map(|(plugin, need)| format!("{plugin} needs {need}, but no plugin provides {need}")).collect::<Vec<_>>().join("; "))]
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
    /// The plugin cannot be stopped by a task that ends with it. Nothing was changed.
    #[error("plugin {0} was not stopped")]
    NotStopped(String, #[source] DisposeError),
    /// There is no tokio runtime to run tasks on.
    #[error("no tokio runtime is running; start the app inside one")]
    NoRuntime,
}
impl StartError {
    /// A stable code for each variant.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unmet(_) => "plugin-need-unmet",
            Self::Duplicate(_) => "plugin-name-duplicate",
            Self::Failed(..) => "plugin-failed",
            Self::Unknown(_) => "plugin-unknown",
            Self::NotStopped(..) => "plugin-not-stopped",
            Self::NoRuntime => "no-runtime",
        }
    }
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
