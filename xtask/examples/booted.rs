//! Composes the default harness and prints what only it knows, for `cargo xtask catalog`.
//!
//! An example and not part of `xtask` itself: so `cargo xtask` need not build the whole harness to run, and the
//! builds of the test run already contain this.
#![expect(clippy::print_stdout, reason = "what it prints is its result")]

use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let catalog = harness_bundle::catalog().await?;
    let sections =
        catalog.sections.iter().map(|section| json!({ "name": section.name(), "schema": section.schema() }));
    let services =
        catalog.services.iter().map(|service| json!({ "name": service.name, "plugin": service.plugin }));
    let listeners = catalog
        .listeners
        .iter()
        .map(|listener| json!({ "event": listener.event, "plugin": listener.plugin }));
    let booted = json!({
        "tools": catalog.tools,
        "sections": sections.collect::<Vec<_>>(),
        "services": services.collect::<Vec<_>>(),
        "listeners": listeners.collect::<Vec<_>>(),
    });
    println!("{booted}");
    Ok(())
}
