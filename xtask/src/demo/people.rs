//! People: somebody is invited, and what was done is on record.

use super::Stage;
use crate::failure::{Failure, Result};

pub(super) fn play(stage: &mut Stage) -> Result<()> {
    stage.show(&[
        "project",
        "create",
        "payments",
        "--budget",
        "200/month",
        "--max-agents",
        "20",
        "--models",
        "claude-*,gpt-*",
    ])?;
    stage.show(&["user", "invite", "ann", "--role", "developer", "--project", "payments"])?;
    stage.show(&["user", "list"])?;
    stage.show(&["audit", "query", "--limit", "4"])?;
    stage.show(&["audit", "verify"])?;
    let record = stage.godel.call(&["audit", "query", "--json", "--limit", "100"])?;
    for action in ["user:create", "project:create", "auth:login"] {
        if !record.contains(action) {
            return Err(Failure::new(format!("{action} is not on record: {record}")));
        }
    }
    println!("  Each row is bound to the one before it by a keyed hash: an altered one is named.");
    Ok(())
}
