#![doc = include_str!("../README.md")]

mod app;
mod dispatch;
mod event;
mod fiber;
mod handle;
mod listeners;
mod panic;
mod plugin;
mod running;
mod scope;
mod service;
mod teardown;

pub use app::{App, StartError};
pub use dispatch::Next;
pub use event::{Around, Event, Mode, Notice, Order, Parallel, Serial};
pub use fiber::Ctx;
pub use handle::Handle;
pub use listeners::ListenerInfo;
pub use panic::{ListenerFailure, Panic, contain, contain_sync};
pub use plugin::{Deps, Plugin, PluginError};
pub use running::{ChangeError, PluginState, PluginStatus, Running};
pub use service::{Lazy, ProvideError, Service, ServiceInfo};
pub use teardown::{CleanupFailure, DisposeError};

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
