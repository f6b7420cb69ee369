//! The life of a bead on the command line, in text and in JSON, without any server.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::json;

use crate::repo::{Repo, ids};

#[test]
fn a_bead_is_made_listed_and_shown() {
    let repo = Repo::new();
    let made = repo.say(&[
        "bead",
        "create",
        "Fix authentication bug",
        "--type",
        "bug",
        "--priority",
        "high",
        "--label",
        "auth",
        "--label",
        "web",
        "--estimate",
        "90m",
        "--budget",
        "5.00",
        "--metadata",
        "ticket=417",
        "--acceptance",
        "nobody is logged out",
        "--description",
        "two\nlines",
    ]);
    let id = made.strip_prefix("Created bead ").unwrap().trim_end().to_owned();
    assert!(id.starts_with("godel-") && id.len() == 11, "{made:?}");
    let list = repo.godel(&["bead", "list"]).expect(0);
    assert!(list.stdout.contains(&id) && list.stdout.contains("Fix authentication bug"));
    assert_eq!(list.stderr, "");
    let shown = repo.say(&["bead", "show", &id[6..9]]);
    for part in ["status", "open", "bug", "high", "auth, web", "1 h 30 min", "$5", "417", "  lines"]
    {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
    let shown = repo.json(&["bead", "show", &id]);
    assert_eq!((&shown["type"], &shown["priority"]), (&json!("bug"), &json!("high")));
    assert_eq!((&shown["estimate"], &shown["budget"]), (&json!(90), &json!(5_000_000)));
    assert_eq!(shown["metadata"], json!({ "ticket": "417" }));
    assert_eq!(shown["createdBy"], "Ann");
    assert_eq!(shown["git"]["commits"], json!([]));
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let diary = repo.git(&["log", "--format=%an: %s", "godel/state"]);
    assert_eq!(diary, format!("Ann: {id} created: Fix authentication bug\n"));
}

#[test]
fn a_description_comes_from_a_file_or_stdin() {
    let repo = Repo::new();
    std::fs::write(repo.home.path().join("plan.md"), "from a file\n").unwrap();
    let file = repo.json(&["bead", "create", "one", "--file", "../plan.md"]);
    assert_eq!(file["description"], "from a file");
    let piped = repo.fed("from stdin\n", &["bead", "create", "two", "-", "--json"]);
    assert_eq!(piped.expect(0).json()["description"], "from stdin");
    let id = file["id"].as_str().unwrap();
    let piped = repo.fed("again", &["bead", "update", id, "--description", "-", "--json"]);
    assert_eq!(piped.expect(0).json()["description"], "again");
    assert_eq!(repo.say(&["bead", "update", id, "--title", "uno"]), format!("Updated bead {id}\n"));
    let said = repo.fed("a\nlong comment", &["bead", "comment", id, "-"]).expect(0).stdout;
    assert_eq!(said, format!("Commented on bead {id}\n"));
    let shown = repo.say(&["bead", "show", id]);
    assert!(shown.contains("Comments\n  Ann ") && shown.contains("    long comment\n"), "{shown}");
}

#[test]
fn fields_are_changed_and_removed() {
    let repo = Repo::new();
    let (epic, id) = (repo.create("all of it"), repo.create("a part"));
    let change = |more: &[&str]| repo.json(&[&["bead", "update", &id], more].concat());
    let bead = change(&["--estimate", "2h", "--budget", "$3", "--metadata", "a=b", "--rank", "m"]);
    assert_eq!((&bead["estimate"], &bead["budget"]), (&json!(120), &json!(3_000_000)));
    let bead = change(&["--estimate", "none", "--budget", "none", "--metadata", "a="]);
    assert_eq!((&bead["estimate"], &bead["metadata"]), (&json!(null), &json!({})));
    let bead = change(&["--parent", &epic, "--type", "chore", "--priority", "low"]);
    assert_eq!((&bead["parentBead"], &bead["type"]), (&json!(epic), &json!("chore")));
    assert_eq!(ids(&repo.json(&["bead", "list", "--parent", &epic])["items"]), [&id]);
    assert_eq!(change(&["--no-parent"])["parentBead"], json!(null));
    assert_eq!(repo.json(&["bead", "label", "add", &id, "x", "y"])["labels"], json!(["x", "y"]));
    let text = repo.say(&["bead", "label", "remove", &id, "x"]);
    assert_eq!(text, format!("{id} has the labels y\n"));
    let text = repo.say(&["bead", "defer", &id, "--until", "2099-01-01"]);
    assert_eq!(text, format!("{id} is put off until 2099-01-01T00:00:00Z\n"));
    assert_eq!(ids(&repo.json(&["bead", "ready"])["items"]), [&epic]);
    repo.say(&["bead", "defer", &id, "--clear"]);
    assert_eq!(repo.json(&["bead", "ready"])["items"].as_array().unwrap().len(), 2);
}

#[test]
fn lists_are_filtered_sorted_and_paged() {
    let repo = Repo::new();
    let low = repo.json(&["bead", "create", "low one", "--priority", "low", "--label", "x"]);
    let low = low["id"].as_str().unwrap();
    let mut all = vec![low.to_owned()];
    all.extend((0..4).map(|n| repo.create(&format!("bead {n}"))));
    let first = repo.godel(&["bead", "list", "--limit", "2"]).expect(0);
    assert!(first.stderr.starts_with("there is more: raise --limit, or add --cursor p2."));
    for sort in ["priority", "created", "updated"] {
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut arguments = vec!["bead", "list", "--sort", sort, "--limit", "2"];
            arguments.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor]));
            let page = repo.json(&arguments);
            seen.extend(ids(&page["items"]).into_iter().map(str::to_owned));
            cursor = page["cursor"].as_str().map(str::to_owned);
            assert_eq!(page["hasMore"], json!(cursor.is_some()));
            if cursor.is_none() {
                break;
            }
        }
        let mut wanted = all.clone();
        match sort {
            "priority" => wanted.rotate_left(1),
            _ => wanted.reverse(),
        }
        assert_eq!(seen, wanted, "{sort}");
    }
    repo.godel(&["bead", "list", "--cursor", "nonsense"]).refused(2, &["invalid_cursor"]);
    let has = |more: &[&str]| repo.json(&[&["bead", "list"], more].concat())["items"].clone();
    assert_eq!(ids(&has(&["--label", "x"])), [low]);
    assert_eq!(ids(&has(&["--priority", "critical,low"])), [low]);
    assert_eq!(ids(&has(&["--search", "lo on"])), [low]);
    assert_eq!(
        ids(&has(&["--query", "-priority:medium label:X agent:none updated:<1d lo"])),
        [low]
    );
    repo.godel(&["bead", "list", "--query", "prio:low"])
        .refused(2, &["invalid_query", "`prio:low`", "did you mean priority?"]);
    assert_eq!(ids(&has(&["--type", "bug"])), Vec::<&str>::new());
    assert_eq!(ids(&repo.json(&["bead", "search", "LOW"])["items"]), [low]);
    repo.say(&["bead", "close", low, "--reason", "as said"]);
    assert_eq!(has(&[]).as_array().unwrap().len(), 4);
    assert_eq!(has(&["--all"]).as_array().unwrap().len(), 5);
    assert_eq!(ids(&has(&["--status", "done"])), [low]);
    assert_eq!(repo.say(&["bead", "delete", low, "--yes"]), format!("Deleted bead {low}\n"));
    assert_eq!(has(&["--all"]).as_array().unwrap().len(), 4);
    assert_eq!(has(&["--all", "--deleted"]).as_array().unwrap().len(), 5);
}

