//! `godel onboard`: from a repository to its first bead done.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::repo::Repo;

/// A repository whose tests are a script.
fn tested(script: &str) -> Repo {
    let repo = Repo::new();
    std::fs::write(repo.path.join("test.sh"), script).unwrap();
    git(&repo, &["add", "test.sh"]);
    git(&repo, &["commit", "-q", "-m", "tests"]);
    repo
}

/// Runs git and returns what it said, without the newline.
fn git(repo: &Repo, arguments: &[&str]) -> String {
    repo.git(arguments).trim_end().to_owned()
}

fn onboard(repo: &Repo) -> Value {
    repo.godel(&["onboard", "--yes", "--json"]).expect(0).json()
}

fn first(repo: &Repo, told: &Value) -> Value {
    let bead = told["first"]["bead"].as_str().unwrap_or_else(|| panic!("{told:#}"));
    repo.godel(&["bead", "show", bead, "--json"]).expect(0).json()
}

fn hook(repo: &Repo, name: &str, script: &str) {
    let path = repo.path.join(".git/hooks").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn settings(repo: &Repo) -> String {
    std::fs::read_to_string(repo.path.join("godel.toml")).unwrap()
}

#[test]
fn it_ends_with_a_first_bead_done() {
    let repo = tested("test -f test.sh && grep -q 'sh test.sh' godel.toml\n");
    let head = git(&repo, &["rev-parse", "HEAD"]);
    std::fs::write(repo.path.join("mine.txt"), "somebody's own work\n").unwrap();
    git(&repo, &["add", "mine.txt"]);
    let told = onboard(&repo);
    assert_eq!((&told["settings"], &told["tests"]["passed"]), (&json!("made"), &json!(true)));
    assert!(settings(&repo).contains("\ntest = \"sh test.sh\"\n"), "{}", settings(&repo));
    // One commit with one file, by the person; what was staged still is.
    assert_eq!(git(&repo, &["rev-parse", "HEAD~1"]), head);
    assert_eq!(git(&repo, &["show", "--format=%an", "--name-only", "HEAD"]), "Ann\n\ngodel.toml");
    assert_eq!(git(&repo, &["status", "--porcelain"]), "A  mine.txt");
    let bead = first(&repo, &told);
    let commit = git(&repo, &["rev-parse", "HEAD"]);
    assert_eq!((&bead["status"], &bead["landed"]["target"]), (&json!("done"), &json!(commit)));
    assert_eq!(bead["landed"]["gates"], json!([{ "gate": "test", "passed": true }]));
    let trailer = git(&repo, &["log", "-1", "--format=%(trailers:key=Bead,valueonly)"]);
    assert_eq!(trailer.trim(), bead["id"].as_str().unwrap());
    // Once is enough.
    let again = onboard(&repo);
    assert_eq!((&again["settings"], &again["first"]), (&json!("kept"), &Value::Null));
    assert_eq!((git(&repo, &["rev-parse", "HEAD"]), &again["beads"]), (commit, &json!(1)));
    let said = repo.godel(&["onboard", "--yes"]).expect(0).stdout;
    for part in ["is ready", "walls", "keys", "godel do"] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
}

#[test]
fn tests_that_fail_without_any_work_are_no_gate() {
    let repo = tested("echo no compiler here >&2\nexit 3\n");
    let said = repo.godel(&["onboard", "--yes"]).expect(0).stdout;
    assert!(said.contains("fails in a fresh copy: no compiler here"), "{said}");
    assert!(said.contains("is done: godel.toml is in main as"), "{said}");
    assert!(settings(&repo).contains("\n# test = \"sh test.sh\"\n"), "{}", settings(&repo));
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
}

#[test]
fn a_repository_without_a_commit_gets_its_first() {
    let repo = Repo::empty();
    let told = onboard(&repo);
    assert_eq!((&told["tests"], &first(&repo, &told)["status"]), (&Value::Null, &json!("done")));
    assert_eq!(git(&repo, &["rev-list", "--count", "HEAD"]), "1");
}

#[test]
fn keys_are_named_and_never_shown() {
    let repo = Repo::new();
    let told = repo.with(("ANTHROPIC_API_KEY", "sk-very-secret"), &["onboard", "--yes", "--json"]);
    let told = told.expect(0);
    assert_eq!(told.json()["keys"], json!(["ANTHROPIC_API_KEY"]));
    assert!(!format!("{}{}{}", told.stdout, told.stderr, settings(&repo)).contains("sk-very"));
}

#[test]
fn what_was_refused_or_killed_goes_on() {
    let repo = Repo::new();
    hook(&repo, "pre-commit", "#!/bin/sh\necho the style is wrong >&2\nexit 1\n");
    repo.godel(&["onboard", "--yes"]).refused(1, &["git commit failed", "the style is wrong"]);
    std::fs::remove_file(repo.path.join(".git/hooks/pre-commit")).unwrap();
    // Killed when the commit is made and nobody knows yet.
    hook(&repo, "post-commit", "#!/bin/sh\nkill -9 $(ps -o ppid= -p $PPID)\n");
    repo.godel(&["onboard", "--yes"]).expect(-1);
    std::fs::remove_file(repo.path.join(".git/hooks/post-commit")).unwrap();
    assert_eq!(git(&repo, &["rev-list", "--count", "HEAD"]), "2");
    let told = onboard(&repo);
    assert_eq!((&first(&repo, &told)["status"], &told["beads"]), (&json!("done"), &json!(1)));
    assert_eq!(git(&repo, &["rev-list", "--count", "HEAD"]), "2");
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
}

#[test]
fn what_is_in_the_way_is_told() {
    let repo = Repo::new();
    git(&repo, &["checkout", "-q", "--detach"]);
    repo.godel(&["onboard", "--yes"]).refused(2, &["no branch is checked out"]);
    assert!(!repo.path.join("godel.toml").exists());
    git(&repo, &["checkout", "-q", "main"]);
    std::fs::write(repo.path.join("godel.toml"), "[gates]\ntest = 7\n").unwrap();
    repo.godel(&["onboard", "--yes"]).refused(2, &["line 2"]);
    // Somebody's own settings are theirs to commit.
    std::fs::write(repo.path.join("godel.toml"), "[gates]\n").unwrap();
    assert_eq!(onboard(&repo)["first"], Value::Null);
    assert_eq!(git(&repo, &["status", "--porcelain"]), "?? godel.toml");
}
