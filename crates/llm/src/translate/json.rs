//! JSON whose keys stay in the order in which they came: the order of a schema's properties, and of
//! a call's arguments, means something to a model and to its cache.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Number;

/// The key of an entry.
pub(crate) type Key = Cow<'static, str>;

/// A JSON value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Json {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Self>),
    Map(Vec<(Key, Self)>),
}

/// Makes an object; an entry that is `None` becomes null.
macro_rules! object {
    ($($key:literal => $value:expr),* $(,)?) => {
        $crate::translate::json::Json::Map(vec![
            $(($key.into(), $crate::translate::json::Json::from($value))),*
        ])
    };
}
pub(crate) use object;

/// Makes an object of those entries that are not null.
macro_rules! lean {
    ($($key:literal => $value:expr),* $(,)?) => {
        $crate::translate::json::object! { $($key => $value),* }.without_nulls()
    };
}
pub(crate) use lean;

impl Json {
    /// Reads a whole document; the parser refuses what is nested too deep.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// Returns the entry of an object, unless it is missing or null.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        let found = entries.iter().rev().find(|(name, _)| name == key)?;
        Some(&found.1).filter(|value| **value != Self::Null)
    }

    /// Returns the text under a key.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    /// Returns the number under a key, if it is whole and not negative.
    pub(crate) fn count(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            Self::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            _ => None,
        }
    }

    /// Returns the number under a key as it was written.
    pub(crate) fn number(&self, key: &str) -> Option<Number> {
        match self.get(key)? {
            Self::Number(number) => Some(number.clone()),
            _ => None,
        }
    }

    /// Returns the truth under a key.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Returns the list under a key, or an empty one.
    pub(crate) fn list(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::as_list)
    }

    /// Returns it as text.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns its elements; what is no list has none.
    pub(crate) fn as_list(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            _ => &[],
        }
    }

    /// Returns the texts of a list.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.as_list().iter().filter_map(Self::as_text).map(Into::into).collect()
    }

    /// Returns its entries; what is no object has none.
    pub(crate) fn entries(&self) -> &[(Key, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Tells whether it is an object.
    pub(crate) const fn is_map(&self) -> bool {
        matches!(self, Self::Map(_))
    }

    /// Returns the entry of an object to be changed.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter_mut().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Takes an entry out of an object.
    pub(crate) fn remove(&mut self, key: &str) {
        if let Self::Map(entries) = self {
            entries.retain(|(name, _)| name != key);
        }
    }

    /// Adds an entry to an object, unless the value is null.
    pub(crate) fn put(&mut self, key: &'static str, value: impl Into<Self>) {
        let value = value.into();
        if let (Self::Map(entries), false) = (self, value == Self::Null) {
            entries.push((key.into(), value));
        }
    }

    /// Leaves out the entries that are null.
    pub(crate) fn without_nulls(mut self) -> Self {
        if let Self::Map(entries) = &mut self {
            entries.retain(|(_, value)| *value != Self::Null);
        }
        self
    }

    /// Writes it behind `out`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, self).expect("memory takes all, and every key is text");
    }

    /// Returns it as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| std::fmt::Error)?)
    }
}

/// Some clients write whole numbers with a point.
fn whole(number: f64) -> Option<u64> {
    let fits = (0.0..9_007_199_254_740_992.0).contains(&number) && number.fract() == 0.0;
    fits.then_some(number as u64)
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Json {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Json {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Self {
        Self::Number((number as u64).into())
    }
}

impl From<Number> for Json {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<&Json> for Json {
    fn from(value: &Json) -> Self {
        value.clone()
    }
}

impl<T: Into<Self>> From<Vec<T>> for Json {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(flag) => to.serialize_bool(*flag),
            Self::Number(number) => number.serialize(to),
            Self::Text(text) => to.serialize_str(text),
            Self::List(list) => {
                let mut seq = to.serialize_seq(Some(list.len()))?;
                for value in list {
                    seq.serialize_element(value)?;
                }
                seq.end()
            }
            Self::Map(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Json>()? {
            entries.push((Cow::Owned(key), value));
        }
        Ok(Json::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again_in_the_same_order() {
        let text = r#"{"z":1,"a":[true,null,{"y":"\"é","b":-2}],"m":1.50}"#;
        let json = Json::parse(text.as_bytes()).unwrap();
        assert_eq!(json.to_string(), text.replace("1.50", "1.5"));
    }

    #[test]
    fn null_counts_as_missing() {
        let json = Json::parse(br#"{"a":null,"b":3.0}"#).unwrap();
        assert_eq!(json.get("a"), None);
        assert_eq!(json.count("b"), Some(3));
        assert_eq!(lean! { "x" => json.text("a") }, Json::Map(Vec::new()));
    }

    #[test]
    fn what_is_nested_too_deep_is_refused() {
        assert!(Json::parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
