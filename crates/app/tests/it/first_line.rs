//! Every use case is a span, and asks first whether its caller may.

use std::path::Path;

/// Modules whose functions with a call are use cases.
const MODULES: [&str; 25] = [
    "audit.rs",
    "auth/device.rs",
    "auth/login.rs",
    "backup/stream.rs",
    "beads/change.rs",
    "beads/convoys.rs",
    "beads/look.rs",
    "erasure.rs",
    "events.rs",
    "keys.rs",
    "projects.rs",
    "queue/dead.rs",
    "queue/pools.rs",
    "queue/schedules.rs",
    "queue/tasks.rs",
    "queue/workers.rs",
    "secrets.rs",
    "spend/budgets.rs",
    "spend/reports.rs",
    "spend/tokens.rs",
    "teams/mod.rs",
    "tenants.rs",
    "users.rs",
    "workflows/definitions.rs",
    "workflows/runs.rs",
];

#[test]
fn the_first_line_of_every_use_case_checks_its_caller() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
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
    assert!(found >= 90, "only {found} use cases were found");
}
