//! The composed harness as JSON. The tests of the catalog include this file, so that they need not start cargo.
use serde_json::{Value, json};

/// Composes the default harness and looks at it.
pub(crate) async fn describe() -> anyhow::Result<Value> {
    let catalog = harness_bundle::catalog().await?;
    let sections =
        catalog.sections.iter().map(|section| json!({ "name": section.name(), "schema": section.schema() }));
    let services =
        catalog.services.iter().map(|service| json!({ "name": service.name, "plugin": service.plugin }));
    let listeners = catalog
        .listeners
        .iter()
        .map(|listener| json!({ "event": listener.event, "plugin": listener.plugin }));
    Ok(json!({
        "tools": catalog.tools,
        "sections": sections.collect::<Vec<_>>(),
        "services": services.collect::<Vec<_>>(),
        "listeners": listeners.collect::<Vec<_>>(),
    }))
}
