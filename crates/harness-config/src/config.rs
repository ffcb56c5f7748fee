//! The settings: layers put together, checked, and read section by section.
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::environment::Environment;
use crate::error::ConfigError;
use crate::file;
use crate::layer::{KeyPath, Layer};
use crate::schema::{self, Known};
use crate::section::{ProjectKeys, Section, SectionInfo};
use crate::source::Source;
use crate::trust::Trust;

/// Something about the settings that the person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice(pub String);

/// Names that look like settings and are not.
const RESERVED: [&str; 2] = ["HARNESS_HOME", "HARNESS_LOG"];

/// Puts the layers together.
#[derive(Debug, Default)]
pub struct ConfigBuilder {
    sections: Vec<SectionInfo>,
    layer: Layer,
    notices: Vec<Notice>,
}

impl ConfigBuilder {
    /// Makes a section known. Settings of unknown sections are errors.
    #[must_use]
    pub fn section<S: Section>(mut self) -> Self {
        self.sections.push(SectionInfo::of::<S>());
        self
    }
    /// Lays the user's file on top, if there is one.
    pub fn user_file(mut self, path: &Path) -> Result<Self, ConfigError> {
        if let Some(text) = file::text(path)? {
            self.checked(file::parse(path, &text)?)?;
        }
        Ok(self)
    }
    /// Lays `.harness/config.toml` of a project on top. Before it is trusted, what could widen anything is left out,
    /// with a notice.
    pub fn project_file(mut self, root: &Path, trust: &Trust) -> Result<Self, ConfigError> {
        let path = project_path(root);
        let Some(text) = file::text(&path)? else { return Ok(self) };
        let mut layer = file::parse(&path, &text)?;
        if !trust.covers(root, &text) {
            for held in self.held_back(&layer) {
                self.notices.push(Notice(format!(
                    "{}: `{}` is ignored: this project is not trusted; look at the file, then run `harness config trust`",
                    layer.place(&held),
                    held.join(".")
                )));
                layer.take(&held);
            }
        }
        self.checked(layer)?;
        Ok(self)
    }
    /// Lays `HARNESS_<SECTION>_<KEY>` variables on top.
    pub fn environment(mut self, environment: &Environment) -> Result<Self, ConfigError> {
        let mut layer = Layer::default();
        let mut known: Vec<String> = RESERVED.iter().map(|name| (*name).to_owned()).collect();
        for section in &self.sections {
            let mut leaves = Vec::new();
            schema::leaves(&section.schema, &[section.name.to_owned()], &mut leaves);
            for (path, schema) in leaves {
                let name = format!("HARNESS_{}", path.join("_").to_uppercase().replace('-', "_"));
                if let Some(text) = environment.get(&name) {
                    let source = Source::Environment(name.clone());
                    let value = file::value(text, schema::takes_text(schema)).map_err(|detail| {
                        ConfigError::Value { at: source.clone(), key: path.join("."), detail }
                    })?;
                    layer.set(&path, value, source);
                }
                known.push(name);
            }
        }
        for (name, _) in environment.iter() {
            let Some(name) = name.to_str().filter(|name| name.starts_with("HARNESS_")) else { continue };
            if !known.iter().any(|other| other == name) {
                self.notices
                    .push(Notice(format!("environment variable {name} is not a setting and has no effect")));
            }
        }
        self.layer.lay(layer);
        Ok(self)
    }
    /// Lays a flag's value on top.
    #[must_use]
    pub fn flag(mut self, flag: &str, path: &[&str], value: Value) -> Self {
        let path: KeyPath = path.iter().map(|name| (*name).to_owned()).collect();
        self.layer.set(&path, value, Source::Flag(flag.to_owned()));
        self
    }
    /// Adds a flag's items to an array of the layers below.
    #[must_use]
    pub fn extend_flag(self, flag: &str, path: &[&str], items: &Value) -> Self {
        let below = path.iter().try_fold(None, |table: Option<&Value>, name| {
            table.map_or_else(|| self.layer.values.get(*name), |table| table.get(*name)).map(Some)
        });
        let below = below.flatten().and_then(Value::as_array).cloned().unwrap_or_default();
        let items = below.into_iter().chain(items.as_array().cloned().unwrap_or_default()).collect();
        self.flag(flag, path, items)
    }
    /// What the person should know so far.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }
    /// The settings.
    pub fn build(self) -> Config {
        Config { sections: self.sections, layer: self.layer, notices: self.notices }
    }

