//! What each owner has seen.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harness_fs::{Owner, Seen};

/// Most owners remembered; the one that was quiet for longest is forgotten first.
const MAX_OWNERS: usize = 1_024;
/// Most files remembered for each owner.
const MAX_FILES: usize = 10_000;

/// What each owner has last seen at each resolved path. Clones share their content.
///
/// Memory is bounded: what falls out counts as not seen, so that forgetting only ever asks for another read.
#[derive(Debug, Clone, Default)]
pub struct Observations(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    owners: HashMap<Owner, Recent<HashMap<PathBuf, Recent<Seen>>>>,
    clock: u64,
}

#[derive(Debug, Default)]
struct Recent<T> {
    at: u64,
    value: T,
}

impl Observations {
    /// Remembers what the owner saw; a later sight replaces an earlier one.
    pub fn record(&self, owner: &Owner, path: &Path, seen: Seen) {
        let mut table = self.table();
        table.clock += 1;
        let at = table.clock;
        if !table.owners.contains_key(owner) {
            make_room(&mut table.owners, MAX_OWNERS);
        }
        let files = table.owners.entry(owner.clone()).or_default();
        files.at = at;
        if !files.value.contains_key(path) {
            make_room(&mut files.value, MAX_FILES);
        }
        files.value.insert(path.to_owned(), Recent { at, value: seen });
    }

    /// What the owner has last seen at the path, if anything.
    pub fn seen(&self, owner: &Owner, path: &Path) -> Option<Seen> {
        Some(self.table().owners.get(owner)?.value.get(path)?.value.clone())
    }

    /// All that the owner has seen, the oldest sight first: what [`Observations::import`] takes.
    pub fn export(&self, owner: &Owner) -> Vec<(PathBuf, Seen)> {
        let table = self.table();
        let Some(files) = table.owners.get(owner) else { return Vec::new() };
        let mut all: Vec<_> = files.value.iter().map(|(path, seen)| (seen.at, path, &seen.value)).collect();
        all.sort_by_key(|(at, ..)| *at);
        all.into_iter().map(|(_, path, seen)| (path.clone(), seen.clone())).collect()
    }

    /// Remembers what the owner saw in an earlier process. A file that has changed since is stale as if it had changed
    /// in this one.
    pub fn import(&self, owner: &Owner, seen: impl IntoIterator<Item = (PathBuf, Seen)>) {
        for (path, seen) in seen {
            self.record(owner, &path, seen);
        }
    }

    /// Forgets an owner that is gone.
    pub fn forget(&self, owner: &Owner) {
        self.table().owners.remove(owner);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the entry that is oldest if one more would be too many.
fn make_room<K: Clone + Eq + std::hash::Hash, T>(map: &mut HashMap<K, Recent<T>>, most: usize) {
    if map.len() < most {
        return;
    }
    let oldest = map.iter().min_by_key(|(_, entry)| entry.at).map(|(key, _)| key.clone());
    if let Some(oldest) = oldest {
        map.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use harness_fs::{Owner, Seen, Version};

    use super::{MAX_FILES, MAX_OWNERS, Observations};

    fn present(token: &str) -> Seen {
        Seen::Present(Version::new(token))
    }

    #[test]
    fn the_latest_sight_of_each_owner_counts() {
        let (observations, one, two) = (Observations::default(), Owner::new("1"), Owner::new("2"));
        let path = Path::new("/a");
        observations.record(&one, path, Seen::Absent);
        observations.clone().record(&one, path, present("x"));
        assert_eq!(
            (observations.seen(&one, path), observations.seen(&two, path)),
            (Some(present("x")), None)
        );
        observations.forget(&one);
        assert_eq!(observations.seen(&one, path), None);
    }

    #[test]
    fn an_export_can_be_imported_elsewhere() {
        let (first, second) = (Observations::default(), Observations::default());
        let (owner, resumed) = (Owner::new("1"), Owner::new("2"));
        first.record(&owner, Path::new("/b"), Seen::Absent);
        first.record(&owner, Path::new("/a"), present("y"));
        let exported = first.export(&owner);
        assert_eq!(exported, [(PathBuf::from("/b"), Seen::Absent), ("/a".into(), present("y"))]);
        second.import(&resumed, exported.clone());
        assert_eq!(second.export(&resumed), exported);
        assert_eq!(second.export(&owner), []);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let (observations, owner) = (Observations::default(), Owner::new("1"));
        let path = |number: usize| PathBuf::from(format!("/{number}"));
        for number in 0..MAX_FILES {
            observations.record(&owner, &path(number), Seen::Absent);
        }
        observations.record(&owner, &path(0), Seen::Absent);
        observations.record(&owner, &path(MAX_FILES), Seen::Absent);
        assert_eq!(observations.export(&owner).len(), MAX_FILES);
        assert_eq!(observations.seen(&owner, &path(1)), None);
        assert_eq!(observations.seen(&owner, &path(0)), Some(Seen::Absent));
        for number in 1..=MAX_OWNERS {
            observations.record(&Owner::new(format!("other {number}")), &path(0), Seen::Absent);
        }
        assert_eq!(observations.seen(&owner, &path(0)), None);
    }
}
