//! JSON Schemas of everything that crosses the process boundary.
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::answer::{HookOutput, OracleOutput};
use crate::diagnostic::Diagnostic;
use crate::dispatch::Run;
use crate::fold::Outcome;
use crate::payload::Payload;

/// The published schemas: file name and schema. The files are committed next to the source.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("payload.schema.json", of::<Payload>()),
        ("hook-output.schema.json", of::<HookOutput>()),
        ("oracle-output.schema.json", of::<OracleOutput>()),
        ("outcome.schema.json", of::<Outcome>()),
        ("run.schema.json", of::<Run>()),
        ("diagnostic.schema.json", of::<Diagnostic>()),
    ]
}

fn of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}
