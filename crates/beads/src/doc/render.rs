//! Writing a document: what people read, and the clock that merging needs.

use std::collections::BTreeMap;

use godel_model::Stamp;
use serde_json::{Map, Value, json};

use super::{Class, Document, Register, Shape, canonical, shape};

impl Document {
    /// Returns the bytes that are stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = canonical(&self.to_value());
        text.push('\n');
        text.into_bytes()
    }

    /// Returns the document as JSON, with its clock.
    pub fn to_value(&self) -> Value {
        let mut value = self.visible();
        value.insert("clock".to_owned(), self.clock());
        Value::Object(value)
    }

    /// Returns the document as people read it, without its clock.
    pub fn visible(&self) -> Map<String, Value> {
        let mut value = Map::new();
        for (field, register) in &self.fields {
            if let Some(present) = &register.value {
                value.insert(field.clone(), present.clone());
            }
        }
        for (field, elements) in &self.sets {
            let shown = show(shape(field), elements);
            if let Some(shown) = shown.filter(|_| elements.values().any(|one| one.value.is_some()))
            {
                value.insert(field.clone(), shown);
            }
        }
        self.put_derived(&mut value);
        value
    }

    fn put_derived(&self, value: &mut Map<String, Value>) {
        let mut put = |field: &str, shown: Value| value.insert(field.to_owned(), shown);
        let said = self.said();
        if !said.is_empty() {
            put("comments", said.into());
        }
        if let Some(progress) = &self.progress {
            put("status", progress.status.as_str().into());
            if let Some(resolution) = &progress.resolution {
                put("resolution", resolution.clone());
            }
        }
        if let Some(hold) = &self.hold {
            if let Some(agent) = &hold.agent {
                put("agent", agent.as_str().into());
            }
            if let Some(lease) = &hold.lease {
                put("lease", lease.clone());
            }
        }
        put("updatedAt", self.touched().time().to_string().into());
        if let Some(deletion) = self.deleted() {
            put("deletedAt", deletion.stamp.time().to_string().into());
        }
        if self.class == Class::Bead {
            let parent = self.elements("links").find(|(key, _)| key.starts_with("parent-child "));
            if let Some((_, link)) = parent {
                put("parentBead", link["target"].clone());
            }
            // The page of the spec shows both always.
            for (field, empty) in [("commits", json!([])), ("metadata", json!({}))] {
                value.entry(field).or_insert(empty);
            }
        }
    }

    /// Returns the stamps that do not follow from the moment of birth.
    fn clock(&self) -> Value {
        let mut clock = Map::new();
        clock.insert("born".to_owned(), self.born.to_string().into());
        let fields = self.later(&self.fields);
        if !fields.is_empty() {
            clock.insert("fields".to_owned(), Value::Object(fields));
        }
        let sets = self.sets.iter().map(|(field, elements)| (field, self.later(elements)));
        let sets: Map<String, Value> = sets
            .filter(|(_, stamps)| !stamps.is_empty())
            .map(|(field, stamps)| (field.clone(), Value::Object(stamps)))
            .collect();
        if !sets.is_empty() {
            clock.insert("sets".to_owned(), Value::Object(sets));
        }
        if let Some(progress) = &self.progress
            && (progress.stamp, progress.reopened, progress.back) != (self.born, 0, 0)
        {
            let stamp = progress.stamp.to_string();
            let parts = json!([progress.reopened, progress.back, stamp]);
            clock.insert("status".to_owned(), parts);
        }
        if let Some(hold) = &self.hold {
            let (since, stamp) = (hold.since.to_string(), hold.stamp.to_string());
            clock.insert("hold".to_owned(), json!([hold.turn, since, stamp]));
        }
        if let Some(deletion) = &self.deletion {
            let stamp = deletion.stamp.to_string();
            clock.insert("deleted".to_owned(), json!([stamp, deletion.by]));
        }
        Value::Object(clock)
    }

    fn later(&self, registers: &BTreeMap<String, Register>) -> Map<String, Value> {
        let later = registers.iter().filter(|(_, register)| {
            // A removed value leaves nothing but its stamp.
            register.stamp != self.born || register.value.is_none()
        });
        later.map(|(key, register)| (key.clone(), stamp(register.stamp))).collect()
    }
}

fn stamp(stamp: Stamp) -> Value {
    stamp.to_string().into()
}

fn show(shape: Shape, elements: &BTreeMap<String, Register>) -> Option<Value> {
    let present = elements.iter().filter_map(|(key, one)| Some((key, one.value.clone()?)));
    match shape {
        Shape::Plain => None,
        Shape::Members => {
            Some(Value::Object(present.map(|(key, value)| (key.clone(), value)).collect()))
        }
        Shape::Texts | Shape::Keyed(_) => Some(present.map(|(_, value)| value).collect()),
    }
}
