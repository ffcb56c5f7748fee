//! `harness models`.
use anyhow::Result;
use harness_bundle::{ModelRow, ModelSettings, PriceSettings, known_models, served_models};
use harness_config::{Environment, Paths};
use serde_json::json;

use crate::args::ModelsCommand;
use crate::compose::provider_settings;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) async fn run(command: Option<ModelsCommand>, environment: &Environment, output: &Output) -> Exit {
    let result = match command.unwrap_or(ModelsCommand::List { provider: None, json: false }) {
        ModelsCommand::List { provider, json } => list(provider.as_deref(), json, environment, output),
        ModelsCommand::Check { provider, model, base_url, json } => {
            let question = Question { provider, model, base_url, json };
            check(question, environment, output).await
        }
    };
    output.exit(result)
}

fn list(provider: Option<&str>, json: bool, environment: &Environment, output: &Output) -> Result<Exit> {
    let paths = Paths::resolve(environment)?;
    let config = provider_settings(None, None, environment, &paths, output)?;
    let mut rows = known_models(&config, environment)?;
    rows.retain(|row| provider.is_none_or(|provider| row.provider == provider));
    if json {
        for row in &rows {
            output.data(&format!("{}\n", serde_json::to_string(row)?));
        }
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        output
            .talk("harness: no model is known there; its server can be asked: harness models check PROVIDER");
        return Ok(Exit::Done);
    }
    let wide = rows.iter().map(|row| name(row).len()).max().unwrap_or(0);
    output.data(&format!(
        "{:wide$}  {:>9}  {:>9}  {:>8}  {:>8}  {:>9}  read\n",
        "model", "window", "answer", "input $", "cached $", "output $"
    ));
    for row in &rows {
        output.data(&line(row, wide));
    }
    output.talk("Prices are US dollars a million tokens, as read in the month told; `prices` in the settings counts more.");
    Ok(Exit::Done)
}

fn name(row: &ModelRow) -> String {
    format!("{}/{}", row.provider, row.model)
}

fn line(row: &ModelRow, wide: usize) -> String {
    let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let dollars = |amount: Option<f64>| amount.map_or_else(|| "?".to_owned(), |amount| format!("{amount}"));
    let price = |of: fn(&PriceSettings) -> f64| dollars(row.price.as_ref().map(of));
    let key = if row.has_key { "  key" } else { "" };
    let note = row.note.as_ref().map_or_else(String::new, |note| format!("  {note}"));
    format!(
        "{:wide$}  {:>9}  {:>9}  {:>8}  {:>8}  {:>9}  {}{key}{note}\n",
        name(row),
        tokens(row.context_window),
        tokens(row.max_output),
        price(|price| price.input),
        price(|price| price.cache_read.unwrap_or(price.input)),
        price(|price| price.output),
        row.as_of.as_deref().unwrap_or("settings"),
    )
}

struct Question {
    provider: Option<String>,
    model: Option<String>,
    base_url: Option<String>,
    json: bool,
}

async fn check(question: Question, environment: &Environment, output: &Output) -> Result<Exit> {
    let Question { provider, model, base_url, json } = question;
    let paths = Paths::resolve(environment)?;
    let config = provider_settings(provider.as_deref(), base_url.as_deref(), environment, &paths, output)?;
    let settings: ModelSettings = config.section()?;
    // The model of the settings belongs to the provider of the settings.
    let wanted = model.or_else(|| settings.name.clone().filter(|_| provider.is_none()));
    let served = served_models(&config, environment, &settings.provider).await?;
    for model in &served {
        output.data(&if json {
            format!("{}\n", json!({ "id": model.id, "context_length": model.context_length }))
        } else {
            let window = model.context_length.map_or_else(String::new, |tokens| format!("  {tokens} tokens"));
            format!("{}{window}\n", model.id)
        });
    }
    output.talk(&format!("harness: provider `{}` serves {} model(s)", settings.provider, served.len()));
    match wanted {
        Some(wanted) if !served.iter().any(|model| model.id == wanted) => {
            output.talk(&format!("harness: `{wanted}` is not among them"));
            Ok(Exit::Failed)
        }
        _ => Ok(Exit::Done),
    }
}
