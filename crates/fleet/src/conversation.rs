//! Conversations on disk: the head as a paper, each node as a row.

use std::sync::Arc;

use godel_agents::tree::{Entry, Node, NodeNumber, Tree};
use godel_app::App;
use godel_llm::translate::talk::Item;
use godel_model::TenantId;
use godel_store::Tx;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::doc::Talk;
use crate::{Error, Result, paper};

/// How many nodes are read at once.
const PAGE: usize = 1_000;

/// When a node was kept, and what its agent had spent by then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// When it was kept; nodes that were taken over from elsewhere do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Timestamp>,
    /// In millionths of a dollar; one node says it for all that were kept at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spent: Option<i64>,
}

/// A node as it is on disk.
#[derive(Serialize)]
struct Stamped<'a> {
    #[serde(flatten)]
    node: &'a Node,
    #[serde(flatten)]
    stamp: Stamp,
}

/// Reads a whole conversation.
pub(crate) fn load(tx: &mut Tx<'_>, talk: &Talk) -> Result<Tree> {
    Ok(load_stamped(tx, talk)?.0)
}

/// Reads a whole conversation, and when its nodes were kept.
pub(crate) fn load_stamped(tx: &mut Tx<'_>, talk: &Talk) -> Result<(Tree, Vec<Stamp>)> {
    let mut nodes: Vec<serde_json::Value> = Vec::new();
    loop {
        let first = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        let page = tx.talk_nodes(talk.id).from(first, PAGE)?;
        let full = page.len() == PAGE;
        for (_, doc) in page {
            nodes.push(serde_json::from_str(&doc).map_err(damaged)?);
        }
        if !full {
            break;
        }
    }
    // A node may be there of which the head knows nothing yet: it belongs to a turn that was cut off.
    nodes.truncate(talk.nodes as usize);
    let stamps = nodes.iter().map(|node| Stamp::deserialize(node).unwrap_or_default()).collect();
    let whole = json!({
        "nodes": nodes, "branches": talk.branches, "current": talk.current, "saves": talk.saves,
    });
    Ok((serde_json::from_value(whole).map_err(damaged)?, stamps))
}

/// Tells what each node cost, as far as that is known: what was spent between those who say it. What came after
/// the last one is settled a moment later, and belongs to it.
pub(crate) fn costs(stamps: &[Stamp], spent_now: Option<i64>) -> Vec<Option<i64>> {
    let mut costs = vec![None; stamps.len()];
    // An agent that asks models past the switchboard has spent nothing that anybody knows of.
    let Some(now) = spent_now.filter(|now| *now > 0) else { return costs };
    let said = |(index, stamp): (usize, &Stamp)| stamp.spent.map(|spent| (index, spent));
    let mut paid = stamps.iter().enumerate().filter_map(said).peekable();
    let mut before = 0;
    while let Some((index, spent)) = paid.next() {
        let until = if paid.peek().is_some() { spent } else { now.max(spent) };
        costs[index] = Some((until - before).max(0));
        before = spent;
    }
    costs
}

fn damaged(cause: serde_json::Error) -> Error {
    Error::Store(godel_store::Error::Unreadable { what: "conversation", cause: cause.into() })
}

/// Reads a conversation with the rights of a tenant.
pub(crate) async fn open(app: &App, tenant: TenantId, id: Uuid) -> Result<(Talk, Tree)> {
    paper::look(app, tenant, move |tx| {
        let talk: Talk = paper::by_id(tx, id)?.ok_or_else(|| Error::NoSession(id.to_string()))?;
        let tree = load(tx, &talk)?;
        Ok((talk, tree))
    })
    .await
}

/// Takes over where branches and save points of a tree stand.
fn follow(talk: &mut Talk, tree: &Tree) {
    talk.branches.clone_from(tree.branches());
    talk.saves.clone_from(tree.saves());
    tree.current().clone_into(&mut talk.current);
    talk.nodes = u32::try_from(tree.nodes().count()).unwrap_or(u32::MAX);
}

/// Writes what a tree has more than what is stored.
pub(crate) fn store(tx: &mut Tx<'_>, talk: &mut Talk, tree: &Tree, stamp: Stamp) -> Result<()> {
    let fresh = || tree.nodes().skip(talk.nodes as usize);
    // What was asked of a model is paid by the first thing that it said.
    let payer = fresh().position(|(_, node)| is_by_model(node)).unwrap_or(0);
    for (index, (NodeNumber(number), node)) in fresh().enumerate() {
        let spent = stamp.spent.filter(|_| index == payer);
        add(tx, talk.id, number, Stamped { node, stamp: Stamp { spent, ..stamp } })?;
    }
    follow(talk, tree);
    Ok(())
}

fn is_by_model(node: &Node) -> bool {
    let said = |item: &Item| !matches!(item, Item::User { .. } | Item::Result { .. });
    matches!(&node.entry, Entry::Said { item } if said(item))
}

fn add(tx: &mut Tx<'_>, talk: Uuid, number: u32, node: Stamped<'_>) -> Result<()> {
    let doc = serde_json::to_string(&node).map_err(|cause| Error::Paper(cause.to_string()))?;
    Ok(tx.talk_nodes(talk).add(number, &doc)?)
}

/// Tells what the agent of a conversation has spent; nothing if a price is not known.
pub(crate) fn spent(tx: &mut Tx<'_>, talk: &Talk) -> Result<Option<i64>> {
    let (spent, unpriced) = tx.usage().of_agent(&talk.agent.to_string())?;
    Ok((unpriced == 0).then_some(spent))
}

/// Keeps what a session has said since the last time.
pub(crate) async fn keep(app: &App, tenant: TenantId, id: Uuid, tree: Tree) -> Result<()> {
    let (tree, at) = (Arc::new(tree), app.clock.now());
    let work = move |tx: &mut Tx<'_>, talk: &mut Talk| {
        let spent = spent(tx, talk)?;
        store(tx, talk, &tree, Stamp { at: Some(at), spent })
    };
    paper::change::<Talk, ()>(app, tenant, id, work).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nodes_cost_adds_up_to_what_the_agent_has_spent() {
        let stamp = |spent| Stamp { at: None, spent };
        let stamps =
            [stamp(None), stamp(Some(300)), stamp(None), stamp(Some(300)), stamp(Some(700))];
        let known = costs(&stamps, Some(950));
        assert_eq!(known, [None, Some(300), None, Some(0), Some(650)]);
        assert_eq!(known.iter().flatten().sum::<i64>(), 950);
        assert_eq!(costs(&stamps, None), [None; 5], "a price is not known");
        assert_eq!(costs(&[stamp(Some(0))], Some(0)), [None], "it asks models past us");
    }

    #[test]
    fn a_stamp_lies_beside_the_node_and_old_nodes_have_none() {
        let node =
            Node { parent: None, entry: Entry::Said { item: Item::User { text: "a".into() } } };
        let stamp = Stamp { at: Some(Timestamp::UNIX_EPOCH), spent: Some(5) };
        let doc = serde_json::to_value(Stamped { node: &node, stamp }).unwrap();
        assert_eq!(Node::deserialize(&doc).unwrap(), node);
        assert_eq!(Stamp::deserialize(&doc).unwrap(), stamp);
        let old = serde_json::to_value(&node).unwrap();
        assert_eq!(Stamp::deserialize(&old).unwrap(), Stamp::default());
    }
}
