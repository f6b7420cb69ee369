//! What people and programs get wrong, and repositories of every kind.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use crate::home::{Home, answer};
use crate::repo::{Repo, git};

/// The user whom Linux calls nobody.
const NOBODY: u32 = 65_534;

#[test]
fn titles_of_all_sizes_are_taken_or_refused_with_a_reason() {
    let repo = Repo::new();
    repo.godel(&["bead", "create", ""]).refused(2, &["must not be empty", "hint:"]);
    repo.godel(&["bead", "create", "  "]).refused(2, &["must not be empty"]);
    repo.godel(&["bead", "create"]).refused(2, &["TITLE"]);
    let long = "x".repeat(10_000);
    repo.godel(&["bead", "create", &long]).refused(2, &["at most 500", "10000", "description"]);
    for bad in ["a\nb", "a\u{1b}[2Jb", "a\tb"] {
        repo.godel(&["bead", "create", bad]).refused(2, &["control characters"]);
    }
    for good in ["x", "🎉 party 🎉", "--json", "日本語", &"y".repeat(500), "quote \" ' \\"] {
        let bead = repo.godel(&["bead", "create", "--json", "--", good]).expect(0).json();
        assert_eq!(bead["title"], good);
    }
    let said = repo.godel(&["bead", "create", "--", "--json"]).expect(0).stdout;
    assert!(said.starts_with("Created bead godel-"), "{said}");
    repo.godel(&["bead", "create", "x", "--description", &"d".repeat(100_001)])
        .refused(2, &["at most 100000"]);
    repo.godel(&["bead", "create", "x", "--file", "absent.md"]).refused(1, &["absent.md"]);
    assert_eq!(repo.json(&["bead", "list"])["items"].as_array().unwrap().len(), 7);
}

#[test]
fn words_that_do_not_exist_are_refused_with_those_that_do() {
    let repo = Repo::new();
    let id = repo.create("x");
    for (arguments, part) in [
        (&["bead", "create", "x", "--type", "story"][..], "refactor"),
        (&["bead", "create", "x", "--priority", "urgent"], "critical"),
        (&["bead", "create", "x", "--estimate", "soon"], "90m"),
        (&["bead", "create", "x", "--estimate", "0h"], "90m"),
        (&["bead", "create", "x", "--budget=-1"], "budget"),
        (&["bead", "create", "x", "--budget", "much"], "5.00"),
        (&["bead", "create", "x", "--metadata", "novalue"], "KEY=VALUE"),
        (&["bead", "create", "x", "--label", ""], "1 to 100 characters"),
        (&["bead", "status", &id, "finished"], "in-progress"),
        (&["bead", "close", &id, "--resolution", "meh"], "wont-do"),
        (&["bead", "dep", "add", &id, &id, "--type", "likes"], "discovered-from"),
        (&["bead", "list", "--status", "closed"], "in-progress"),
        (&["bead", "list", "--limit", "0"], "--limit"),
        (&["bead", "list", "--sort", "size"], "updated"),
        (&["bead", "search", "\"*"], "no word"),
        (&["bead", "defer", &id], "--until"),
        (&["bead", "defer", &id, "--until", "2001-01-01"], "is over"),
        (&["bead", "claim", &id, "--lease", "8d"], "7 days"),
        (&["bead", "claim", &id, "--lease", "0s"], "longer"),
        (&["bead", "claim", &id, "--agent", ""], "1 to 100 characters"),
        (&["bead", "verdict", &id, "--gate", "tests"], "--passed"),
        (&["bead", "verdict", &id, "--gate", "tests", "--passed"], "--commit"),
        (&["bead", "update", &id], "nothing to change"),
        (&["bead", "delete", &id], "--yes"),
        (&["bead", "reopen", &id, "--reason", "x"], "not done"),
        (&["bead", "ready", "--agent", "ann"], "--claim"),
        (&["bead", "frobnicate"], "frobnicate"),
    ] {
        repo.godel(arguments).refused(2, &[part]);
        let mut json = arguments.to_vec();
        json.push("--json");
        let said = repo.godel(&json).expect(2);
        let body: serde_json::Value = serde_json::from_str(&said.stderr).unwrap();
        assert_eq!(body["success"], false, "{arguments:?}");
        assert!(body["error"]["hint"].is_string(), "{arguments:?}: {body}");
    }
}

