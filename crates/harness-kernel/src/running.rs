//! A running app: plugins can be added, reloaded, replaced and removed.
use std::sync::{Arc, Mutex};

use crate::app::{StartError, kept};
use crate::fiber::Ctx;
use crate::panic::{contain, lock};
use crate::plugin::{Plugin, Source};
use crate::teardown::DisposeError;

/// Where a plugin stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginState {
    /// Applied, and not disposed since.
    Active,
    /// It starts with the next change that brings what is missing.
    Waiting {
        /// The services that are missing now.
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

/// Why a change of a running app did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// No plugin has this name.
    #[error("no plugin is named {plugin}; the plugins are {}", .known.join(", "))]
    Unknown {
        /// The name asked for.
        plugin: String,
        /// The names that exist.
        known: Vec<&'static str>,
    },
    /// The plugin, or one that depends on it, did not start; the others run.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The plugin could not be stopped, and nothing was changed
    /// ([`FromOwnTask`](DisposeError::FromOwnTask)); or the change is done but a cleanup panicked.
    #[error("plugin {plugin} did not stop cleanly")]
    Dispose {
        /// The plugin's name.
        plugin: String,
        /// What went wrong.
        source: DisposeError,
    },
}
impl ChangeError {
    /// A stable code for each variant.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "plugin-unknown",
            Self::Start(error) => error.code(),
            Self::Dispose { source, .. } => source.code(),
        }
    }
}

struct Row {
    name: &'static str,
    source: Arc<dyn Source>,
    state: State,
}
enum State {
    Waiting,
    /// A context that was closed meanwhile counts as waiting.
    Active(Ctx),
    Failed(String),
}
impl Row {
    fn is_active(&self) -> bool {
        matches!(&self.state, State::Active(ctx) if !ctx.is_closed())
    }
}

/// A running app. It gives the root context, and it **must** be [shut down](Running::shutdown): listeners and
/// services that keep a context are freed by disposal only. Debug builds warn when that was forgotten.
pub struct Running {
    root: Ctx,
    rows: Mutex<Vec<Row>>,
    /// One change at a time.
    change: tokio::sync::Mutex<()>,
}

/// Disposes what was half started when a start is abandoned.
struct Started(Option<Ctx>);
impl Drop for Started {
    fn drop(&mut self) {
        if let Some(ctx) = &self.0 {
            ctx.dispose_soon();
        }
    }
}

