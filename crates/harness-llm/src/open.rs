//! Open vocabularies: a value of a type that this build does not know survives a round trip.
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The names that one open enum already gives a variant of its own.
pub trait Vocabulary: 'static {
    /// The field that carries the name, such as `type`.
    const TAG: &'static str;
    /// Names with a variant of their own; these must never land in [`Open`].
    const KNOWN: &'static [&'static str];
}

/// An object whose tag this build does not know, kept whole.
///
/// A *known* tag is refused, so that a malformed known value is an error and not an unknown one.
pub struct Open<V: Vocabulary> {
    fields: Map<String, Value>,
    vocabulary: PhantomData<fn() -> V>,
}

impl<V: Vocabulary> Open<V> {
    /// The value of the tag.
    pub fn name(&self) -> &str {
        self.fields.get(V::TAG).and_then(Value::as_str).unwrap_or_default()
    }
    /// Every field, the tag included.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }
}

impl<V: Vocabulary> TryFrom<Map<String, Value>> for Open<V> {
    type Error = String;
    fn try_from(fields: Map<String, Value>) -> Result<Self, String> {
        match fields.get(V::TAG) {
            Some(Value::String(name)) if V::KNOWN.contains(&name.as_str()) => {
                Err(format!("malformed value of {} `{name}`", V::TAG))
            }
            Some(Value::String(_)) => Ok(Self { fields, vocabulary: PhantomData }),
            _ => Err(format!("expected an object with a string `{}`", V::TAG)),
        }
    }
}
impl<V: Vocabulary> Clone for Open<V> {
    fn clone(&self) -> Self {
        Self { fields: self.fields.clone(), vocabulary: PhantomData }
    }
}
impl<V: Vocabulary> PartialEq for Open<V> {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields
    }
}
impl<V: Vocabulary> fmt::Debug for Open<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Open").field(&self.fields).finish()
    }
}
impl<V: Vocabulary> Serialize for Open<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields.serialize(serializer)
    }
}
impl<'de, V: Vocabulary> Deserialize<'de> for Open<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

/// An enum with a variant `Other(Open<…>)`: how its other variants are read.
pub(crate) trait Tagged: Sized {
    /// The names of those variants.
    type Vocabulary: Vocabulary;
    /// Reads the variant with this name from the fields that are left when the tag is taken.
    fn known<'de, A: MapAccess<'de>>(name: &'static str, fields: A) -> Result<Self, A::Error>;
    /// Takes in what has another name.
    fn open(open: Open<Self::Vocabulary>) -> Self;
}

/// Reads the fields of a variant.
pub(crate) fn fields<'de, T: Deserialize<'de>, A: MapAccess<'de>>(fields: A) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(fields))
}

/// Serde for an enum that is [`Tagged`] and derives the writing of its known variants with
/// `#[serde(remote = "Self")]`.
macro_rules! open_enum {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Other(open) => open.serialize(serializer),
                    known => Self::serialize(known, serializer),
                }
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::open::ByTag::<Self>::default())
            }
        }
    };
}
pub(crate) use open_enum;

/// Reads a [`Tagged`] enum. The tag decides between its variants and `Other`, so that an error names what is wrong
/// with a known one.
pub(crate) struct ByTag<T>(PhantomData<fn() -> T>);

impl<T> Default for ByTag<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Tagged> Visitor<'de> for ByTag<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with a string `{}`", T::Vocabulary::TAG)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut fields = Map::new();
        if let Some((key, value)) = map.next_entry::<String, Value>()? {
            // What this program writes has its tag first; then the rest is read as it comes.
            if let Some(name) = known::<T>(&key, &value) {
                return T::known(name, map).map_err(|error| malformed::<T, _>(name, &error));
            }
            fields.insert(key, value);
        }
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            fields.insert(key, value);
        }
        let tag = T::Vocabulary::TAG;
        match fields.get(tag).and_then(|value| known::<T>(tag, value)) {
            Some(name) => {
                fields.shift_remove(tag);
                let rest = MapDeserializer::<_, serde_json::Error>::new(fields.into_iter());
                T::known(name, rest).map_err(|error| malformed::<T, _>(name, &error))
            }
            None => fields.try_into().map(T::open).map_err(A::Error::custom),
        }
    }
}

fn known<T: Tagged>(key: &str, value: &Value) -> Option<&'static str> {
    let name = value.as_str().filter(|_| key == T::Vocabulary::TAG)?;
    T::Vocabulary::KNOWN.iter().find(|known| **known == name).copied()
}
fn malformed<T: Tagged, E: serde::de::Error>(name: &str, error: &dyn fmt::Display) -> E {
    E::custom(format!("malformed value of {} `{name}`: {error}", T::Vocabulary::TAG))
}
