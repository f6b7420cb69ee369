//! YAML as a tree with places.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use super::super::problem::{Mistake, Position, Problem};
use super::{Budget, Entry, Node, NodeKind, problem};

/// A list or mapping that is not closed yet.
struct Open {
    at: Position,
    anchor: usize,
    depth_of_anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, names: HashSet<String>, key: Option<(String, Position)> },
}

/// Builds the tree from the events of the parser, with a stack of its own.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, Anchored>,
    budget: Budget,
}

/// What an alias can stand for, and how large it is.
struct Anchored {
    node: Node,
    nodes: usize,
}

/// Reads the one document of a text.
pub(super) fn read(text: &str) -> Result<Node, Problem> {
    let mut builder = Builder::default();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            problem(Mistake::Syntax, place(*error.marker()), format!("not YAML: {}", error.info()))
        })?;
        if let Event::DocumentStart(_) = event {
            documents += 1;
            if documents > 1 {
                let at = place(span.start);
                return Err(problem(Mistake::Syntax, at, "one text holds one workflow"));
            }
        }
        builder.take(event, span)?;
    }
    builder.root.ok_or_else(|| problem(Mistake::Syntax, Position::START, "the text is empty"))
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Problem> {
        let at = place(span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let text = text.into_owned();
                let quoted = style != ScalarStyle::Plain
                    || tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
                let kind = if quoted { NodeKind::Text(text) } else { NodeKind::Plain(text) };
                self.budget.spend(1, self.open.len(), at)?;
                self.place(Node { at, kind }, anchor)
            }
            Event::SequenceStart(anchor, _) => self.push(at, anchor, Content::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                let content =
                    Content::Map { entries: Vec::new(), names: HashSet::new(), key: None };
                self.push(at, anchor, content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn push(&mut self, at: Position, anchor: usize, content: Content) -> Result<(), Problem> {
        self.budget.spend(1, self.open.len() + 1, at)?;
        let depth_of_anchor = self.budget.nodes;
        self.open.push(Open { at, anchor, depth_of_anchor, content });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Problem> {
        let Some(Open { at, anchor, depth_of_anchor, content }) = self.open.pop() else {
            return Ok(());
        };
        let kind = match content {
            Content::List(items) => NodeKind::List(items),
            Content::Map { entries, .. } => NodeKind::Map(entries),
        };
        let node = Node { at, kind };
        if anchor > 0 {
            let nodes = self.budget.nodes - depth_of_anchor + 1;
            self.anchors.insert(anchor, Anchored { node: node.clone(), nodes });
        }
        self.place(node, 0)
    }

    fn alias(&mut self, anchor: usize, at: Position) -> Result<(), Problem> {
        let Some(known) = self.anchors.get(&anchor) else {
            return Err(problem(Mistake::Syntax, at, "this alias has no anchor before it"));
        };
        self.budget.spend(known.nodes, self.open.len(), at)?;
        let node = Node { at, kind: known.node.kind.clone() };
        self.place(node, 0)
    }

    /// Puts a finished value where it belongs: as a key, as a value, in a list or at the top.
    fn place(&mut self, node: Node, anchor: usize) -> Result<(), Problem> {
        if anchor > 0 {
            self.anchors.insert(anchor, Anchored { node: node.clone(), nodes: 1 });
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::List(items)) => items.push(node),
            Some(Content::Map { entries, names, key }) => match key.take() {
                Some((key, at)) => entries.push(Entry { key, at, value: node }),
                None => {
                    let at = node.at;
                    let (NodeKind::Plain(text) | NodeKind::Text(text)) = node.kind else {
                        return Err(problem(Mistake::Syntax, at, "a key must be a text"));
                    };
                    if !names.insert(text.clone()) {
                        let message = format!("`{text}` is there twice");
                        return Err(problem(Mistake::DuplicateField, at, message));
                    }
                    *key = Some((text, at));
                }
            },
        }
        Ok(())
    }
}

fn place(marker: Marker) -> Position {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: count(marker.line()).max(1), column: count(marker.col()).saturating_add(1) }
}