impl Running {
    pub(crate) async fn start(
        root: Ctx,
        plugins: Vec<(&'static str, Arc<dyn Source>)>,
    ) -> Result<Self, StartError> {
        let rows = plugins.into_iter().map(|(name, source)| Row { name, source, state: State::Waiting });
        let mut guard = Started(Some(root.clone()));
        let app = Self { root, rows: Mutex::new(rows.collect()), change: tokio::sync::Mutex::default() };
        let outcome = app.settle().await.and_then(|()| app.unmet(|_| true));
        if let Err(error) = outcome {
            app.root.ended().await; // its failures are reported; the start error matters more
            return Err(error);
        }
        guard.0 = None;
        Ok(app)
    }
    /// The root context.
    #[must_use]
    pub fn ctx(&self) -> &Ctx {
        &self.root
    }
    /// Every plugin in list order.
    #[must_use]
    pub fn plugins(&self) -> Vec<PluginStatus> {
        let services = self.root.services();
        let status = |row: &Row| {
            let provided = services.iter().filter(|service| service.plugin == Some(row.name));
            let state = match &row.state {
                State::Failed(error) => PluginState::Failed { error: error.clone() },
                _ if row.is_active() => PluginState::Active,
                _ => PluginState::Waiting { needs: row.source.missing(&self.root) },
            };
            let provides = provided.map(|service| service.name).collect();
            PluginStatus { name: row.name, state, provides, needs: row.source.needs() }
        };
        lock(&self.rows).iter().map(status).collect()
    }
    /// Adds a plugin and starts it, and those that waited for it.
    ///
    /// # Errors
    /// [`ChangeError::Start`]; the plugin stays in the list unless its name is taken, and when its needs are
    /// unmet it starts once they are met.
    pub async fn add(&self, plugin: impl Plugin) -> Result<(), ChangeError> {
        let _change = self.change.lock().await;
        let (name, source) = kept(plugin);
        if self.find(name).is_ok() {
            return Err(StartError::Duplicate { plugin: name }.into());
        }
        lock(&self.rows).push(Row { name, source, state: State::Waiting });
        self.settle_all().await?;
        Ok(self.unmet(|row| row == name)?)
    }
    /// Disposes the plugin's dependents and then the plugin, applies it again, and restarts the dependents.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn reload(&self, name: &str) -> Result<(), ChangeError> {
        self.restart(name, None).await
    }
    /// As [`Running::reload`], with another plugin under the same name: its configuration has changed.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn replace_plugin(&self, name: &str, plugin: impl Plugin) -> Result<(), ChangeError> {
        self.restart(name, Some(kept(plugin).1)).await
    }
    /// Disposes the plugin's dependents and then the plugin, and forgets it. Returns the plugins that stopped
    /// with it and now wait for another provider.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn remove(&self, name: &str) -> Result<Vec<&'static str>, ChangeError> {
        let _change = self.change.lock().await;
        let active = |row: &&Row| row.is_active() && row.name != name;
        let before: Vec<_> = lock(&self.rows).iter().filter(active).map(|row| row.name).collect();
        let stopped = self.stop(name).await?;
        lock(&self.rows).retain(|row| row.name != name);
        let settled = self.settle_all().await;
        let now: Vec<_> = lock(&self.rows).iter().filter(active).map(|row| row.name).collect();
        settled.and(stopped)?;
        Ok(before.into_iter().filter(|row| !now.contains(row)).collect())
    }
    /// Disposes everything, dependents before what they depend on.
    ///
    /// # Errors
    /// [`DisposeError`].
    pub async fn shutdown(self) -> Result<(), DisposeError> {
        let _change = self.change.lock().await;
        self.root.dispose().await
    }

    async fn restart(&self, name: &str, source: Option<Arc<dyn Source>>) -> Result<(), ChangeError> {
        let _change = self.change.lock().await;
        let stopped = self.stop(name).await?;
        self.edit(name, |row| {
            row.source = source.unwrap_or_else(|| Arc::clone(&row.source));
            row.state = State::Waiting;
        });
        self.settle_all().await?;
        self.unmet(|row| row == name)?;
        stopped
    }
    fn find(&self, name: &str) -> Result<Option<Ctx>, ChangeError> {
        let rows = lock(&self.rows);
        match rows.iter().find(|row| row.name == name).map(|row| &row.state) {
            Some(State::Active(ctx)) => Ok(Some(ctx.clone())),
            Some(State::Waiting | State::Failed(_)) => Ok(None),
            None => {
                let known = rows.iter().map(|row| row.name).collect();
                Err(ChangeError::Unknown { plugin: name.to_owned(), known })
            }
        }
    }
    fn edit(&self, name: &str, change: impl FnOnce(&mut Row)) {
        if let Some(row) = lock(&self.rows).iter_mut().find(|row| row.name == name) {
            change(row);
        }
    }
    /// The outer error says that nothing was stopped, the inner one that it stopped with failures.
    async fn stop(&self, name: &str) -> Result<Result<(), ChangeError>, ChangeError> {
        let Some(ctx) = self.find(name)? else { return Ok(Ok(())) };
        let dispose = |source| ChangeError::Dispose { plugin: name.to_owned(), source };
        match ctx.dispose().await {
            Err(source @ DisposeError::FromOwnTask { .. }) => Err(dispose(source)),
            other => Ok(other.map_err(dispose)),
        }
    }
    /// Starts what can start, past failures; the first failure is returned.
    async fn settle_all(&self) -> Result<(), ChangeError> {
        let mut first = Ok(());
        while let Err(error) = self.settle().await {
            tracing::error!(%error, "a plugin did not start");
            first = first.and(Err(error.into()));
        }
        first
    }
    /// Starts the first plugin that can start, until none can or one fails. Each failure leaves one fewer.
    async fn settle(&self) -> Result<(), StartError> {
        loop {
            let waits = |row: &&Row| !row.is_active() && !matches!(row.state, State::Failed(_));
            let rows = lock(&self.rows);
            let waiting = rows.iter().filter(waits).map(|row| (row.name, Arc::clone(&row.source)));
            let waiting: Vec<_> = waiting.collect();
            drop(rows);
            let ready = waiting.into_iter().find(|(_, source)| source.missing(&self.root).is_empty());
            let Some((name, source)) = ready else { return Ok(()) };
            self.activate(name, &*source).await?;
        }
    }
    async fn activate(&self, name: &'static str, source: &dyn Source) -> Result<(), StartError> {
        if let Ok(Some(old)) = self.find(name) {
            old.ended().await; // stopped with its provider, perhaps not to the end
        }
        self.edit(name, |row| row.state = State::Waiting);
        let ctx = self.root.fork_plugin(name);
        let mut guard = Started(Some(ctx.clone()));
        let outcome = contain(source.apply(ctx.clone())).await;
        let closed = ctx.is_closed();
        if !closed && matches!(outcome, Ok(Ok(()))) {
            guard.0 = None;
            self.edit(name, |row| row.state = State::Active(ctx));
            return Ok(());
        }
        ctx.ended().await;
        let error = match outcome {
            // Its provider went away meanwhile, and it with the provider.
            Ok(_) if closed && !source.missing(&self.root).is_empty() => return Ok(()),
            Ok(Ok(())) => {
                StartError::Failed { plugin: name, source: "it was disposed while it started".into() }
            }
            Ok(Err(source)) => StartError::Failed { plugin: name, source },
            Err(source) => StartError::Panicked { plugin: name, source },
        };
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        let text = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        self.edit(name, |row| row.state = State::Failed(text));
        Err(error)
    }
    fn unmet(&self, admit: impl Fn(&str) -> bool) -> Result<(), StartError> {
        let waiting = self.plugins().into_iter().filter(|plugin| admit(plugin.name));
        let needs = waiting.flat_map(|plugin| match plugin.state {
            PluginState::Waiting { needs } => needs.into_iter().map(|need| (plugin.name, need)).collect(),
            _ => Vec::new(),
        });
        let needs: Vec<_> = needs.collect();
        if needs.is_empty() { Ok(()) } else { Err(StartError::Unmet(needs)) }
    }
}
impl std::ops::Deref for Running {
    type Target = Ctx;
    fn deref(&self) -> &Ctx {
        &self.root
    }
}
impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("plugins", &self.plugins()).finish_non_exhaustive()
    }
}
impl Drop for Running {
    fn drop(&mut self) {
        if cfg!(debug_assertions) && self.root.fiber().disposal.get().is_none() && !self.root.is_unused() {
            tracing::warn!(
                "a running app was dropped without `shutdown`; what its listeners keep is not freed"
            );
        }
    }
}
