//! Reading declarations from the source: which types implement the traits that the catalog is about.
use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use syn::Item;

use super::booted::Booted;
use super::declared::{Declared, Names};
use super::{core_events, declared, implemented};
use crate::source::{Role, SourceFile};

/// All that the source says.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    /// Events of the kernel, by name.
    pub(super) events: BTreeMap<String, EventEntry>,
    /// Services, by name.
    pub(super) services: BTreeMap<String, ServiceEntry>,
    /// Types of session events, by name.
    pub(super) session_events: BTreeMap<String, SessionEventEntry>,
    /// Plugins, by name.
    pub(super) plugins: BTreeMap<String, PluginEntry>,
}

/// Where something is declared.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// Package.
    pub(super) package: String,
    /// File, relative to the root.
    pub(super) path: String,
}

/// One event.
#[derive(Debug)]
pub(super) struct EventEntry {
    pub(super) place: Place,
    pub(super) declared: Declared,
    /// How it is dispatched, with the type that its mode adds.
    pub(super) mode: Mode,
}

/// A dispatch mode with what listeners give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    /// Observed; nothing comes back.
    Notice,
    /// All listeners; their errors come back.
    Parallel(String),
    /// One listener answers.
    Serial(String),
    /// Listeners wrap the rest.
    Around(String),
}

/// One service.
#[derive(Debug)]
pub(super) struct ServiceEntry {
    pub(super) place: Place,
    /// What one asks for, such as `dyn BashExecutor`.
    pub(super) key: String,
    pub(super) declared: Declared,
    /// Public methods of the trait or struct.
    pub(super) methods: Vec<declared::Method>,
    /// Packages whose source provides it.
    pub(super) providers: Vec<String>,
}

/// One type of session event.
#[derive(Debug)]
pub(super) struct SessionEventEntry {
    pub(super) place: Place,
    /// `surface`, `execution` or `standalone`.
    pub(super) class: String,
    /// Whether a reader that does not know it must refuse the session; `None` for the types that every reader knows.
    pub(super) required: Option<bool>,
    /// Type of the data.
    pub(super) data: String,
    pub(super) declared: Declared,
}

/// One plugin.
#[derive(Debug)]
pub(super) struct PluginEntry {
    pub(super) place: Place,
    pub(super) declared: Declared,
    /// Its type.
    pub(super) type_name: String,
    /// The text of its `Deps`.
    pub(super) needs: String,
}

/// Reads all files that are part of a product. Fails when something cannot be read or a name is taken twice.
pub(super) fn scan(files: &[SourceFile]) -> Result<Catalog> {
    let mut by_package: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.role == Role::Product && !file.package.starts_with("xtask")) {
        by_package.entry(&file.package).or_default().push(file);
    }
    let mut catalog = Catalog::default();
    let mut provided = Vec::new();
    for (package, files) in by_package {
        let names = Names::of(&files);
        for file in &files {
            implemented::read(file, &names, &mut catalog)?;
            provided.extend(implemented::provided(file).into_iter().map(|key| (key, package.to_owned())));
        }
        core_events::read(&files, &names, &mut catalog)?;
    }
    for service in catalog.services.values_mut() {
        service.providers = provided
            .iter()
            .filter(|(key, _)| *key == service.key)
            .map(|(_, package)| package.clone())
            .collect();
        service.providers.sort();
        service.providers.dedup();
    }
    Ok(catalog)
}

/// What runs must have been read, whatever way of declaring it somebody finds: the other half of the scan.
pub(super) fn check_complete(catalog: &Catalog, booted: &Booted) -> Result<()> {
    for service in &booted.services {
        let name = &service.name;
        ensure!(
            catalog.services.contains_key(name),
            "service `{name}` is provided, but no `impl Service` of it was found"
        );
    }
    for listener in &booted.listeners {
        let event = &listener.event;
        ensure!(
            catalog.events.contains_key(event),
            "event `{event}` is listened to, but no `impl Event` of it was found"
        );
    }
    Ok(())
}

/// Enters something under a name that must be free.
pub(super) fn enter<T>(
    entries: &mut BTreeMap<String, T>,
    what: &str,
    name: String,
    path: &str,
    entry: T,
) -> Result<()> {
    if entries.contains_key(&name) {
        bail!("{path}: {what} `{name}` is declared twice");
    }
    entries.insert(name, entry);
    Ok(())
}

/// The items of a file that are compiled into the product, those of inline modules included.
pub(super) fn product_items(file: &SourceFile) -> Vec<&Item> {
    let mut items = Vec::new();
    let mut queue: Vec<&Item> = file.syntax.items.iter().rev().collect();
    while let Some(item) = queue.pop() {
        if file.is_test_line(syn::spanned::Spanned::span(item).start().line) {
            continue;
        }
        if let Item::Mod(syn::ItemMod { content: Some((_, inner)), .. }) = item {
            queue.extend(inner.iter().rev());
        }
        items.push(item);
    }
    items
}
