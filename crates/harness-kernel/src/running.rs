//! A running app: plugins can be added, reloaded, replaced and removed.
use std::error::Error;
use std::sync::{Arc, Mutex};

use crate::app::{StartError, kept};
use crate::panic::{contain, lock};
use crate::plugin::{Plugin, PluginError, Source};
use crate::{fiber::Ctx, teardown::DisposeError};

/// Where a plugin stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginState {
    /// Applied, and not disposed since.
    Active,
    /// It starts with the next change that brings the services that it misses.
    #[expect(missing_docs, reason = "the line above says it")]
    Waiting { needs: Vec<&'static str> },
    /// It did not start, for this error with its causes; reload or replace it.
    #[expect(missing_docs, reason = "the line above says it")]
    Failed { error: String },
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
/// Disposes what was half started when a start is abandoned.
struct Abandoned(Option<Ctx>);
impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.iter().for_each(Ctx::dispose_soon);
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
impl Running {
    pub(crate) async fn start(root: Ctx, plugins: Vec<(&'static str, Source)>) -> Result<Self, StartError> {
        let rows = Mutex::new(plugins.into_iter().map(Row::new).collect());
        let app = Self { root, rows, change: tokio::sync::Mutex::default() };
        let mut guard = Abandoned(Some(app.root.clone()));
        if let Err(error) = app.settle(|_| true).await {
            app.root.ended().await; // its panics were reported; the start error matters more
            return Err(error);
        }
        guard.0 = None;
        Ok(app)
    }
    /// The root context.
    pub fn ctx(&self) -> &Ctx {
        &self.root
    }
    /// Every plugin, in list order.
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
                .filter_map(|info| (info.plugin == Some(row.name)).then_some(info.name))
                .collect(),
            needs: (row.source.needs)(),
        };
        lock(&self.rows).iter().map(status).collect()
    }
    /// Adds a plugin and starts it, and those that waited for it. When its needs are unmet this fails, and
    /// the plugin stays in the list until they are met.
    pub async fn add(&self, plugin: impl Plugin) -> Result<(), StartError> {
        let _change = self.change.lock().await;
        let row = Row::new(kept(plugin));
        let name = row.name;
        if find(&mut lock(&self.rows), name).is_ok() {
            return Err(StartError::Duplicate(name));
        }
        lock(&self.rows).push(row);
        self.settle(|row| row == name).await
    }
    /// Disposes the plugin's dependents and then the plugin, applies it again, and restarts the dependents.
    /// Fails when one of them does not start again; the others run.
    pub async fn reload(&self, name: &str) -> Result<(), StartError> {
        let _change = self.change.lock().await;
        self.stop(name).await?;
        self.settle(|row| row == name).await
    }
    /// As [`Running::reload`], with another plugin under the same name: its configuration has changed.
    pub async fn replace_plugin(&self, name: &str, plugin: impl Plugin) -> Result<(), StartError> {
        let _change = self.change.lock().await;
        self.stop(name).await?;
        find(&mut lock(&self.rows), name)?.source = kept(plugin).1;
        self.settle(|row| row == name).await
    }
    /// Disposes the plugin's dependents and then the plugin, and forgets it. Returns the names of the plugins
    /// that stopped with it; they wait for another provider.
    pub async fn remove(&self, name: &str) -> Result<Vec<&'static str>, StartError> {
        let _change = self.change.lock().await;
        let active = || lock(&self.rows).iter().filter(|row| row.is_active()).map(|row| row.name).collect();
        let mut stopped: Vec<_> = active();
        self.stop(name).await?;
        lock(&self.rows).retain(|row| row.name != name);
        self.settle(|_| false).await?;
        let still: Vec<_> = active();
        stopped.retain(|row| *row != name && !still.contains(row));
        Ok(stopped)
    }
    /// Disposes everything, dependents before what they depend on. See [`Ctx::dispose`].
    pub async fn shutdown(self) -> Result<(), DisposeError> {
        self.root.dispose().await
    }

    /// Disposes a plugin. Panics of cleanups were reported, and the change goes on.
    async fn stop(&self, name: &str) -> Result<(), StartError> {
        let ctx = find(&mut lock(&self.rows), name)?.ctx.clone();
        if let Some(ctx) = ctx
            && let Err(source @ DisposeError::FromOwnTask(_)) = ctx.dispose().await
        {
            return Err(StartError::NotStopped(name.to_owned(), source));
        }
        find(&mut lock(&self.rows), name)?.failure = None;
        Ok(())
    }
    /// Starts what can start, past failures. Returns the first failure, or what the `expected` still need.
    async fn settle(&self, expected: impl Fn(&str) -> bool) -> Result<(), StartError> {
        let mut first = Ok(());
        while let Some((name, source)) = self.next_ready() {
            if let Err(error) = self.activate(name, source).await {
                let causes = std::iter::successors(Some(&error as &dyn Error), |error| (*error).source());
                let text = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
                tracing::error!(error = text, "a plugin did not start");
                find(&mut lock(&self.rows), name)?.failure = Some(text);
                first = first.and(Err(error));
            }
        }
        first?;
        let mut unmet = Vec::new();
        for plugin in self.plugins().into_iter().filter(|plugin| expected(plugin.name)) {
            if let PluginState::Waiting { needs } = plugin.state {
                unmet.extend(needs.into_iter().map(|need| (plugin.name, need)));
            }
        }
        if unmet.is_empty() { Ok(()) } else { Err(StartError::Unmet(unmet)) }
    }
    fn next_ready(&self) -> Option<(&'static str, Source)> {
        let rows = lock(&self.rows);
        let waiting = rows.iter().filter(|row| !row.is_active() && row.failure.is_none());
        let waiting: Vec<_> = waiting.map(|row| (row.name, row.source.clone())).collect();
        drop(rows); // a plugin's `Deps` are user code
        waiting.into_iter().find(|(_, source)| source.missing(&self.root).is_empty())
    }
    async fn activate(&self, name: &'static str, source: Source) -> Result<(), StartError> {
        let old = find(&mut lock(&self.rows), name)?.ctx.take();
        if let Some(old) = old {
            old.ended().await; // it stopped with its provider, perhaps not to the end yet
        }
        let ctx = self.root.child(name.to_owned(), Some(name), Arc::clone(&self.root.0.scope));
        let mut guard = Abandoned(Some(ctx.clone()));
        let outcome = contain(async { (source.apply)(ctx.clone()).await }).await;
        let closed = ctx.is_closed();
        if !closed && matches!(outcome, Ok(Ok(()))) {
            find(&mut lock(&self.rows), name)?.ctx = guard.0.take();
            return Ok(());
        }
        ctx.ended().await;
        let source: PluginError = match outcome {
            // Its provider went away meanwhile, and it with the provider.
            Ok(_) if closed && !source.missing(&self.root).is_empty() => return Ok(()),
            Ok(Ok(())) => "it was disposed while it started".into(),
            Ok(Err(source)) => source,
            Err(panic) => panic.into(),
        };
        Err(StartError::Failed(name, source))
    }
}
fn find<'a>(rows: &'a mut [Row], name: &str) -> Result<&'a mut Row, StartError> {
    rows.iter_mut().find(|row| row.name == name).ok_or_else(|| StartError::Unknown(name.to_owned()))
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
        let root = &self.root.0;
        if cfg!(debug_assertions)
            && root.disposal.get().is_none()
            && !lock(&root.registrations).undo.is_empty()
        {
            tracing::warn!(
                "a running app was dropped without `shutdown`; what its listeners keep is not freed"
            );
        }
    }
}
