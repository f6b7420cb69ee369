//! Conversations on disk: the head as a paper, each node as a row.

use std::sync::Arc;

use godel_agents::tree::{Node, NodeNumber, Tree};
use godel_app::App;
use godel_model::TenantId;
use godel_store::Tx;
use serde_json::json;
use uuid::Uuid;

use crate::doc::Talk;
use crate::{Error, Result, paper};

/// How many nodes are read at once.
const PAGE: usize = 1_000;

/// Reads a whole conversation.
pub(crate) fn load(tx: &mut Tx<'_>, talk: &Talk) -> Result<Tree> {
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
    let whole = json!({
        "nodes": nodes, "branches": talk.branches, "current": talk.current, "saves": talk.saves,
    });
    serde_json::from_value(whole).map_err(damaged)
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
pub(crate) fn store(tx: &mut Tx<'_>, talk: &mut Talk, tree: &Tree) -> Result<()> {
    let known = talk.nodes as usize;
    for (NodeNumber(number), node) in tree.nodes().skip(known) {
        add(tx, talk.id, number, node)?;
    }
    follow(talk, tree);
    Ok(())
}

fn add(tx: &mut Tx<'_>, talk: Uuid, number: u32, node: &Node) -> Result<()> {
    let doc = serde_json::to_string(node).map_err(|cause| Error::Paper(cause.to_string()))?;
    Ok(tx.talk_nodes(talk).add(number, &doc)?)
}

/// Keeps what a session has said since the last time.
pub(crate) async fn keep(app: &App, tenant: TenantId, id: Uuid, tree: Tree) -> Result<()> {
    let tree = Arc::new(tree);
    let work = move |tx: &mut Tx<'_>, talk: &mut Talk| store(tx, talk, &tree);
    paper::change::<Talk, ()>(app, tenant, id, work).await.map(drop)
}
