//! Every use case is a span, and asks first whether its caller may.

use std::path::Path;

/// Modules whose functions with a call are use cases.
const MODULES: [&str; 60] = [
    "app/src/audit.rs",
    "app/src/auth/device.rs",
    "app/src/auth/login.rs",
    "app/src/backup/stream.rs",
    "app/src/beads/change.rs",
    "app/src/beads/convoys.rs",
    "app/src/beads/exchange.rs",
    "app/src/beads/look.rs",
    "app/src/erasure.rs",
    "app/src/events.rs",
    "app/src/keys.rs",
    "app/src/projects.rs",
    "app/src/queue/dead.rs",
    "app/src/queue/pools.rs",
    "app/src/queue/schedules.rs",
    "app/src/queue/tasks.rs",
    "app/src/queue/workers.rs",
    "app/src/secrets.rs",
    "app/src/spend/budgets.rs",
    "app/src/spend/tokens.rs",
    "app/src/teams/mod.rs",
    "app/src/tenants.rs",
    "app/src/users.rs",
    "app/src/workflows/definitions.rs",
    "app/src/workflows/runs.rs",
    "board/src/inbox.rs",
    "board/src/rehearsal.rs",
    "board/src/views.rs",
    "board/src/worktrees.rs",
    "books/src/reports.rs",
    "fleet/src/agents.rs",
    "fleet/src/attach.rs",
    "fleet/src/carry/export.rs",
    "fleet/src/carry/import.rs",
    "fleet/src/inbox.rs",
    "fleet/src/landing/queue.rs",
    "fleet/src/landing/revert.rs",
    "fleet/src/look.rs",
    "fleet/src/mail.rs",
    "fleet/src/march.rs",
    "fleet/src/roles.rs",
    "fleet/src/sessions.rs",
    "fleet/src/snapshots.rs",
    "fleet/src/snapshots/forget.rs",
    "fleet/src/spawn.rs",
    "fleet/src/stop.rs",
    "repos/src/jobs.rs",
    "reviews/src/end.rs",
    "reviews/src/lines.rs",
    "reviews/src/list.rs",
    "reviews/src/look.rs",
    "reviews/src/pictures.rs",
    "reviews/src/say.rs",
    "reviews/src/unapply.rs",
    "studio/src/attempts/end.rs",
    "studio/src/attempts/look.rs",
    "studio/src/attempts/start.rs",
    "studio/src/intents.rs",
    "studio/src/intents/start.rs",
    "studio/src/intents/submit.rs",
];

#[test]
fn the_first_line_of_every_use_case_checks_its_caller() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = 0;
    for module in MODULES {
        let text = std::fs::read_to_string(source.join(module)).unwrap();
        let mut parts = text.split("\npub async fn ");
        let mut before = parts.next().unwrap();
        for part in parts {
            let above = before.lines().last().unwrap_or_default();
            before = part;
            let name = part.split('(').next().unwrap();
            let (head, body) = part.split_once(" {\n").unwrap();
            // What the server does by itself has no caller, and `refused` records a refusal.
            if !head.contains("call: &Call") || name == "refused" {
                continue;
            }
            let first: String = body.lines().take(5).collect::<Vec<_>>().join("\n");
            let own = name == "export" && first.contains("= get(app, call, id)");
            assert!(first.contains("call.may(") || own, "{module}: {name} begins with\n{first}");
            assert!(above.starts_with("#[instrument("), "{module}: {name} is no span");
            found += 1;
        }
    }
    assert!(found >= 120, "only {found} use cases were found");
}
