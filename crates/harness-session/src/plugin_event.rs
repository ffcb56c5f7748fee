//! Event types that plugins own.
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::event::EventClass;

/// An event type that belongs to a plugin.
///
/// ```
/// use harness_session::{EventClass, PluginEvent};
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct TodoWrite { items: Vec<String> }
/// impl PluginEvent for TodoWrite {
///     const TYPE: &'static str = "todo/write";
///     const CLASS: EventClass = EventClass::Execution;
/// }
/// ```
pub trait PluginEvent: Serialize + DeserializeOwned {
    /// Stable name such as `todo/write`.
    const TYPE: &'static str;
    /// Where it may stand. [`EventClass::Surface`] is reserved for the core types and refused on append.
    const CLASS: EventClass;
    /// Whether a reader that does not know the type must refuse the session.
    const REQUIRED: bool = false;
}

/// What the registry of event types knows of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTypeInfo {
    /// Stable name.
    pub name: &'static str,
    /// Where it may stand.
    pub class: EventClass,
    /// Whether an unknowing reader must refuse.
    pub required: bool,
}
impl EventTypeInfo {
    /// The facts of one type.
    pub const fn of<E: PluginEvent>() -> Self {
        Self { name: E::TYPE, class: E::CLASS, required: E::REQUIRED }
    }
}

/// Data of a plugin's event, kept as the exact JSON text.
#[derive(Debug, Clone)]
pub struct PluginData {
    name: Arc<str>,
    class: EventClass,
    required: bool,
    data: Arc<RawValue>,
}

impl PluginData {
    /// Serializes a typed event.
    pub fn of<E: PluginEvent>(event: &E) -> Result<Self, serde_json::Error> {
        let data = serde_json::value::to_raw_value(event)?;
        Ok(Self { name: E::TYPE.into(), class: E::CLASS, required: E::REQUIRED, data: data.into() })
    }
    /// A type that this build does not know: it may stand anywhere.
    pub(crate) fn unknown(name: &str, required: bool, data: Box<RawValue>) -> Self {
        Self { name: name.into(), class: EventClass::Standalone, required, data: data.into() }
    }
    /// The type's name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Where it may stand.
    pub fn class(&self) -> EventClass {
        self.class
    }
    /// Whether an unknowing reader must refuse.
    pub fn required(&self) -> bool {
        self.required
    }
    /// The JSON text, byte for byte.
    pub fn raw(&self) -> &RawValue {
        &self.data
    }
    /// The typed event, if it is of this type.
    pub fn read<E: PluginEvent>(&self) -> Option<Result<E, serde_json::Error>> {
        (*self.name == *E::TYPE).then(|| serde_json::from_str(self.data.get()))
    }
}
