//! One layer of settings: values with the place of each.
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::source::Source;

/// A path of keys, the section first.
pub(crate) type KeyPath = Vec<String>;

/// Values and where each came from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    pub(crate) values: Map<String, Value>,
    /// Places of tables and values alike.
    pub(crate) places: BTreeMap<KeyPath, Source>,
}

impl Layer {
    pub(crate) fn set(&mut self, path: &[String], value: Value, source: Source) {
        let Some((last, tables)) = path.split_last() else { return };
        let mut table = &mut self.values;
        for name in tables {
            let entry = table.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
            if !entry.is_object() {
                *entry = Value::Object(Map::new());
            }
            let Value::Object(next) = entry else { return };
            table = next;
        }
        table.insert(last.clone(), value);
        self.places.insert(path.to_vec(), source);
    }
    /// Lays another layer on top: tables join, values are replaced.
    pub(crate) fn lay(&mut self, upper: Self) {
        join(&mut self.values, upper.values);
        self.places.extend(upper.places);
    }
    /// Takes a value away.
    pub(crate) fn take(&mut self, path: &[String]) {
        let Some((last, tables)) = path.split_last() else { return };
        let table =
            tables.iter().try_fold(&mut self.values, |table, name| table.get_mut(name)?.as_object_mut());
        if let Some(table) = table {
            table.remove(last);
        }
        self.places.retain(|place, _| !place.starts_with(path));
    }
    /// Where a path was set, or the nearest table above it.
    pub(crate) fn place(&self, path: &[String]) -> Source {
        (0..=path.len())
            .rev()
            .find_map(|end| self.places.get(&path[..end]))
            .cloned()
            .unwrap_or(Source::Default)
    }
}

fn join(lower: &mut Map<String, Value>, upper: Map<String, Value>) {
    for (name, value) in upper {
        match (lower.get_mut(&name), value) {
            (Some(Value::Object(below)), Value::Object(above)) => join(below, above),
            (_, value) => {
                lower.insert(name, value);
            }
        }
    }
}
