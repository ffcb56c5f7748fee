//! A running app: plugins can be added, reloaded, replaced and removed.
use std::sync::Mutex;

use crate::app::{PluginState, PluginStatus, StartError, kept};
use crate::fiber::Ctx;
use crate::panic::{contain, lock};
use crate::plugin::{Plugin, PluginError, Source};
use crate::teardown::DisposeError;

struct Row {
    name: &'static str,
    source: Source,
    /// The context of the last start. One that was closed since counts as waiting.
    ctx: Option<Ctx>,
    failure: Option<String>,
}
impl Row {
    fn new((name, source): (&'static str, Source)) -> Self {
        Self { name, source, ctx: None, failure: None }
    }
    fn is_active(&self) -> bool {
        self.ctx.as_ref().is_some_and(|ctx| !ctx.is_closed())
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
struct Abandoned(Option<Ctx>);
impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.iter().for_each(Ctx::dispose_soon);
    }
}

impl Running {
    pub(crate) async fn start(root: Ctx, plugins: Vec<(&'static str, Source)>) -> Result<Self, StartError> {
        let rows = Mutex::new(plugins.into_iter().map(Row::new).collect());
        let app = Self { root, rows, change: tokio::sync::Mutex::default() };
        let mut guard = Abandoned(Some(app.root.clone()));
        if let Err(error) = app.settle().await.and_then(|()| app.all_met(|_| true)) {
            app.root.ended().await; // its panics were reported; the start error matters more
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
    /// Every plugin, in list order.
    #[must_use]
    pub fn plugins(&self) -> Vec<PluginStatus> {
        let services = self.root.services();
        let status = |row: &Row| PluginStatus {
            name: row.name,
            state: match &row.failure {
                Some(error) => PluginState::Failed { error: error.clone() },
                None if row.is_active() => PluginState::Active,
                None => PluginState::Waiting { needs: row.source.missing(&self.root) },
            },
            provides: services
                .iter()
                .filter(|info| info.plugin == Some(row.name))
                .map(|info| info.name)
                .collect(),
            needs: (row.source.needs)(),
        };
        lock(&self.rows).iter().map(status).collect()
    }
    /// Adds a plugin and starts it, and those that waited for it.
    ///
    /// # Errors
    /// [`StartError`]. Unless its name is taken the plugin stays in the list, and unmet needs may be met later.
    pub async fn add(&self, plugin: impl Plugin) -> Result<(), StartError> {
        let _change = self.change.lock().await;
        let row = Row::new(kept(plugin));
        let name = row.name;
        if self.row(name, |_| ()).is_ok() {
            return Err(StartError::Duplicate(name));
        }
        lock(&self.rows).push(row);
        self.settle_all().await?;
        self.all_met(|row| row == name)
    }
    /// Disposes the plugin's dependents and then the plugin, applies it again, and restarts the dependents.
    ///
    /// # Errors
    /// [`StartError`] of the plugin, or of a dependent that did not come back.
    pub async fn reload(&self, name: &str) -> Result<(), StartError> {
        self.restart(name, None).await
    }
    /// As [`Running::reload`], with another plugin under the same name: its configuration has changed.
    ///
    /// # Errors
    /// As [`Running::reload`].
    pub async fn replace_plugin(&self, name: &str, plugin: impl Plugin) -> Result<(), StartError> {
        self.restart(name, Some(kept(plugin).1)).await
    }
    /// Disposes the plugin's dependents and then the plugin, and forgets it. Returns the names of the plugins
    /// that stopped with it; they wait for another provider.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn remove(&self, name: &str) -> Result<Vec<&'static str>, StartError> {
        let _change = self.change.lock().await;
        let mut active = self.active();
        let stopped = self.stop(name).await?;
        lock(&self.rows).retain(|row| row.name != name);
        let settled = self.settle_all().await;
        let still = self.active();
        active.retain(|row| *row != name && !still.contains(row));
        settled.and(stopped).map(|()| active)
    }
    /// Disposes everything, dependents before what they depend on.
    ///
    /// # Errors
    /// [`DisposeError`].
    pub async fn shutdown(self) -> Result<(), DisposeError> {
        let _change = self.change.lock().await;
        self.root.dispose().await
    }

    fn active(&self) -> Vec<&'static str> {
        lock(&self.rows).iter().filter(|row| row.is_active()).map(|row| row.name).collect()
    }
    fn row<R>(&self, name: &str, work: impl FnOnce(&mut Row) -> R) -> Result<R, StartError> {
        let mut rows = lock(&self.rows);
        let row = rows.iter_mut().find(|row| row.name == name);
        row.map(work).ok_or_else(|| StartError::Unknown(name.to_owned()))
    }
    async fn restart(&self, name: &str, source: Option<Source>) -> Result<(), StartError> {
        let _change = self.change.lock().await;
        let stopped = self.stop(name).await?;
        self.row(name, |row| {
            row.source = source.unwrap_or_else(|| row.source.clone());
            row.failure = None;
        })?;
        self.settle_all().await?;
        self.all_met(|row| row == name)?;
        stopped
    }
    /// The outer error says that nothing was stopped, the inner one that it stopped but a cleanup panicked.
    async fn stop(&self, name: &str) -> Result<Result<(), StartError>, StartError> {
        let Some(ctx) = self.row(name, |row| row.ctx.clone())? else { return Ok(Ok(())) };
        let failed = |source| StartError::Stop(name.to_owned(), source);
        match ctx.dispose().await {
            Err(source @ DisposeError::FromOwnTask(_)) => Err(failed(source)),
            other => Ok(other.map_err(failed)),
        }
    }
    /// Starts what can start, past failures; returns the first one.
    async fn settle_all(&self) -> Result<(), StartError> {
        let mut first = Ok(());
        while let Err(error) = self.settle().await {
            tracing::error!(error = chain(&error), "a plugin did not start");
            first = first.and(Err(error));
        }
        first
    }
    /// Starts what can start, up to the first failure.
    async fn settle(&self) -> Result<(), StartError> {
        loop {
            let waits = |row: &&Row| !row.is_active() && row.failure.is_none();
            let waiting: Vec<_> =
                lock(&self.rows).iter().filter(waits).map(|row| (row.name, row.source.clone())).collect();
            let ready = waiting.into_iter().find(|(_, source)| source.missing(&self.root).is_empty());
            let Some((name, source)) = ready else { return Ok(()) };
            self.activate(name, source).await?;
        }
    }
    async fn activate(&self, name: &'static str, source: Source) -> Result<(), StartError> {
        if let Some(old) = self.row(name, |row| row.ctx.take())? {
            old.ended().await; // it stopped with its provider, perhaps not to the end yet
        }
        let ctx = self.root.child(name.to_owned(), Some(name), self.root.0.scope.clone());
        let mut guard = Abandoned(Some(ctx.clone()));
        let outcome = contain(async { (source.apply)(ctx.clone()).await }).await;
        let closed = ctx.is_closed();
        let source: PluginError = match outcome {
            Ok(Ok(())) if !closed => {
                guard.0 = None;
                return self.row(name, |row| row.ctx = Some(ctx));
            }
            // Its provider went away meanwhile, and it with the provider.
            Ok(_) if closed && !source.missing(&self.root).is_empty() => return Ok(drop(ctx.ended().await)),
            Ok(Ok(())) => "it was disposed while it started".into(),
            Ok(Err(source)) => source,
            Err(panic) => panic.into(),
        };
        ctx.ended().await;
        let error = StartError::Failed(name, source);
        self.row(name, |row| row.failure = Some(chain(&error)))?;
        Err(error)
    }
    fn all_met(&self, admit: impl Fn(&str) -> bool) -> Result<(), StartError> {
        let mut unmet = Vec::new();
        for plugin in self.plugins().into_iter().filter(|plugin| admit(plugin.name)) {
            if let PluginState::Waiting { needs } = plugin.state {
                unmet.extend(needs.into_iter().map(|need| (plugin.name, need)));
            }
        }
        if unmet.is_empty() { Ok(()) } else { Err(StartError::Unmet(unmet)) }
    }
}
fn chain(error: &StartError) -> String {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
impl std::ops::Deref for Running {
    type Target = Ctx;
    fn deref(&self) -> &Ctx {
        &self.root
    }
}
impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Running").field(&self.plugins()).finish()
    }
}
impl Drop for Running {
    fn drop(&mut self) {
        if cfg!(debug_assertions) && self.root.0.disposal.get().is_none() && !self.root.0.is_unused() {
            tracing::warn!(
                "a running app was dropped without `shutdown`; what its listeners keep is not freed"
            );
        }
    }
}
