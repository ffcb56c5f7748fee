//! Writes the published schemas into a folder: `cargo run -p harness-hooks --example write_schemas -- <folder>`.
#![allow(clippy::disallowed_methods, reason = "a generator writes files")]

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name the folder")?;
    for (name, schema) in harness_hooks::schemas() {
        std::fs::write(Path::new(&folder).join(name), serde_json::to_string_pretty(&schema)? + "\n")?;
    }
    Ok(())
}