#[test]
fn what_blocks_is_explained_and_a_circle_is_refused() {
    let repo = Repo::new();
    let (a, b) = (repo.create("first"), repo.create("second"));
    let said = repo.say(&["bead", "dep", "add", &b, &a]);
    assert_eq!(said, format!("{b} now depends on {a}\n"));
    let ready = repo.say(&["bead", "ready", "--explain"]);
    assert!(ready.contains(&format!("blocked by {a}")), "{ready}");
    let ready = repo.json(&["bead", "ready", "--explain"]);
    assert_eq!(ids(&ready["items"]), [&a]);
    assert_eq!(ready["waiting"][0]["reasons"][0]["by"], json!(a));
    repo.godel(&["bead", "dep", "add", &a, &b]).refused(2, &["circle", &a, &b, "link_cycle"]);
    repo.godel(&["bead", "dep", "add", &a, &a]).refused(2, &["linked to itself"]);
    let tree = repo.say(&["bead", "dep", "tree", &b]);
    assert_eq!(tree, format!("{b} (open) second\n└─ {a} (open) first\n"));
    assert_eq!(repo.json(&["bead", "dep", "tree", &a, "--up"])["below"][0]["id"], json!(b));
    let shown = repo.say(&["bead", "show", &a]);
    assert!(shown.contains(&format!("blocks  {b}  open  second")), "{shown}");
    assert_eq!(repo.json(&["bead", "show", &a])["linkedFrom"][0]["id"], json!(b));
    let status = repo.say(&["bead", "status", &b]);
    assert_eq!(status, format!("{b} is open: second\n  blocked by {a}\n"));
    let said = repo.say(&["bead", "dep", "remove", &b, &a]);
    assert_eq!(said, format!("{b} is no longer linked to {a}\n"));
    assert_eq!(repo.json(&["bead", "ready"])["items"].as_array().unwrap().len(), 2);
}

