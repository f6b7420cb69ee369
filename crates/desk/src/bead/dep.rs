//! `godel bead dep`: what depends on what.

use std::collections::HashSet;

use godel_args::bead::Dep;
use godel_beads::{Neighbour, Shelf, ops};
use godel_console::output::{cut, plain};
use godel_console::{Exit, Result};
use godel_model::{BeadStatus, LinkKind};
use serde::Serialize;

use super::{answer, found};
use crate::desk::Desk;

/// How deep a tree is shown.
const DEPTH_MAX: usize = 50;
/// How many beads a tree shows.
const NODES_MAX: usize = 10_000;

/// Does what was asked for.
pub(super) fn run(desk: &Desk, asked: Dep) -> Result<Exit> {
    match asked {
        Dep::Add { bead, other, kind } => add(desk, bead, other, kind),
        Dep::Remove { bead, other, kind } => remove(desk, bead, other, kind),
        Dep::Tree { bead, up } => tree(desk, &bead, up),
    }
}

fn add(desk: &Desk, bead: String, other: String, kind: LinkKind) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let target = found(&mut shelf, &other)?.id;
    let name = target.clone();
    let bead = desk.write(&mut shelf, move |draft| ops::link(draft, &bead, kind, &name))?;
    let sentence = match kind {
        LinkKind::Blocks => format!("{} now depends on {target}", bead.id),
        kind => format!("{} is now linked to {target}: {kind}", bead.id),
    };
    answer(desk, &bead, &sentence)
}

fn remove(desk: &Desk, bead: String, other: String, kind: Option<LinkKind>) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let name = other.clone();
    let bead = desk.write(&mut shelf, move |draft| ops::unlink(draft, &bead, kind, &name))?;
    answer(desk, &bead, &format!("{} is no longer linked to {other}", bead.id))
}

/// A bead in a tree of those that depend on each other.
#[derive(Debug, Serialize)]
struct Node {
    id: String,
    title: Option<String>,
    status: Option<BeadStatus>,
    /// How it is linked to the one above; none for the first.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Whether it is shown with all below it elsewhere in this tree.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    seen: bool,
    below: Vec<Node>,
}

/// Grows a tree over the links that block, each bead once.
struct Grower<'a> {
    shelf: &'a mut Shelf,
    up: bool,
    seen: HashSet<String>,
}

impl Grower<'_> {
    fn below(&mut self, id: &str, depth: usize) -> Result<Vec<Node>> {
        if depth == 0 {
            return Ok(Vec::new());
        }
        let links = if self.up { self.shelf.links_to(id)? } else { self.shelf.links_of(id)? };
        let blocks = |link: &Neighbour| link.kind.parse().is_ok_and(LinkKind::blocks);
        let mut nodes = Vec::new();
        for link in links.into_iter().filter(blocks) {
            if self.seen.len() >= NODES_MAX {
                break;
            }
            let seen = !self.seen.insert(link.id.clone());
            let below = if seen { Vec::new() } else { self.below(&link.id, depth - 1)? };
            let Neighbour { kind, id, title, status } = link;
            nodes.push(Node { id, title, status, kind: Some(kind), seen, below });
        }
        Ok(nodes)
    }
}

fn tree(desk: &Desk, name: &str, up: bool) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let bead = found(&mut shelf, name)?;
    let seen = HashSet::from([bead.id.clone()]);
    let below = Grower { shelf: &mut shelf, up, seen }.below(&bead.id, DEPTH_MAX)?;
    let root = Node {
        id: bead.id,
        title: Some(bead.title),
        status: Some(bead.status),
        kind: None,
        seen: false,
        below,
    };
    if desk.output.is_json() {
        desk.output.value(&root)?;
        return Ok(Exit::Done);
    }
    let mut lines = Vec::new();
    draw(&root, "", "", &mut lines);
    let width = desk.output.width().unwrap_or(usize::MAX);
    lines.iter().try_for_each(|line| desk.output.line(cut(line, width)))?;
    Ok(Exit::Done)
}

fn draw(node: &Node, first: &str, rest: &str, lines: &mut Vec<String>) {
    let status = node.status.map_or("not here", BeadStatus::as_str);
    let kind = match node.kind.as_deref() {
        None | Some("blocks") => String::new(),
        Some(kind) => format!(" [{kind}]"),
    };
    let again = if node.seen { " (see above)" } else { "" };
    let title = node.title.as_deref().unwrap_or_default();
    let line = format!("{first}{} ({status}){kind}{again} {title}", node.id);
    lines.push(plain(line.trim_end()));
    for (at, below) in node.below.iter().enumerate() {
        let last = at + 1 == node.below.len();
        let (mark, gap) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw(below, &format!("{rest}{mark}"), &format!("{rest}{gap}"), lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, kind: Option<&str>, below: Vec<Node>) -> Node {
        let kind = kind.map(str::to_owned);
        let (title, status) = (Some(format!("title of {id}")), Some(BeadStatus::Open));
        Node { id: id.to_owned(), title, status, kind, seen: false, below }
    }

    #[test]
    fn a_tree_is_drawn_with_its_branches() {
        let deep = node("c", Some("waits-for"), Vec::new());
        let root = node(
            "a",
            None,
            vec![
                node("b", Some("blocks"), vec![deep]),
                Node { seen: true, ..node("d", Some("blocks"), Vec::new()) },
            ],
        );
        let mut lines = Vec::new();
        draw(&root, "", "", &mut lines);
        assert_eq!(
            lines,
            [
                "a (open) title of a",
                "├─ b (open) title of b",
                "│  └─ c (open) [waits-for] title of c",
                "└─ d (open) (see above) title of d",
            ]
        );
    }
}