    fn checked(&mut self, layer: Layer) -> Result<(), ConfigError> {
        for (name, value) in &layer.values {
            let path = vec![name.clone()];
            let Some(section) = self.sections.iter().find(|section| section.name == name) else {
                return Err(unknown(&layer, &path, self.sections.iter().map(|section| section.name)));
            };
            check(&layer, &section.schema, value, &path)?;
        }
        self.layer.lay(layer);
        Ok(())
    }
    fn held_back(&self, layer: &Layer) -> Vec<KeyPath> {
        let mut held = Vec::new();
        for (name, value) in &layer.values {
            let section = self.sections.iter().find(|section| section.name == name);
            let Some(ProjectKeys::Only(allowed)) = section.map(|section| section.project) else { continue };
            for key in value.as_object().into_iter().flat_map(Map::keys) {
                if !allowed.contains(&key.as_str()) {
                    held.push(vec![name.clone(), key.clone()]);
                }
            }
        }
        held
    }
}

/// A message without the text that it quotes: it could be a key that was put in the wrong place.
fn unquoted(message: &str) -> String {
    match message.split_once("string \"") {
        Some((before, rest)) => {
            let after = rest.rsplit_once('"').map_or("", |(_, after)| after);
            format!("{before}a string{after}")
        }
        None => message.to_owned(),
    }
}

/// Where a project keeps its settings.
pub(crate) fn project_path(root: &Path) -> PathBuf {
    root.join(".harness").join("config.toml")
}

fn check(layer: &Layer, schema: &Value, value: &Value, path: &KeyPath) -> Result<(), ConfigError> {
    for (name, inner) in value.as_object().into_iter().flatten() {
        let mut path = path.clone();
        path.push(name.clone());
        match schema::key(schema, name) {
            Known::Yes(schema) => check(layer, schema, inner, &path)?,
            Known::No(known) => return Err(unknown(layer, &path, known.into_iter())),
            Known::Unclear => {}
        }
    }
    Ok(())
}

fn unknown<'a>(layer: &Layer, path: &KeyPath, known: impl Iterator<Item = &'a str>) -> ConfigError {
    let (last, tables) = path.split_last().map_or(("", &[][..]), |(last, tables)| (last.as_str(), tables));
    let nearest = known
        .map(|name| (strsim::damerau_levenshtein(name, last), name))
        .min()
        .filter(|(distance, name)| *distance <= 3 && *distance < name.len());
    let suggestion = nearest
        .map(|(_, name)| tables.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("."));
    ConfigError::UnknownKey { at: layer.place(path), key: path.join("."), suggestion }
}

/// The settings in force.
#[derive(Debug)]
pub struct Config {
    pub(crate) sections: Vec<SectionInfo>,
    pub(crate) layer: Layer,
    notices: Vec<Notice>,
}

impl Config {
    /// Starts with nothing but defaults.
    pub fn builder() -> ConfigBuilder {
        ConfigBuilder::default()
    }
    /// Reads one section.
    pub fn section<S: Section>(&self) -> Result<S, ConfigError> {
        let Some(value) = self.layer.values.get(S::NAME) else { return Ok(S::default()) };
        serde_path_to_error::deserialize(value).map_err(|error| {
            let mut path = vec![S::NAME.to_owned()];
            let inner = error.path().to_string();
            if inner != "." {
                path.extend(inner.split('.').map(str::to_owned));
            }
            let detail = unquoted(&error.into_inner().to_string());
            ConfigError::Value { at: self.layer.place(&path), key: path.join("."), detail }
        })
    }
    /// The known sections.
    pub fn into_sections(self) -> Vec<SectionInfo> {
        self.sections
    }
    /// What the person should know.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }
    /// Trusts a project's settings file as it is now. Returns whether there is one.
    pub fn trust_project(root: &Path, trust: &mut Trust) -> Result<bool, ConfigError> {
        match file::text(&project_path(root))? {
            Some(text) => trust.grant(root, &text).map(|()| true),
            None => Ok(false),
        }
    }
}
