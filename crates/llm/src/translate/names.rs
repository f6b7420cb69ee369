//! Names of tools and ids of calls as each side may spell them.

use std::collections::{HashMap, HashSet};

use super::ir::{Item, Prompt, ToolRef};
use crate::Dialect;

/// The longest name or id that every provider takes.
const MAX_CHARS: usize = 64;

/// How the tools of one request are called upstream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    upstream: HashMap<(Option<String>, String), String>,
    client: HashMap<String, ToolRef>,
    unique: Unique,
}

impl Names {
    /// Names the tools of a prompt, those that only its history knows included.
    pub(crate) fn new(prompt: &Prompt) -> Self {
        let mut names = Self::default();
        for tool in &prompt.tools {
            names.add(&tool.tool);
        }
        for item in &prompt.items {
            if let Item::Call(call) = item {
                names.add(&call.tool);
            }
        }
        names
    }

    fn add(&mut self, tool: &ToolRef) {
        let key = (tool.space.clone(), tool.name.clone());
        if self.upstream.contains_key(&key) {
            return;
        }
        let whole = match &tool.space {
            Some(space) => format!("{space}__{}", tool.name),
            None => tool.name.clone(),
        };
        let mut plain = plain(&whole);
        if !plain.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            plain.insert(0, '_');
        }
        let name = self.unique.take(&plain);
        self.client.insert(name.clone(), tool.clone());
        self.upstream.insert(key, name);
    }

    /// Returns what the upstream calls a tool.
    pub(crate) fn upstream(&self, tool: &ToolRef) -> String {
        let key = (tool.space.clone(), tool.name.clone());
        self.upstream.get(&key).cloned().unwrap_or_else(|| tool.name.clone())
    }

    /// Returns what the upstream calls the tool of that bare name.
    pub(crate) fn by_name(&self, name: &str) -> String {
        let bare = ToolRef { name: name.to_owned(), ..ToolRef::default() };
        if self.upstream.contains_key(&(None, bare.name.clone())) {
            return self.upstream(&bare);
        }
        let spaced = self.upstream.iter().filter(|((_, known), _)| known == name);
        spaced.map(|(_, upstream)| upstream.clone()).min().unwrap_or(bare.name)
    }

    /// Returns the client's tool that the upstream calls so.
    pub(crate) fn client(&self, name: &str) -> ToolRef {
        let unknown = || ToolRef { name: name.to_owned(), ..ToolRef::default() };
        self.client.get(name).cloned().unwrap_or_else(unknown)
    }
}

/// The ids of the calls of one request, valid upstream and each used once.
#[derive(Debug)]
pub(crate) struct Ids {
    strict: bool,
    unique: Unique,
    latest: HashMap<String, String>,
}

impl Ids {
    /// Begins with no ids.
    pub(crate) fn new(to: Dialect) -> Self {
        let strict = to == Dialect::Anthropic;
        Self { strict, unique: Unique::default(), latest: HashMap::new() }
    }

    /// Returns the id of the next call.
    pub(crate) fn call(&mut self, id: &str) -> String {
        let valid = if self.strict || id.is_empty() { plain(id) } else { short(id) };
        let valid = self.unique.take(&valid);
        self.latest.insert(id.to_owned(), valid.clone());
        valid
    }

    /// Returns the id of the call that a result belongs to.
    pub(crate) fn result(&self, id: &str) -> String {
        self.latest.get(id).cloned().unwrap_or_else(|| plain(id))
    }
}

/// Replaces what `^[a-zA-Z0-9_-]+$` does not allow.
pub(crate) fn plain(text: &str) -> String {
    let keep = |each: char| each.is_ascii_alphanumeric() || each == '_' || each == '-';
    let plain: String =
        text.chars().take(MAX_CHARS).map(|each| if keep(each) { each } else { '_' }).collect();
    if plain.is_empty() { "_".to_owned() } else { plain }
}

fn short(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}

/// Names of which none is used twice.
#[derive(Debug, Clone, Default)]
struct Unique {
    used: HashSet<String>,
    /// The last number behind a name, so that many of the same are no burden.
    numbers: HashMap<String, u32>,
}

impl Unique {
    /// Returns the name, or one with a number behind it if it is taken or too long.
    fn take(&mut self, name: &str) -> String {
        if name.chars().count() <= MAX_CHARS && self.used.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.numbers.entry(name.to_owned()).or_insert(1);
        loop {
            *number = number.wrapping_add(1);
            let end = format!("_{number}");
            let start = name.chars().take(MAX_CHARS - end.len());
            let numbered: String = start.chain(end.chars()).collect();
            if self.used.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ir::Tool;
    use super::*;

    fn tool(space: Option<&str>, name: &str) -> Tool {
        let tool = ToolRef { space: space.map(Into::into), name: name.to_owned(), custom: false };
        Tool { tool, ..Tool::default() }
    }

    #[test]
    fn names_of_tools_come_back_as_they_were() {
        let long = "x".repeat(70);
        let tools =
            [tool(None, "a.b"), tool(None, "a_b"), tool(Some("n"), "c"), tool(None, "n__c")];
        let mut tools = tools.to_vec();
        tools.extend([tool(None, &long), tool(None, &format!("{long}y")), tool(None, "1")]);
        let prompt = Prompt { tools: tools.clone(), ..Prompt::default() };
        let names = Names::new(&prompt);
        let upstream: HashSet<_> = tools.iter().map(|tool| names.upstream(&tool.tool)).collect();
        assert_eq!(upstream.len(), tools.len());
        assert!(upstream.iter().all(|name| name.len() <= 64 && plain(name) == *name));
        for tool in tools {
            assert_eq!(names.client(&names.upstream(&tool.tool)), tool.tool);
        }
    }

    #[test]
    fn many_of_the_same_are_no_burden() {
        let mut ids = Ids::new(Dialect::Chat);
        let told: HashSet<String> = (0..100_000).map(|_| ids.call("same")).collect();
        assert_eq!(told.len(), 100_000);
    }

    #[test]
    fn an_id_that_comes_twice_is_told_apart() {
        let mut ids = Ids::new(Dialect::Anthropic);
        assert_eq!(ids.call("f.x:0"), "f_x_0");
        assert_eq!(ids.result("f.x:0"), "f_x_0");
        assert_eq!(ids.call("f.x:0"), "f_x_0_2");
        assert_eq!(ids.result("f.x:0"), "f_x_0_2");
        assert_eq!(ids.call(""), "_");
    }
}
