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
pub trait ArgumentValidator: Send + Sync {
    /// Compiles one tool's parameter schema; called once a tool.
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