#[test]
fn a_claim_has_one_holder_and_its_token_is_told_once() {
    let repo = Repo::new();
    let id = repo.create("work");
    let said = repo.say(&["bead", "ready", "--claim", "--agent", "bob", "--lease", "1h"]);
    assert!(said.starts_with(&format!("Claimed bead {id} for bob until ")), "{said}");
    let token = said.split("GODEL_LEASE_TOKEN=").nth(1).unwrap().trim().to_owned();
    repo.godel(&["bead", "claim", &id, "--agent", "joe"])
        .refused(4, &["held by bob until", "hint:", "bead_held"]);
    repo.godel(&["bead", "ready", "--claim"]).refused(4, &["no bead is ready", "not_ready"]);
    repo.godel(&["bead", "heartbeat", &id]).refused(2, &["GODEL_LEASE_TOKEN"]);
    for wrong in ["wrong", "-wrong"] {
        repo.godel(&["bead", "heartbeat", &id, "--token", wrong]).refused(4, &["lease_lost"]);
    }
    let beat = repo.godel(&["bead", "heartbeat", &id, "--token", &token]).expect(0);
    assert!(beat.stdout.starts_with(&format!("{id} is held until ")), "{beat:?}");
    for command in [&["bead", "show", &id][..], &["bead", "status", &id], &["bead", "list"]] {
        for json in [&[][..], &["--json"]] {
            let said = repo.godel(&[command, json].concat());
            assert!(!format!("{said:?}").contains(&token), "{command:?} tells the token");
        }
    }
    // The token of one claim is no hindrance for what is free.
    let free = repo.create("free");
    let close = ["bead", "close", &free, "--reason", "nothing to do"];
    let said = repo.with(("GODEL_LEASE_TOKEN", &token), &close).expect(0).stdout;
    assert_eq!(said, format!("Closed bead {free} as done\n"));
    repo.godel(&["bead", "release", &id]).refused(4, &["bead_held"]);
    let said = repo.with(("GODEL_LEASE_TOKEN", &token), &["bead", "release", &id]).expect(0);
    assert_eq!(said.stdout, format!("{id} is open, and nobody's\n"));
    let claim = repo.json(&["bead", "claim", &id, "--by", "eve"]);
    assert_eq!(claim["bead"]["agent"], "eve");
    assert!(claim["token"].as_str().unwrap().len() > 20);
    let said = repo.say(&["bead", "release", &id, "--force"]);
    assert_eq!(said, format!("{id} is open, and nobody's\n"));
    let said = repo.say(&["bead", "assign", &id, "--agent", "zoe", "--start"]);
    assert_eq!(said, format!("{id} is assigned to zoe, in-progress\n"));
}

#[test]
fn a_status_is_earned_by_commits() {
    let repo = Repo::new();
    let id = repo.create("code");
    let status = |to: &str| repo.godel(&["bead", "status", &id, to]);
    status("in-progress").expect(0);
    status("review").refused(4, &["there is no branch", "status_not_earned", "--force"]);
    repo.git(&["checkout", "-q", "-b", &format!("bead/{id}")]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "the work"]);
    let said = status("review").expect(0).stdout;
    assert_eq!(said, format!("{id} moved from in-progress to review\n"));
    let said = repo.say(&["bead", "verdict", &id, "--gate", "tests", "--passed"]);
    assert!(said.starts_with(&format!("Recorded for bead {id}: tests passed on ")), "{said}");
    status("done").refused(4, &["merge it", "status_not_earned"]);
    let shown = repo.say(&["bead", "show", &id]);
    assert!(shown.contains("not in main  the work"), "{shown}");
    assert!(
        shown.contains("gate tests passed on ") && shown.contains("1 ahead of main"),
        "{shown}"
    );
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "squashed"]);
    let said = repo.say(&["bead", "landed", &id, "--commit", "HEAD"]);
    assert!(said.starts_with(&format!("Recorded for bead {id}: landed in main as ")), "{said}");
    repo.godel(&["bead", "landed", &id, "--commit", "zzz"]).refused(3, &["no commit \"zzz\""]);
    assert_eq!(repo.json(&["bead", "close", &id])["resolution"]["kind"], "done");
    let said = repo.say(&["bead", "reopen", &id, "--reason", "it came back"]);
    assert_eq!(said, format!("Reopened bead {id}\n"));
    repo.godel(&["bead", "status", &id, "done", "--force"]).refused(2, &["--reason"]);
    let forced = ["bead", "status", &id, "done", "--force", "--reason", "said so"];
    assert_eq!(repo.json(&forced)["resolution"]["reason"], "said so");
    let shown = repo.json(&["bead", "status", &id]);
    assert_eq!(shown["status"], "done");
}

