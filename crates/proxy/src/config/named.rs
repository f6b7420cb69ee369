//! Tables that are asked in the order of the file.

use serde::Deserialize;

/// Tables by name, in the order in which the file names them: it is the order in which they are asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Named(Vec<(String, toml::Table)>);

impl Named {
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(name, _)| name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&toml::Table> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, table)| table)
    }
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tables;
        impl<'de> serde::de::Visitor<'de> for Tables {
            type Value = Named;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("tables")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Named, A::Error> {
                let mut named = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    named.push(entry);
                }
                Ok(Named(named))
            }
        }
        deserializer.deserialize_map(Tables)
    }
}
