//! Compiling schemas and checking arguments.
use std::sync::Arc;

use harness_tools::{ArgumentValidator, ArgumentViolation, CompiledSchema, SchemaError};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError, ValidationError, Validator};
use serde_json::Value;

use crate::cut::cut;
use crate::path::segments;
use crate::references::{Broken, holders};
use crate::violation::collect;

/// A schema with more faults than this is given up.
const CUTS: usize = 64;

/// The `tool-schema` service: JSON Schema (drafts 4 to 2020-12, detected by `$schema`, 2020-12 by default).
#[derive(Debug, Clone, Copy, Default)]
pub struct SchemaValidator;

impl ArgumentValidator for SchemaValidator {
    /// Compiles what can be compiled and cuts out the rest; see the crate's documentation.
    ///
    /// # Errors
    /// When the schema is not an object or a boolean, or has too many faults.
    fn compile(&self, schema: &Value) -> Result<Arc<dyn CompiledSchema>, SchemaError> {
        let mut schema = schema.clone();
        for _ in 0..=CUTS {
            let fault = match build(&schema) {
                Ok(validator) => return Ok(Arc::new(Compiled(validator))),
                Err(fault) => fault,
            };
            let mut dropped = false;
            for path in faulty(&schema, &fault) {
                if let Some(keyword) = cut(&mut schema, &path) {
                    tracing::warn!(keyword, %fault, "part of a tool's schema cannot be checked");
                    dropped = true;
                }
            }
            if !dropped {
                return Err(SchemaError(fault.to_string()));
            }
        }
        Err(SchemaError(format!("more than {CUTS} of its keywords cannot be used")))
    }
}

fn build(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .should_validate_formats(false)
        // Schemas come from strangers: a pattern must not be able to take exponential time.
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
}

/// Where in the schema the fault is.
fn faulty(schema: &Value, fault: &ValidationError<'_>) -> Vec<Vec<String>> {
    let broken = match fault.kind() {
        ValidationErrorKind::Referencing(error) => match error {
            ReferencingError::Unretrievable { uri, .. } => Broken::Document(uri),
            ReferencingError::PointerToNowhere { pointer }
            | ReferencingError::InvalidPercentEncoding { pointer, .. }
            | ReferencingError::InvalidArrayIndex { pointer, .. } => Broken::Fragment(pointer),
            ReferencingError::NoSuchAnchor { anchor } | ReferencingError::InvalidAnchor { anchor } => {
                Broken::Fragment(anchor)
            }
            ReferencingError::UnknownSpecification { .. } | ReferencingError::CircularMetaschema { .. } => {
                return vec![vec!["$schema".into()]];
            }
            // It does not say where it is.
            ReferencingError::InvalidUri(_) => {
                let identity = vec!["$id".to_owned()];
                return holders(schema, &Broken::Any).into_iter().chain([identity]).collect();
            }
        },
        _ => return vec![segments(fault.instance_path())],
    };
    holders(schema, &broken)
}

struct Compiled(Validator);

impl CompiledSchema for Compiled {
    fn check(&self, arguments: &Value) -> Result<(), Vec<ArgumentViolation>> {
        let violations = collect(self.0.iter_errors(arguments));
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }
}
