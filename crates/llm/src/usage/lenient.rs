//! Fields that are read as what they should be, and are nothing if they are something else: one odd
//! word of a provider must not hide what a request cost.

use std::fmt;
use std::marker::PhantomData;

use godel_model::Tier;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// More than any provider could mean.
pub(super) const COUNT_MAX: u64 = 1 << 40;

/// A count.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Count(pub(super) u64);

/// How a request was served, if that is said.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Served(pub(super) Option<Tier>);

/// An object.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Object<T>(pub(super) T);

/// Reads one kind of value; all others are the default.
struct Only<T>(PhantomData<T>);

/// What a field makes of the values that it may be.
trait Lenient<'de>: Default {
    fn of_count(_: u64) -> Self {
        Self::default()
    }

    fn of_text(_: &str) -> Self {
        Self::default()
    }

    fn of_object<M: MapAccess<'de>>(mut object: M) -> Result<Self, M::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

impl Lenient<'_> for Count {
    fn of_count(count: u64) -> Self {
        Self(if count <= COUNT_MAX { count } else { 0 })
    }
}

impl Lenient<'_> for Served {
    fn of_text(text: &str) -> Self {
        Self(Some(Tier::named(text)))
    }
}

impl<'de, T: Default + Deserialize<'de>> Lenient<'de> for Object<T> {
    fn of_object<M: MapAccess<'de>>(object: M) -> Result<Self, M::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(Self)
    }
}

impl<'de, T: Lenient<'de>> Visitor<'de> for Only<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_u64<E>(self, count: u64) -> Result<T, E> {
        Ok(T::of_count(count))
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(text))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut all: S) -> Result<T, S::Error> {
        while all.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    fn visit_map<M: MapAccess<'de>>(self, object: M) -> Result<T, M::Error> {
        T::of_object(object)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(told: D) -> Result<Self, D::Error> {
        told.deserialize_any(Only(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Served {
    fn deserialize<D: Deserializer<'de>>(told: D) -> Result<Self, D::Error> {
        told.deserialize_any(Only(PhantomData))
    }
}

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(told: D) -> Result<Self, D::Error> {
        told.deserialize_any(Only(PhantomData))
    }
}
