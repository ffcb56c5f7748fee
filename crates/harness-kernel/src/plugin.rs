//! Plugins state what they need in a type.
use std::sync::Arc;

use crate::BoxFuture;
use crate::fiber::Ctx;
use crate::service::{Lazy, Service};

/// Why a plugin refused to start.
pub type PluginError = Box<dyn std::error::Error + Send + Sync>;

/// Something a plugin can ask for: `Arc<dyn S>` (must exist), [`Lazy<dyn S>`](Lazy) (looked up at each use)
/// and tuples of up to six of these. Tuples nest, and a struct of your own delegates to a tuple:
///
/// ```
/// # use harness_kernel::{Ctx, Deps, Lazy, Service}; use std::sync::Arc;
/// # trait Llm: Send + Sync {} impl Service for dyn Llm { const NAME: &'static str = "llm"; }
/// # trait Approval: Send + Sync {} impl Service for dyn Approval { const NAME: &'static str = "approval"; }
/// struct Needs { llm: Arc<dyn Llm>, approval: Lazy<dyn Approval> }
/// type Parts = (Arc<dyn Llm>, Lazy<dyn Approval>);
/// impl Deps for Needs {
///     fn needs() -> Vec<&'static str> { Parts::needs() }
///     fn resolve(ctx: &Ctx) -> Result<Self, &'static str> {
///         let (llm, approval) = Parts::resolve(ctx)?;
///         Ok(Self { llm, approval })
///     }
/// }
/// assert_eq!(Needs::needs(), ["llm"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a dependency",
    note = "use `Arc<dyn S>`, `Lazy<dyn S>`, a tuple of up to six, or implement `Deps` for a struct"
)]
pub trait Deps: Sized + Send {
    /// The names of the services that must exist.
    fn needs() -> Vec<&'static str>;
    /// Resolves all, and ties the plugin that owns `ctx` to the providers: it is disposed before them.
    ///
    /// # Errors
    /// The name of the first missing service.
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
            fn needs() -> Vec<&'static str> { [$($d::needs()),*].concat() }
            fn resolve(_ctx: &Ctx) -> Result<Self, &'static str> { Ok(($($d::resolve(_ctx)?,)*)) }
        }
    )*};
}
tuple_deps! { A; A B; A B C; A B C D; A B C D E; A B C D E F; }
impl Deps for () {
    fn needs() -> Vec<&'static str> {
        Vec::new()
    }
    fn resolve(_: &Ctx) -> Result<Self, &'static str> {
        Ok(())
    }
}

/// A unit of behaviour. Everything it registers on its `ctx` is undone when it is removed.
pub trait Plugin: Send + Sync + 'static {
    /// What must exist before `apply` runs.
    type Deps: Deps;
    /// The name in diagnostics and the catalog, unique in an app.
    fn name(&self) -> &'static str;
    /// Registers services, listeners and tasks. It runs again after a reload.
    fn apply(&self, ctx: Ctx, deps: Self::Deps) -> impl Future<Output = Result<(), PluginError>> + Send;
}
impl<P: Plugin> Plugin for Arc<P> {
    type Deps = P::Deps;
    fn name(&self) -> &'static str {
        P::name(self)
    }
    fn apply(&self, ctx: Ctx, deps: Self::Deps) -> impl Future<Output = Result<(), PluginError>> + Send {
        P::apply(self, ctx, deps)
    }
}

/// A plugin with its type erased, made anew for each time it is applied.
pub(crate) trait Source: Send + Sync {
    fn needs(&self) -> Vec<&'static str>;
    fn missing(&self, root: &Ctx) -> Vec<&'static str>;
    fn apply(&self, ctx: Ctx) -> BoxFuture<'_, Result<(), PluginError>>;
}
pub(crate) struct Factory<F>(pub(crate) F);
impl<P: Plugin, F: Fn() -> P + Send + Sync> Source for Factory<F> {
    fn needs(&self) -> Vec<&'static str> {
        P::Deps::needs()
    }
    fn missing(&self, root: &Ctx) -> Vec<&'static str> {
        let Err(first) = P::Deps::resolve(root) else { return Vec::new() };
        let visible = root.services();
        let mut missing = self.needs();
        missing.retain(|need| *need == first || !visible.iter().any(|service| service.name == *need));
        missing
    }
    fn apply(&self, ctx: Ctx) -> BoxFuture<'_, Result<(), PluginError>> {
        Box::pin(async move {
            let plugin = (self.0)();
            let deps = P::Deps::resolve(&ctx).map_err(|need| format!("its need {need} went away"))?;
            plugin.apply(ctx, deps).await
        })
    }
}
