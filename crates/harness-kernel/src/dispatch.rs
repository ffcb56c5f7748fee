//! Registration and dispatch in the four modes.
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use futures_util::future::join_all;

use crate::event::{Around, Event, Mode, Notice, Order, Parallel, Serial};
use crate::panic::{ListenerFailure, Panic, contain, contain_sync};
use crate::scope::{Entry, List};
use crate::teardown::{Handle, Undo};
use crate::{BoxFuture, fiber::Ctx};

type NoticeFn<E> = dyn Fn(&E) + Send + Sync;
type ParallelFn<E> = dyn Fn(Arc<E>) -> BoxFuture<'static, Result<(), <E as Parallel>::Error>> + Send + Sync;
type SerialFn<E> = dyn Fn(Arc<E>) -> BoxFuture<'static, ControlFlow<<E as Serial>::Answer>> + Send + Sync;
type AroundFn<E> = dyn Fn(E, Next<E>) -> BoxFuture<'static, <E as Around>::Output> + Send + Sync;
type Core<E> = Box<dyn Fn(E) -> BoxFuture<'static, <E as Around>::Output> + Send + Sync>;
type Chain<E> = (Vec<List<AroundFn<E>>>, Core<E>);

/// The rest of a waterfall. [`Next::run`] consumes it; clone it to retry.
pub struct Next<E: Around> {
    chain: Arc<Chain<E>>,
    list: usize,
    at: usize,
}
impl<E: Around> Clone for Next<E> {
    fn clone(&self) -> Self {
        Self { chain: Arc::clone(&self.chain), ..*self }
    }
}
impl<E: Around> Next<E> {
    /// Delegates to the remaining listeners and finally to the core behaviour.
    pub fn run(mut self, event: E) -> BoxFuture<'static, E::Output> {
        let chain = Arc::clone(&self.chain);
        while let Some(list) = chain.0.get(self.list) {
            if let Some(listener) = list.get(self.at) {
                self.at += 1;
                return listener(event, self);
            }
            (self.list, self.at) = (self.list + 1, 0);
        }
        (chain.1)(event)
    }
}

impl Ctx {
    fn listen<E: Event, L: ?Sized + Send + Sync + 'static>(
        &self,
        mode: Mode,
        order: Order,
        value: Arc<L>,
    ) -> Handle {
        let entry = Entry { plugin: self.0.plugin, value, edges: None };
        let Ok(position) =
            self.0.scope.insert((E::NAME, Some(mode), order), entry, |_| Ok::<_, Infallible>(()));
        self.own(Undo::Entry(position, None))
    }
    /// Observes a notification.
    pub fn on<E: Notice>(&self, listener: impl Fn(&E) + Send + Sync + 'static) -> Handle {
        self.on_at(Order::Append, listener)
    }
    /// Observes a notification at a chosen place among the observers of this scope.
    pub fn on_at<E: Notice>(&self, order: Order, listener: impl Fn(&E) + Send + Sync + 'static) -> Handle {
        self.listen::<E, NoticeFn<E>>(Mode::Emit, order, Arc::new(listener))
    }
    /// Joins an awaited fan-out.
    pub fn on_parallel<E: Parallel, Fut>(
        &self,
        listener: impl Fn(Arc<E>) -> Fut + Send + Sync + 'static,
    ) -> Handle
    where
        Fut: Future<Output = Result<(), E::Error>> + Send + 'static,
    {
        let call = Arc::new(move |event| Box::pin(listener(event)) as _);
        self.listen::<E, ParallelFn<E>>(Mode::Parallel, Order::Append, call)
    }
    /// Answers a serial question with `Break`, or lets it pass with `Continue`.
    pub fn on_serial<E: Serial, Fut>(
        &self,
        listener: impl Fn(Arc<E>) -> Fut + Send + Sync + 'static,
    ) -> Handle
    where
        Fut: Future<Output = ControlFlow<E::Answer>> + Send + 'static,
    {
        let call = Arc::new(move |event| Box::pin(listener(event)) as _);
        self.listen::<E, SerialFn<E>>(Mode::Serial, Order::Append, call)
    }
    /// Wraps a waterfall. The future may be dropped at any await; work that must finish goes to [`Ctx::spawn`].
    pub fn around<E: Around, Fut>(
        &self,
        listener: impl Fn(E, Next<E>) -> Fut + Send + Sync + 'static,
    ) -> Handle
    where
        Fut: Future<Output = E::Output> + Send + 'static,
    {
        self.around_at(Order::Append, listener)
    }
    /// Wraps a waterfall at a chosen place among the listeners of this scope.
    pub fn around_at<E: Around, Fut>(
        &self,
        order: Order,
        listener: impl Fn(E, Next<E>) -> Fut + Send + Sync + 'static,
    ) -> Handle
    where
        Fut: Future<Output = E::Output> + Send + 'static,
    {
        let call = Arc::new(move |event, next| Box::pin(listener(event, next)) as _);
        self.listen::<E, AroundFn<E>>(Mode::Waterfall, order, call)
    }

    /// Calls every observer, those of outer scopes first. A panic is reported, and the rest are called.
    pub fn emit<E: Notice>(&self, event: &E) {
        for listener in self.0.scope.heard::<NoticeFn<E>>().iter().flat_map(|list| &**list) {
            if let Err(panic) = contain_sync(|| listener(event)) {
                self.report(&panic, E::NAME);
            }
        }
    }
    /// Awaits all listeners together and returns every failure, in the order of the listeners.
    pub async fn parallel<E: Parallel>(&self, event: E) -> Vec<ListenerFailure<E::Error>> {
        let event = Arc::new(event);
        let lists = self.0.scope.heard::<ParallelFn<E>>();
        let listeners = lists.iter().flat_map(|list| &**list);
        let all = listeners.map(|listener| contain(async { listener(Arc::clone(&event)).await }));
        let outcomes = join_all(all).await.into_iter().map(|outcome| match outcome {
            Ok(result) => result.map_err(ListenerFailure::Failed),
            Err(panic) => Err(ListenerFailure::Panicked(panic)),
        });
        outcomes.filter_map(Result::err).collect()
    }
    /// Awaits listeners in order, those of outer scopes first; the first answer, or panic, ends the walk.
    pub async fn serial<E: Serial>(&self, event: E) -> Result<Option<E::Answer>, Panic> {
        let event = Arc::new(event);
        for listener in self.0.scope.heard::<SerialFn<E>>().iter().flat_map(|list| &**list) {
            if let ControlFlow::Break(answer) = contain(async { listener(Arc::clone(&event)).await }).await? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }
    /// Runs the listeners around `core`, those of outer scopes outermost. Panics pass through to the caller,
    /// who owns the phase: see [`contain`].
    pub async fn waterfall<E: Around, Fut>(
        &self,
        event: E,
        core: impl Fn(E) -> Fut + Send + Sync + 'static,
    ) -> E::Output
    where
        Fut: Future<Output = E::Output> + Send + 'static,
    {
        let lists = self.0.scope.heard::<AroundFn<E>>();
        if lists.is_empty() {
            return core(event).await;
        }
        let core: Core<E> = Box::new(move |event| Box::pin(core(event)));
        Next { chain: Arc::new((lists, core)), list: 0, at: 0 }.run(event).await
    }
}
