//! Open vocabularies: a value of a type that this build does not know survives a round trip.
use std::fmt;
use std::marker::PhantomData;

use serde::de::Error as _;
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

/// Reads and writes an enum with a variant `Other(Open<…>)`. The enum derives its known variants with
/// `#[serde(remote = "Self")]`; the tag decides between the two, so that an error names what is wrong with a known one.
macro_rules! open_enum {
    ($name:ident, $vocabulary:ty) => {
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
                match $crate::open::tagged::<$vocabulary, D>(deserializer)? {
                    $crate::open::Tagged::Known(name, known) => Self::deserialize(known).map_err(|error| {
                        let tag = <$vocabulary as $crate::open::Vocabulary>::TAG;
                        serde::de::Error::custom(format!("malformed value of {tag} `{name}`: {error}"))
                    }),
                    $crate::open::Tagged::Open(open) => Ok(Self::Other(open)),
                }
            }
        }
    };
}
pub(crate) use open_enum;

/// What a tag decides.
pub(crate) enum Tagged<V: Vocabulary> {
    /// A known name, with the whole object.
    Known(&'static str, Value),
    /// Anything else.
    Open(Open<V>),
}

pub(crate) fn tagged<'de, V: Vocabulary, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Tagged<V>, D::Error> {
    let fields = Map::<String, Value>::deserialize(deserializer)?;
    let name = fields.get(V::TAG).and_then(Value::as_str);
    match V::KNOWN.iter().find(|known| name == Some(known)) {
        Some(known) => Ok(Tagged::Known(known, Value::Object(fields))),
        None => fields.try_into().map(Tagged::Open).map_err(D::Error::custom),
    }
}
