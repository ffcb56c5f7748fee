//! Plugins state what they need in a type.
use std::sync::Arc;

use crate::service::{Lazy, Service};
use crate::{BoxFuture, fiber::Ctx};

/// Why a plugin refused to start.
pub type PluginError = Box<dyn std::error::Error + Send + Sync>;

/// Something a plugin can ask for: `Arc<dyn S>` (must exist), [`Lazy<dyn S>`](Lazy) (looked up at each use),
/// tuples of up to six of these, tuples of tuples, or a struct of your own that delegates to a tuple.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a dependency",
    note = "use `Arc<dyn S>`, `Lazy<dyn S>`, a tuple of up to six, or implement `Deps` for a struct"
)]
pub trait Deps: Sized + Send {
    /// The names of the services that must exist.
    fn needs() -> Vec<&'static str>;
    /// Resolves all, and ties the plugin that owns `ctx` to the providers: it is disposed before them.
    /// Fails with the name of the first missing service.
    fn resolve(ctx: &Ctx) -> Result<Self, &'static str>;
}
impl<S: Service + ?Sized> Deps for Arc<S> {
    fn needs() -> Vec<&'static str> {
        vec![S::NAME]
    }
    fn resolve(ctx: &Ctx) -> Result<Self, &'static str> {
        ctx.depend::<S>().ok_or(S::NAME)
    }
}
impl<S: Service + ?Sized> Deps for Lazy<S> {
    fn needs() -> Vec<&'static str> {
        Vec::new()
    }
    fn resolve(ctx: &Ctx) -> Result<Self, &'static str> {
        Ok(ctx.lazy())
    }
}
macro_rules! tuple_deps {
    ($($($d:ident)*;)*) => {$(
        impl<$($d: Deps),*> Deps for ($($d,)*) {
            fn needs() -> Vec<&'static str> { <[Vec<_>]>::concat(&[$($d::needs()),*]) }
            fn resolve(_ctx: &Ctx) -> Result<Self, &'static str> { Ok(($($d::resolve(_ctx)?,)*)) }
        }
    )*};
}
tuple_deps! { ; A; A B; A B C; A B C D; A B C D E; A B C D E F; }

/// A unit of behaviour. Everything it registers on its `ctx` is undone when it is removed.
pub trait Plugin: Send + Sync + 'static {
    /// What must exist before `apply` runs.
    type Deps: Deps;
    /// The name in diagnostics and the catalog, unique in an app.
    fn name(&self) -> &'static str;
    /// Registers services, listeners and tasks. It runs again after a reload.
    fn apply(&self, ctx: Ctx, deps: Self::Deps) -> impl Future<Output = Result<(), PluginError>> + Send;
}

type Apply = dyn Fn(Ctx) -> BoxFuture<'static, Result<(), PluginError>> + Send + Sync;
/// A plugin with its type erased; each application makes or shares an instance.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) needs: fn() -> Vec<&'static str>,
    first_missing: fn(&Ctx) -> Option<&'static str>,
    pub(crate) apply: Arc<Apply>,
}
impl Source {
    pub(crate) fn new<P: Plugin>(make: impl Fn() -> Arc<P> + Send + Sync + 'static) -> Self {
        let apply = move |ctx: Ctx| -> BoxFuture<'static, _> {
            let plugin = make();
            Box::pin(async move { plugin.apply(ctx.clone(), P::Deps::resolve(&ctx)?).await })
        };
        let first_missing = |ctx: &Ctx| P::Deps::resolve(ctx).err();
        Self { needs: P::Deps::needs, first_missing, apply: Arc::new(apply) }
    }
    /// Asked with the root, which is older than all providers and so is never tied to one.
    pub(crate) fn missing(&self, root: &Ctx) -> Vec<&'static str> {
        let Some(first) = (self.first_missing)(root) else { return Vec::new() };
        let visible = root.services();
        let is_missing = |need: &&str| *need == first || visible.iter().all(|service| service.name != *need);
        (self.needs)().into_iter().filter(is_missing).collect()
    }
}
