//! Files of bd: in and out without loss.

use godel_beads::ops::{self, Changes};
use serde_json::{Value, json};

use crate::support::Repo;

const LINKS: [&str; 19] = [
    "blocks",
    "parent-child",
    "conditional-blocks",
    "waits-for",
    "related",
    "discovered-from",
    "replies-to",
    "relates-to",
    "duplicates",
    "supersedes",
    "authored-by",
    "assigned-to",
    "approved-by",
    "attests",
    "tracks",
    "until",
    "caused-by",
    "validates",
    "delegated-from",
];

fn file() -> Vec<Value> {
    let mut lines = vec![json!({ "id": "bd-1", "title": "the first", "status": "open",
        "priority": 2, "issue_type": "task", "created_at": "2025-11-01T10:00:00.123456-07:00",
        "updated_at": "2025-11-01T10:00:00-07:00" })];
    for (at, kind) in LINKS.iter().enumerate() {
        let status = [
            "open",
            "in_progress",
            "blocked",
            "deferred",
            "closed",
            "tombstone",
            "pinned",
            "hooked",
            "of-tomorrow",
        ][at % 9];
        let kinds = ["bug", "merge-request", "epic"];
        let assignee = if at % 2 == 0 { "ann" } else { "" };
        lines.push(json!({
            "id": format!("proj-a{at}.1"), "title": format!("links by {kind} ✨"),
            "description": "line one\nline two", "design": "kept", "notes": "kept too",
            "acceptance_criteria": "", "status": status, "priority": at % 5,
            "issue_type": kinds[at % 3],
            "assignee": assignee,
            "estimated_minutes": at * 10, "external_ref": null, "close_reason": "because",
            "labels": ["x", "a"], "custom": { "deep": [1.10, 1e3, 12345678901234567890_u64] },
            "dependencies": [
                { "issue_id": format!("proj-a{at}.1"), "depends_on_id": "bd-1", "type": kind,
                  "created_at": "2025-11-01T10:00:00Z", "created_by": "ann", "metadata": "{}" },
                { "issue_id": format!("proj-a{at}.1"), "depends_on_id": "gone-9", "type": "of-tomorrow" },
            ],
            "comments": [{ "id": 7, "issue_id": "x", "author": "ben", "text": "said",
                "created_at": "2025-11-02T10:00:00Z" }],
        }));
    }
    lines
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn what_comes_in_goes_out_the_same() {
    let repo = Repo::new();
    let mut given = text(&file());
    // Numbers that no program would write the same way.
    given.push_str("{\"id\":\"bd-9\",\"title\":\"numbers\",\"n\":1.10,\"big\":123456789012345678901234567890,\"e\":1E5}\n");
    let mut shelf = repo.shelf();
    let planned = shelf.import_bd("ann", &given, true).unwrap();
    assert_eq!(planned.created, 21);
    assert_eq!(shelf.commit().unwrap(), None, "a dry run writes nothing");
    assert_eq!(shelf.import_bd("ann", &given, false).unwrap(), planned);
    assert_eq!(sorted(&shelf.export_bd().unwrap()), sorted(&given));
    let again = shelf.import_bd("ann", &given, false).unwrap();
    assert_eq!((again.created, again.updated, again.unchanged), (0, 0, 21));
    // Through a second repository, too.
    let other = Repo::new();
    other.shelf().import_bd("ben", &shelf.export_bd().unwrap(), false).unwrap();
    assert_eq!(sorted(&other.shelf().export_bd().unwrap()), sorted(&given));
    let bead = godel_beads::Bead::of(&shelf.bead("proj-a0.1").unwrap());
    assert_eq!((bead.priority.as_str(), bead.kind.as_str()), ("critical", "bug"));
}

#[test]
fn what_changed_here_is_written_and_the_rest_stays() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    shelf.import_bd("ann", &text(&file()), false).unwrap();
    let changes = Changes { title: Some("new title".to_owned()), ..Changes::default() };
    shelf.write("ann", move |draft| ops::update(draft, "proj-a0.1", &changes)).unwrap();
    shelf.write("ann", |draft| ops::comment(draft, "proj-a0.1", "and more")).unwrap();
    repo.create("made here");
    let out = shelf.export_bd().unwrap();
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 21);
    let changed = lines.iter().find(|line| line["id"] == "proj-a0.1").unwrap();
    assert_eq!(changed["title"], "new title");
    assert_eq!(changed["design"], "kept");
    assert_eq!(changed["comments"].as_array().unwrap().len(), 2);
    assert_eq!(changed["dependencies"], file()[1]["dependencies"]);
    let same = file().iter().filter(|line| lines.contains(line)).count();
    assert_eq!(same, 19, "all others are as they were");
    assert!(lines.iter().any(|line| line["title"] == "made here"));
}

#[test]
fn a_bad_line_is_named_and_nothing_is_imported() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    for (bad, why) in [
        ("{\"id\":\"a-1\",\"title\":\"x\"}\n{broken", "line 2"),
        ("{\"title\":\"x\"}", "no id"),
        ("{\"id\":\"a-1\"}", "no title"),
        ("[1]", "not a JSON object"),
    ] {
        let error = shelf.import_bd("ann", bad, false).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(shelf.commit().unwrap(), None);
}

#[test]
fn a_whole_alias_is_meant_even_if_others_begin_so() {
    let repo = Repo::new();
    let lines: String =
        (1..=12).map(|n| format!("{{\"id\":\"bd-{n}\",\"title\":\"number {n}\"}}\n")).collect();
    let mut shelf = repo.shelf();
    shelf.import_bd("ann", &lines, false).unwrap();
    assert_eq!(godel_beads::Bead::of(&shelf.bead("bd-1").unwrap()).title, "number 1");
    assert!(matches!(shelf.bead("bd-"), Err(godel_beads::Error::Ambiguous { .. })));
}

#[test]
fn a_large_import_leaves_no_journal_for_others_to_read() {
    let repo = Repo::new();
    let text = "something to be done ".repeat(20);
    let lines: String = (0..5_000)
        .map(|n| format!("{{\"id\":\"bd-{n}\",\"title\":\"{n}\",\"description\":\"{text}\"}}\n"))
        .collect();
    repo.shelf().import_bd("ann", &lines, false).unwrap();
    let journal = repo.path.join(".git/godel/index.db-wal").metadata().map_or(0, |meta| meta.len());
    assert!(journal < 1024 * 1024, "{journal} bytes are left");
    assert_eq!(repo.shelf().ready(9_000).unwrap().len(), 5_000);
}