#[test]
fn hostile_and_ambiguous_ids_find_nothing() {
    let repo = Repo::new();
    let ids = [repo.create("one"), repo.create("two")];
    for bad in ["../../../etc/passwd", "..", "/", "godel-../x", "a\u{0}b".trim_end_matches('b')] {
        let bad = bad.replace('\u{0}', "\u{1}");
        repo.godel(&["bead", "show", &bad]).refused(3, &["there is no bead", "bead_not_found"]);
    }
    repo.godel(&["bead", "show", ""]).refused(3, &["there is no bead"]);
    repo.godel(&["bead", "show", &"x".repeat(5_000)]).refused(3, &["there is no bead"]);
    repo.godel(&["bead", "show", "godel-"]).refused(2, &["could be", &ids[0], &ids[1]]);
    repo.godel(&["bead", "close", "godel-", "--reason", "x"]).refused(2, &["bead_ambiguous"]);
    repo.godel(&["bead", "show", "godel-%"]).refused(3, &["there is no bead"]);
    repo.godel(&["bead", "log", "nope"]).refused(3, &["bead_not_found"]);
    repo.godel(&["bead", "show", &ids[0], "--at=--output=x"]).refused(3, &["--output=x"]);
    repo.godel(&["bead", "show", &ids[0], "--at", "nocommit"]).refused(3, &["nocommit"]);
    for id in ids {
        repo.json(&["bead", "show", &id[6..]]);
    }
}

#[test]
fn no_repository_is_3_with_a_hint() {
    let home = Home::new();
    home.run(&["bead", "list"]).refused(3, &["not inside a git repository", "git init"]);
    home.run(&["-C", "absent", "bead", "list"]).refused(1, &["absent could not be entered"]);
    home.run(&["sync"]).refused(3, &["no_repository"]);
}

#[test]
fn commands_need_neither_home_nor_data_directory() {
    let repo = Repo::new();
    let mut command = repo.command_in(Path::new("/"), &["-C", "x", "bead", "list", "--json"]);
    command.env_remove("HOME").current_dir(repo.home.path());
    std::fs::rename(&repo.path, repo.home.path().join("x")).unwrap();
    answer(&mut command).expect(0);
    assert!(!repo.home.data().exists());
}

#[test]
fn a_repository_of_any_kind_will_do() {
    let repo = Repo::empty();
    let id = repo.create("before the first commit");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    repo.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    repo.git(&["checkout", "-q", "--detach"]);
    repo.say(&["bead", "comment", &id, "from a detached HEAD"]);
    repo.git(&["checkout", "-q", "main"]);
    let linked = repo.home.path().join("linked tree");
    repo.git(&["worktree", "add", "-q", "-b", "linked", linked.to_str().unwrap()]);
    std::fs::create_dir(linked.join("deep")).unwrap();
    let said = answer(&mut repo.command_in(&linked.join("deep"), &["bead", "show", &id]));
    assert!(said.expect(0).stdout.contains("from a detached HEAD"));
    let made = answer(&mut repo.command_in(&linked, &["bead", "create", "there", "--json"]));
    let made = made.expect(0).json();
    assert_eq!(repo.json(&["bead", "list"])["items"].as_array().unwrap().len(), 2);
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
    let bare = repo.home.path().join("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let shown = repo.command_in(&bare, &["bead", "show", made["id"].as_str().unwrap(), "--json"]);
    assert_eq!(answer(&mut { shown }).expect(0).json()["title"], "there");
    answer(&mut repo.command_in(&bare, &["bead", "create", "in a bare one"])).expect(0);
    let there = bare.to_str().unwrap();
    let list = repo.home.run(&["-C", there, "bead", "list", "--json"]).expect(0).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 3);
}

