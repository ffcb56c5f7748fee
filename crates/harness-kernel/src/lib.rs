#![doc = include_str!("../README.md")]
mod app;
mod dispatch;
mod event;
mod fiber;
mod panic;
mod plugin;
mod running;
mod scope;
mod service;
mod teardown;

pub use app::{App, StartError};
pub use dispatch::Next;
pub use event::{Around, BoxFuture, Event, Mode, Notice, Order, Parallel, Serial};
pub use fiber::Ctx;
pub use panic::{ListenerFailure, Panic, contain, contain_sync};
pub use plugin::{Deps, Plugin, PluginError};
pub use running::{PluginState, PluginStatus, Running};
pub use scope::{ListenerInfo, ServiceInfo};
pub use service::{Lazy, ProvideError, Service};
pub use teardown::{DisposeError, Handle};

#[cfg(doctest)]
#[doc = include_str!("../tests/modes.md")]
struct WrongModesDoNotCompile;
