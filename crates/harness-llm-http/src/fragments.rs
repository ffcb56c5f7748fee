//! Finished JSON of values that are still in use.
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// Below this number of entries nothing is swept.
const SMALL: usize = 16;

/// JSON of shared values, by identity of the allocation.
///
/// An entry holds its value weakly. That keeps the address from being used again while the entry exists, so an
/// address names one value, and it lets the value go when its session does. Entries of values that are gone are
/// swept whenever the table has doubled, which bounds it by twice what is in use.
pub struct Fragments<T: ?Sized> {
    entries: HashMap<usize, (Weak<T>, Box<[u8]>)>,
    sweep_at: usize,
}

impl<T: ?Sized> Default for Fragments<T> {
    fn default() -> Self {
        Self { entries: HashMap::new(), sweep_at: SMALL }
    }
}

impl<T: ?Sized> Fragments<T> {
    /// Appends the JSON of `value`, made by `write` the first time.
    pub fn append<E>(
        &mut self,
        value: &Arc<T>,
        out: &mut Vec<u8>,
        write: impl FnOnce(&T, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let key = Arc::as_ptr(value).cast::<()>().addr();
        if let Some((_, json)) = self.entries.get(&key) {
            out.extend_from_slice(json);
            return Ok(());
        }
        let start = out.len();
        write(value, out)?;
        if self.entries.len() >= self.sweep_at {
            self.entries.retain(|_, (value, _)| value.strong_count() > 0);
            self.sweep_at = SMALL.max(self.entries.len() * 2);
        }
        self.entries.insert(key, (Arc::downgrade(value), out[start..].into()));
        Ok(())
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn append(fragments: &mut Fragments<str>, value: &Arc<str>) -> (String, bool) {
        let (mut out, mut made) = (Vec::new(), false);
        fragments
            .append(value, &mut out, |text, out| {
                made = true;
                out.extend_from_slice(text.as_bytes());
                Ok::<_, Infallible>(())
            })
            .unwrap();
        (String::from_utf8(out).unwrap(), made)
    }

    #[test]
    fn a_value_in_use_is_written_once() {
        let mut fragments = Fragments::default();
        let (one, twin): (Arc<str>, Arc<str>) = ("one".into(), "one".into());
        assert_eq!(append(&mut fragments, &one), ("one".into(), true));
        assert_eq!(append(&mut fragments, &Arc::clone(&one)), ("one".into(), false));
        assert_eq!(append(&mut fragments, &twin), ("one".into(), true));
    }

    #[test]
    fn a_value_at_the_address_of_a_gone_one_is_not_mistaken_for_it() {
        let mut fragments = Fragments::default();
        for round in 0..1000 {
            let value: Arc<str> = format!("value {round:04}").into();
            assert_eq!(append(&mut fragments, &value), (value.to_string(), true));
        }
    }

    #[test]
    fn values_that_are_gone_are_swept() {
        let mut fragments = Fragments::default();
        let kept: Vec<Arc<str>> = (0..100).map(|n| n.to_string().into()).collect();
        for value in &kept {
            append(&mut fragments, value);
        }
        for round in 0..10_000 {
            append(&mut fragments, &round.to_string().into());
        }
        assert!(fragments.len() <= 2 * kept.len() + SMALL, "{} entries", fragments.len());
        assert!(kept.iter().all(|value| !append(&mut fragments, value).1));
    }
}
