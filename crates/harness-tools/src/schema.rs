//! The argument validator seam: an implementation compiles JSON Schema, so that this crate need not.
use std::fmt;
use std::sync::Arc;

use harness_kernel::Service;
use serde_json::Value;

/// A schema that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool's schema cannot be compiled: {0}")]
pub struct SchemaError(pub String);

/// One way in which arguments do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentViolation {
    /// Where, as a path such as `edits[0].path`; empty for the whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
}
impl fmt::Display for ArgumentViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// Compiles schemas. Optional: without one, typed tools still check their arguments by their input type.
///
/// ```
/// use std::sync::Arc;
/// use harness_tools::{ArgumentValidator, ArgumentViolation, CompiledSchema, SchemaError};
/// use serde_json::Value;
///
/// /// Knows of required properties and of nothing else.
/// struct Required(Vec<String>);
/// impl CompiledSchema for Required {
///     fn check(&self, arguments: &Value) -> Result<(), Vec<ArgumentViolation>> {
///         let missing = |name: &&String| arguments.get(name.as_str()).is_none();
///         let violation = |name: &String| ArgumentViolation { path: name.clone(), message: "is missing".into() };
///         let all: Vec<_> = self.0.iter().filter(missing).map(violation).collect();
///         if all.is_empty() { Ok(()) } else { Err(all) }
///     }
/// }
/// struct RequiredOnly;
/// impl ArgumentValidator for RequiredOnly {
///     fn compile(&self, schema: &Value) -> Result<Arc<dyn CompiledSchema>, SchemaError> {
///         let names = serde_json::from_value(schema["required"].clone());
///         Ok(Arc::new(Required(names.map_err(|error| SchemaError(error.to_string()))?)))
///     }
/// }
/// let schema = RequiredOnly.compile(&serde_json::json!({ "required": ["path"] }))?;
/// assert_eq!(schema.check(&serde_json::json!({})).unwrap_err()[0].to_string(), "path: is missing");
/// # Ok::<(), SchemaError>(())
/// ```
pub trait ArgumentValidator: Send + Sync {
    /// Compiles one tool's parameter schema; called once a tool. On an error the tool is checked by its type only.
    fn compile(&self, schema: &Value) -> Result<Arc<dyn CompiledSchema>, SchemaError>;
}
impl Service for dyn ArgumentValidator {
    const NAME: &'static str = "tool-schema";
}

/// A compiled schema.
pub trait CompiledSchema: Send + Sync {
    /// Every violation found, or none.
    fn check(&self, arguments: &Value) -> Result<(), Vec<ArgumentViolation>>;
}
