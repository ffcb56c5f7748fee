//! Reading one TOML file into a layer.
use std::path::Path;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::ConfigError;
use crate::layer::Layer;
use crate::source::Source;

/// The text of a settings file; `None` if there is none.
pub(crate) fn text(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        // A project folder may be a file's name on the way.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
        Err(source) => Err(ConfigError::Io { path: path.to_owned(), source }),
    }
}

pub(crate) fn parse(path: &Path, text: &str) -> Result<Layer, ConfigError> {
    let syntax = |error: &toml::de::Error| ConfigError::Syntax {
        path: path.to_owned(),
        line: line(text, error.span().map_or(0, |span| span.start)),
        detail: error.message().to_owned(),
    };
    let values: toml::Table = toml::from_str(text).map_err(|error| syntax(&error))?;
    let spans = DeTable::parse(text).map_err(|error| syntax(&error))?;
    let mut layer = Layer::default();
    for (name, value) in values {
        let value = serde_json::to_value(&value).map_err(|error| ConfigError::Syntax {
            path: path.to_owned(),
            line: 1,
            detail: error.to_string(),
        })?;
        layer.values.insert(name, value);
    }
    note(path, text, spans.get_ref(), &mut Vec::new(), &mut layer);
    Ok(layer)
}

fn note(path: &Path, text: &str, table: &DeTable<'_>, prefix: &mut Vec<String>, layer: &mut Layer) {
    for (key, value) in table {
        prefix.push(key.get_ref().to_string());
        let place = Source::File { path: path.to_owned(), line: line(text, key.span().start) };
        layer.places.insert(prefix.clone(), place);
        let value: &Spanned<DeValue<'_>> = value;
        if let DeValue::Table(inner) = value.get_ref() {
            note(path, text, inner, prefix, layer);
        }
        prefix.pop();
    }
}

fn line(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].split(|byte| *byte == b'\n').count()
}

/// A value as an environment variable gives it: text where text fits, else TOML.
pub(crate) fn value(text: &str, takes_text: bool) -> Result<Value, String> {
    if takes_text {
        return Ok(Value::String(text.to_owned()));
    }
    let parsed = toml::from_str::<toml::Table>(&format!("v = {text}"));
    let value = parsed.ok().and_then(|mut table| table.remove("v")).ok_or("not a TOML value")?;
    serde_json::to_value(&value).map_err(|error| error.to_string())
}