#[test]
fn a_bead_without_code_is_closed_with_a_sentence() {
    let repo = Repo::new();
    let id = repo.create("find out");
    repo.godel(&["bead", "close", &id]).refused(2, &["say in a sentence", "--reason"]);
    let close = ["bead", "close", &id, "--resolution", "wont-do", "--reason", "no need"];
    assert_eq!(repo.say(&close), format!("Closed bead {id} as wont-do\n"));
    let shown = repo.say(&["bead", "show", &id]);
    assert!(shown.contains("wont-do: no need"), "{shown}");
}

#[test]
fn the_name_of_whoever_acts_is_given_set_or_known_to_git() {
    let repo = Repo::new();
    let by = |answer: crate::home::Answer| answer.expect(0).json()["createdBy"].clone();
    let create = ["bead", "create", "x", "--json"];
    assert_eq!(by(repo.godel(&create)), "Ann");
    assert_eq!(by(repo.with(("GODEL_AGENT", "bob"), &create)), "bob");
    let given = ["bead", "create", "x", "--json", "--by", "eve"];
    assert_eq!(by(repo.with(("GODEL_AGENT", "bob"), &given)), "eve");
    repo.git(&["config", "--unset", "user.name"]);
    assert_eq!(by(repo.with(("USER", "ann"), &create)), "ann");
    repo.godel(&["bead", "create", "x", "--by", "a\nb"]).refused(2, &["control characters"]);
}

#[test]
fn the_past_is_told_and_shown() {
    let repo = Repo::new();
    let id = repo.create("old title");
    let then = repo.git(&["rev-parse", "godel/state"]);
    repo.say(&["bead", "update", &id, "--title", "new title"]);
    let other = repo.create("other");
    let log = repo.say(&["bead", "log", &id]);
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(lines[0].contains("Ann") && lines[0].contains("updated: title"), "{log}");
    assert!(lines[1].contains("created: old title"), "{log}");
    let all = repo.json(&["bead", "log"]);
    assert_eq!(all["items"][0]["id"], json!(other));
    assert_eq!(all["items"][0]["event"], "bead:created");
    assert_eq!(repo.json(&["bead", "log", "--limit", "1"])["hasMore"], true);
    let past = repo.json(&["bead", "show", &id, "--at", then.trim()]);
    assert_eq!(past["title"], "old title");
    assert!(repo.say(&["bead", "show", &id, "--at", then.trim()]).contains("old title"));
    repo.godel(&["bead", "show", &id, "--at", "1d"]).refused(3, &["there is no bead"]);
}

#[test]
fn watching_tells_what_others_do() {
    let repo = Repo::new();
    repo.create("before");
    let mut command = repo.command_in(&repo.path, &["bead", "watch", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // It may need a moment to begin; what it tells is later than that.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let id = repo.create("seen");
    let line: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((&line["event"], &line["id"]), (&json!("bead:created"), &json!(id)));
    assert_eq!(line["bead"]["title"], "seen");
    repo.say(&["bead", "close", &id, "--reason", "done"]);
    let line: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(line["event"], "bead:moved");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn of_many_who_ask_at_once_each_gets_another_bead() {
    let repo = Repo::new();
    let mut beads: Vec<String> = (0..5).map(|n| repo.create(&format!("bead {n}"))).collect();
    let ask = |n: usize| {
        let agent = format!("agent-{n}");
        let mut command =
            repo.command_in(&repo.path, &["bead", "ready", "--claim", "--agent", &agent, "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let workers: Vec<_> = (0..12).map(ask).collect();
    let mut won = Vec::new();
    for worker in workers {
        let output = worker.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => {
                let claim: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                won.push(claim["bead"]["id"].as_str().unwrap().to_owned());
            }
            code => assert_eq!(code, Some(4), "{output:?}"),
        }
    }
    won.sort_unstable();
    beads.sort_unstable();
    assert_eq!(won, beads);
}
