//! Reading a document; one that people damaged is refused with what is wrong.

use std::collections::BTreeMap;

use godel_model::Stamp;
use serde_json::{Map, Value};

use super::{Class, DERIVED, Deletion, Document, Hold, Progress, REVIVED, Register, Shape, shape};

/// The largest document that is read, in bytes.
const DOCUMENT_MAX_BYTES: usize = 8 * 1024 * 1024;

type Why = String;

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// If it is not JSON, or a field that Godel needs is not what it should be; says which.
    pub fn parse(class: Class, bytes: &[u8]) -> Result<Self, Why> {
        if bytes.len() > DOCUMENT_MAX_BYTES {
            return Err(format!("it has more than {DOCUMENT_MAX_BYTES} bytes"));
        }
        let value: Value =
            serde_json::from_slice(bytes).map_err(|cause| format!("it is not JSON: {cause}"))?;
        let Value::Object(members) = value else {
            return Err("it is not a JSON object".to_owned());
        };
        Self::from_members(class, members)
    }

    /// Takes a document out of its members.
    fn from_members(class: Class, mut members: Map<String, Value>) -> Result<Self, Why> {
        let clock = match members.remove("clock") {
            Some(Value::Object(clock)) => clock,
            Some(_) => return Err("\"clock\" is not an object".to_owned()),
            None => Map::new(),
        };
        let born = clock.get("born").map_or(Ok(Stamp::ZERO), as_stamp)?;
        let mut document = Self {
            class,
            born,
            fields: BTreeMap::new(),
            sets: BTreeMap::new(),
            comments: BTreeMap::new(),
            progress: None,
            hold: None,
            deletion: None,
        };
        document.take_groups(&mut members, &clock)?;
        for (field, value) in members {
            if DERIVED.contains(&field.as_str()) {
                continue;
            }
            document.take(field, value)?;
        }
        document.take_stamps(&clock)?;
        document.check()
    }

    /// Takes the fields that are merged together.
    fn take_groups(
        &mut self,
        members: &mut Map<String, Value>,
        clock: &Map<String, Value>,
    ) -> Result<(), Why> {
        if let Some(comments) = members.remove("comments") {
            for comment in as_array("comments", comments)? {
                let id = comment["id"].as_str().ok_or("a comment has no id")?;
                if id.starts_with(REVIVED) {
                    continue;
                }
                self.comments.insert(id.to_owned(), comment);
            }
        }
        if self.class == Class::Bead {
            let status = members.remove("status").ok_or("it has no status")?;
            let status = status.as_str().ok_or("\"status\" is not text")?.to_owned();
            let resolution = members.remove("resolution");
            let (reopened, back, stamp) = match clock.get("status") {
                Some(parts) => (number(&parts[0])?, number(&parts[1])?, as_stamp(&parts[2])?),
                None => (0, 0, self.born),
            };
            self.progress = Some(Progress { reopened, back, stamp, status, resolution });
            let agent = members.remove("agent").and_then(|agent| Some(agent.as_str()?.to_owned()));
            let lease = members.remove("lease");
            if let Some(parts) = clock.get("hold") {
                let (turn, since, stamp) =
                    (number(&parts[0])?, as_stamp(&parts[1])?, as_stamp(&parts[2])?);
                self.hold = Some(Hold { turn, since, stamp, agent, lease });
            } else if agent.is_some() || lease.is_some() {
                let (since, stamp) = (self.born, self.born);
                self.hold = Some(Hold { turn: 1, since, stamp, agent, lease });
            }
        }
        if let Some(parts) = clock.get("deleted") {
            let by = parts[1].as_str().unwrap_or_default().to_owned();
            self.deletion = Some(Deletion { stamp: as_stamp(&parts[0])?, by });
        }
        Ok(())
    }

    /// Takes one field by its shape; its stamp is that of birth until the clock says otherwise.
    fn take(&mut self, field: String, value: Value) -> Result<(), Why> {
        let register = |value| Register { stamp: self.born, value: Some(value) };
        let elements: BTreeMap<String, Register> = match shape(&field) {
            Shape::Plain => {
                let register = register(value);
                self.fields.insert(field, register);
                return Ok(());
            }
            Shape::Members => match value {
                Value::Object(members) => {
                    members.into_iter().map(|(key, value)| (key, register(value))).collect()
                }
                _ => return Err(format!("\"{field}\" is not an object")),
            },
            Shape::Texts => as_array(&field, value)?
                .into_iter()
                .map(|item| match &item {
                    Value::String(text) => Ok((text.clone(), register(item))),
                    _ => Err(format!("\"{field}\" holds something that is not text")),
                })
                .collect::<Result<_, _>>()?,
            Shape::Keyed(by) => as_array(&field, value)?
                .into_iter()
                .map(|item| Ok((key_of(&field, &item, by)?, register(item))))
                .collect::<Result<_, Why>>()?,
        };
        if !elements.is_empty() {
            self.sets.insert(field, elements);
        }
        Ok(())
    }

    /// Reads the stamps; one without a value is the trace of something removed.
    fn take_stamps(&mut self, clock: &Map<String, Value>) -> Result<(), Why> {
        let put = |registers: &mut BTreeMap<String, Register>, stamps: &Value| {
            let stamps = stamps.as_object().ok_or("the clock is not made of objects")?;
            for (key, stamp) in stamps {
                let stamp = as_stamp(stamp)?;
                let register = registers.entry(key.clone());
                register.or_insert(Register { stamp, value: None }).stamp = stamp;
            }
            Ok::<_, Why>(())
        };
        if let Some(stamps) = clock.get("fields") {
            put(&mut self.fields, stamps)?;
        }
        if let Some(sets) = clock.get("sets") {
            let sets = sets.as_object().ok_or("the clock is not made of objects")?;
            for (field, stamps) in sets {
                put(self.sets.entry(field.clone()).or_default(), stamps)?;
            }
        }
        Ok(())
    }

    fn check(self) -> Result<Self, Why> {
        for field in ["id", "birth"] {
            if self.text(field).is_none_or(str::is_empty) {
                return Err(format!("it has no {field}"));
            }
        }
        if self.class == Class::Bead && self.text("title").is_none() {
            return Err("it has no title".to_owned());
        }
        Ok(self)
    }
}

fn as_array(field: &str, value: Value) -> Result<Vec<Value>, Why> {
    match value {
        Value::Array(items) => Ok(items),
        _ => Err(format!("\"{field}\" is not a list")),
    }
}

/// Returns what tells an element apart from the others of its set.
pub(crate) fn key_of(field: &str, item: &Value, by: &[&str]) -> Result<String, Why> {
    let parts: Option<Vec<&str>> = by.iter().map(|member| item[*member].as_str()).collect();
    let parts =
        parts.ok_or_else(|| format!("an element of \"{field}\" has no {}", by.join(" or ")))?;
    Ok(parts.join(" "))
}

fn as_stamp(value: &Value) -> Result<Stamp, Why> {
    let text = value.as_str().ok_or("a stamp of the clock is not text")?;
    text.parse().map_err(|invalid: godel_model::Invalid| invalid.to_string())
}

fn number(value: &Value) -> Result<u32, Why> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| "a count of the clock is not a number".to_owned())
}
