//! Events are plain structs; the trait they implement fixes how they may be dispatched.

/// How an event is dispatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// [`Notice`]: observers are called in order; each panic is contained.
    Emit,
    /// [`Parallel`]: all listeners are awaited together; failures are collected.
    Parallel,
    /// [`Serial`]: listeners are awaited in order until one answers.
    Serial,
    /// [`Around`]: each listener wraps the rest.
    Waterfall,
}

/// Where a listener goes among those of its own scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// After the listeners that are there (innermost).
    #[default]
    Append,
    /// Before the listeners that are there (outermost).
    Prepend,
}

/// A message type that belongs to one seam crate. Implement exactly one of the four modes beside it.
pub trait Event: Sized + Send + Sync + 'static {
    /// Stable catalog name such as `tools/pre-execute`.
    const NAME: &'static str;
}

/// A notification: observed with [`Ctx::on`](crate::Ctx::on), dispatched with [`Ctx::emit`](crate::Ctx::emit).
///
/// The mode is part of the type. This does not compile, because a waterfall cannot be emitted:
/// ```compile_fail,E0277
/// # use harness_kernel::{Around, Ctx, Event};
/// struct Execute;
/// impl Event for Execute { const NAME: &'static str = "tools/execute"; }
/// impl Around for Execute { type Output = String; }
/// fn dispatch(ctx: &Ctx) { ctx.emit(&Execute) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a notice, so `on` and `emit` do not take it",
    label = "this event does not implement `Notice`",
    note = "an `Around` event is registered with `around` and dispatched with `waterfall`",
    note = "a `Parallel` event uses `on_parallel` and `parallel`, a `Serial` one `on_serial` and `serial`"
)]
pub trait Notice: Event {}

/// An awaited fan-out: joined with [`Ctx::on_parallel`](crate::Ctx::on_parallel), dispatched with
/// [`Ctx::parallel`](crate::Ctx::parallel).
/// ```compile_fail,E0277
/// # use harness_kernel::{Ctx, Event, Notice};
/// struct ToolResult;
/// impl Event for ToolResult { const NAME: &'static str = "tools/result"; }
/// impl Notice for ToolResult {}
/// async fn dispatch(ctx: &Ctx) { ctx.parallel(ToolResult).await; }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parallel event, so `on_parallel` and `parallel` do not take it",
    label = "this event does not implement `Parallel`",
    note = "a `Notice` is observed with `on` and dispatched with `emit`",
    note = "a `Serial` event uses `on_serial` and `serial`, an `Around` one `around` and `waterfall`"
)]
pub trait Parallel: Event {
    /// What one listener can fail with.
    type Error: Send + 'static;
}

/// A question that one listener may answer: [`Ctx::on_serial`](crate::Ctx::on_serial) and
/// [`Ctx::serial`](crate::Ctx::serial).
/// ```compile_fail,E0277
/// # use harness_kernel::{Ctx, Event, Notice};
/// struct ToolResult;
/// impl Event for ToolResult { const NAME: &'static str = "tools/result"; }
/// impl Notice for ToolResult {}
/// async fn dispatch(ctx: &Ctx) { let _ = ctx.serial(ToolResult).await; }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a serial event, so `on_serial` and `serial` do not take it",
    label = "this event does not implement `Serial`",
    note = "a `Notice` is observed with `on` and dispatched with `emit`",
    note = "a `Parallel` event uses `on_parallel` and `parallel`, an `Around` one `around` and `waterfall`"
)]
pub trait Serial: Event {
    /// The value that ends the walk.
    type Answer: Send + 'static;
}

/// A waterfall: wrapped with [`Ctx::around`](crate::Ctx::around), dispatched with
/// [`Ctx::waterfall`](crate::Ctx::waterfall).
/// ```compile_fail,E0277
/// # use harness_kernel::{Ctx, Event, Notice};
/// struct ToolResult;
/// impl Event for ToolResult { const NAME: &'static str = "tools/result"; }
/// impl Notice for ToolResult {}
/// async fn dispatch(ctx: &Ctx) { ctx.waterfall(ToolResult, |_| async {}).await; }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a waterfall, so `around` and `waterfall` do not take it",
    label = "this event does not implement `Around`",
    note = "a `Notice` is observed with `on` and dispatched with `emit`",
    note = "a `Parallel` event uses `on_parallel` and `parallel`, a `Serial` one `on_serial` and `serial`"
)]
pub trait Around: Event {
    /// What the whole chain resolves to.
    type Output: Send + 'static;
}
