//! Sections: one per plugin, each a Rust type.
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Which keys of a section a project file may set before the person trusts it. Endpoints, credentials and whatever
/// widens a permission must not be among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectKeys {
    /// All: nothing in the section can do harm.
    All,
    /// Only these.
    Only(&'static [&'static str]),
}

/// One section of the settings.
///
/// ```
/// use harness_config::{ProjectKeys, Section};
/// #[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields, default)]
/// struct Greeting { text: String }
/// impl Section for Greeting {
///     const NAME: &'static str = "greeting";
///     const PROJECT: ProjectKeys = ProjectKeys::All;
/// }
/// ```
pub trait Section: DeserializeOwned + Serialize + Default + JsonSchema {
    /// The table's name.
    const NAME: &'static str;
    /// What an untrusted project file may set.
    const PROJECT: ProjectKeys;
}

/// A section as the settings know it.
#[derive(Debug, Clone)]
pub struct SectionInfo {
    pub(crate) name: &'static str,
    pub(crate) project: ProjectKeys,
    pub(crate) schema: Value,
    pub(crate) defaults: Value,
}
impl SectionInfo {
    /// The facts of one section.
    pub fn of<S: Section>() -> Self {
        let mut settings = schemars::generate::SchemaSettings::draft2020_12();
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        let schema = settings.into_generator().into_root_schema_for::<S>().to_value();
        // A default that is not JSON is a defect of the type; it shows as a section without defaults.
        let defaults = serde_json::to_value(S::default()).unwrap_or_default();
        Self { name: S::NAME, project: S::PROJECT, schema, defaults }
    }
    /// The table's name.
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// JSON Schema of the table.
    pub fn schema(&self) -> &Value {
        &self.schema
    }
}
