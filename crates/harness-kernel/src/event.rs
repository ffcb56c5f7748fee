//! Events are plain structs; the trait they implement fixes how they may be dispatched.

/// How an event is dispatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// [`Notice`]: observers are called in order.
    Emit,
    /// [`Parallel`]: all listeners are awaited together, and failures are collected.
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
/// A message type that belongs to one seam crate. Implement one of the four modes beside it.
pub trait Event: Sized + Send + Sync + 'static {
    /// Stable catalog name such as `tools/pre-execute`.
    const NAME: &'static str;
}
/// A notification: observed with [`Ctx::on`](crate::Ctx::on), dispatched with [`Ctx::emit`](crate::Ctx::emit).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a notice, so `on` and `emit` do not take it",
    note = "`Around` events use `around` and `waterfall`, `Parallel` ones `on_parallel` and `parallel`, `Serial` ones `on_serial` and `serial`"
)]
pub trait Notice: Event {}
/// An awaited fan-out: [`Ctx::on_parallel`](crate::Ctx::on_parallel), [`Ctx::parallel`](crate::Ctx::parallel).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parallel event, so `on_parallel` and `parallel` do not take it",
    note = "`Notice` events use `on` and `emit`, `Serial` ones `on_serial` and `serial`, `Around` ones `around` and `waterfall`"
)]
pub trait Parallel: Event {
    /// What one listener can fail with.
    type Error: Send + 'static;
}
/// A question that one listener answers: [`Ctx::on_serial`](crate::Ctx::on_serial), [`Ctx::serial`](crate::Ctx::serial).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a serial event, so `on_serial` and `serial` do not take it",
    note = "`Notice` events use `on` and `emit`, `Parallel` ones `on_parallel` and `parallel`, `Around` ones `around` and `waterfall`"
)]
pub trait Serial: Event {
    /// The value that ends the walk.
    type Answer: Send + 'static;
}
/// A waterfall: wrapped with [`Ctx::around`](crate::Ctx::around), run with [`Ctx::waterfall`](crate::Ctx::waterfall).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a waterfall, so `around` and `waterfall` do not take it",
    note = "`Notice` events use `on` and `emit`, `Parallel` ones `on_parallel` and `parallel`, `Serial` ones `on_serial` and `serial`"
)]
pub trait Around: Event {
    /// What the whole chain resolves to.
    type Output: Send + 'static;
}

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