#[test]
fn a_repository_that_cannot_be_written_is_read() {
    let repo = Repo::new();
    let id = repo.create("read me");
    std::fs::remove_dir_all(repo.path.join(".godel")).unwrap();
    let dirs = ["", ".git", ".git/godel", ".git/objects/pack", ".git/refs/heads/godel"];
    let chmod = |mode: u32| {
        for path in dirs.map(|dir| repo.path.join(dir)) {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    let root = rustix::process::geteuid().is_root();
    let as_other = |arguments: &[&str]| {
        let mut command = repo.command_in(&repo.path, arguments);
        // git refuses repositories of other users unless they are named as safe.
        command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "safe.directory");
        command.env("GIT_CONFIG_VALUE_0", "*");
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        answer(&mut command)
    };
    std::fs::set_permissions(repo.home.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    chmod(0o555);
    let read = as_other(&["bead", "show", &id]);
    let listed = as_other(&["bead", "list", "--json"]);
    let written = as_other(&["bead", "create", "x"]);
    chmod(0o755);
    assert!(read.expect(0).stdout.contains("read me"));
    assert_eq!(listed.expect(0).json()["items"][0]["id"], serde_json::json!(id));
    written.refused(6, &["cannot be written", "hint:", "repository_unwritable"]);
}

/// Writes a file of the state branch by hand, as nobody should.
fn tamper(repo: &Repo, path: &str, text: &str) {
    let file = repo.home.path().join("blob");
    std::fs::write(&file, text).unwrap();
    let blob = repo.git(&["hash-object", "-w", file.to_str().unwrap()]);
    let index = repo.home.path().join("index");
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.arg("-C").arg(&repo.path).args(arguments).env("GIT_INDEX_FILE", &index);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    git(&["read-tree", "godel/state"]);
    let entry = format!("100644,{},{path}", blob.trim());
    git(&["update-index", "--add", "--cacheinfo", &entry]);
    let tree = git(&["write-tree"]);
    let commit = git(&["commit-tree", tree.trim(), "-p", "godel/state", "-m", "by hand"]);
    git(&["update-ref", "refs/heads/godel/state", commit.trim()]);
}

#[test]
fn a_damaged_document_is_named_and_mended_while_others_work() {
    let repo = Repo::new();
    let (id, other) = (repo.create("precious"), repo.create("other"));
    let path = repo.git(&["ls-tree", "-r", "--name-only", "godel/state"]);
    let path = path.lines().find(|path| path.contains(&id)).unwrap().to_owned();
    tamper(&repo, &path, "{ not JSON");
    let list = repo.godel(&["bead", "list"]).expect(0);
    assert!(list.stdout.contains(&other), "{list:?}");
    assert!(list.stderr.contains("cannot be read") && list.stderr.contains(&path), "{list:?}");
    assert!(list.stderr.contains("fsck --repair"), "{list:?}");
    repo.godel(&["bead", "show", &id]).refused(1, &["bead_damaged", "fsck"]);
    let checked = repo.godel(&["bead", "fsck", "--json"]).expect(1).json();
    assert_eq!(checked["damaged"][0][0], serde_json::json!(path));
    assert!(repo.godel(&["bead", "fsck"]).expect(1).stdout.contains("damaged  "));
    let mended = repo.godel(&["bead", "fsck", "--repair"]).expect(0).stdout;
    assert!(mended.contains("mended  ") && mended.contains("2 beads, all is well"), "{mended}");
    assert_eq!(repo.json(&["bead", "show", &id])["title"], "precious");
}

#[test]
fn a_newer_format_is_read_and_not_written() {
    let repo = Repo::new();
    let id = repo.create("from now");
    tamper(&repo, "format", "99\n");
    assert!(repo.say(&["bead", "show", &id]).contains("from now"));
    repo.say(&["bead", "list"]);
    repo.godel(&["bead", "create", "x"]).refused(4, &["format 99", "update Godel", "beads_newer"]);
}

#[test]
fn what_was_imported_cannot_command_a_terminal() {
    let repo = Repo::new();
    let line = r#"{"id":"bd-1","title":"a\u001b[2Jb\u202ec","description":"x\u001b]0;y","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}"#;
    repo.fed(line, &["import", "beads", "-"]).expect(0);
    for command in [&["bead", "list"][..], &["bead", "show", "bd-1"], &["prime"], &["bead", "log"]]
    {
        let said = repo.say(command);
        assert!(!said.contains(['\u{1b}', '\u{202e}']), "{command:?}: {said:?}");
    }
}
