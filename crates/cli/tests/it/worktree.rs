//! `godel worktree` in real repositories, without a server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::home::{Answer, Home, answer};

fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// A home with a repository in it.
fn repository() -> (Home, PathBuf) {
    let home = Home::new();
    let repo = home.path().canonicalize().unwrap().join("my repo");
    std::fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q"]);
    std::fs::write(repo.join("a.txt"), "one\n").unwrap();
    std::fs::write(repo.join(".gitignore"), "node_modules\n*.log\n").unwrap();
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "-q", "-m", "first"]);
    (home, repo)
}

fn run(home: &Home, repo: &Path, arguments: &[&str]) -> Answer {
    let mut command = home.command(&["worktree"]);
    answer(command.args(arguments).current_dir(repo))
}

#[test]
fn a_worktree_is_made_listed_shown_and_removed() {
    let (home, repo) = repository();
    let made = run(&home, &repo, &["create", "godel-a1b2c"]).expect(0);
    assert!(made.stdout.contains("bead/godel-a1b2c"), "{made:?}");
    assert!(made.stdout.contains("20000 to 20009"), "{made:?}");
    let tree = run(&home, &repo, &["info", "godel-a1b2c", "--path"]).expect(0);
    let tree = PathBuf::from(tree.stdout.trim_end());
    assert_eq!(tree, repo.join(".godel/worktrees/godel-a1b2c"));
    std::fs::write(tree.join("a.txt"), "changed\n").unwrap();
    let listed = run(&home, &repo, &["list"]).expect(0).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    let header: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(header, ["ID", "BRANCH", "BASE", "AHEAD", "DIRTY", "AGE", "STATE"]);
    let row: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(row[..5], ["godel-a1b2c", "bead/godel-a1b2c", "main", "0", "1"], "{listed}");
    let listed = run(&home, &tree, &["list", "--json"]).expect(0).json();
    let item = &listed["items"][0];
    assert_eq!((&item["state"], &item["dirty"]), (&"ready".into(), &1.into()), "{item}");
    assert_eq!(item["base"]["reference"], "refs/heads/main");
    let removed = run(&home, &repo, &["remove", "godel-a1b2c"]).expect(0).stdout;
    let (_, command) = removed.split_once("get it back with: git ").unwrap();
    let command: Vec<&str> = command.lines().next().unwrap().split(' ').collect();
    git(&repo, &command);
    assert_eq!(git(&repo, &["show", "rescued/godel-a1b2c:a.txt"]), "changed");
    let rescued = run(&home, &repo, &["list", "--rescued"]).expect(0).stdout;
    assert!(rescued.contains("git branch rescued/godel-a1b2c refs/godel/rescue/"), "{rescued}");
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    assert!(!home.data().exists(), "no server and no data are needed");
}

#[test]
fn refusals_have_their_exit_codes_and_say_what_to_do() {
    let (home, repo) = repository();
    let try_it = |arguments: &[&str]| run(&home, &repo, arguments);
    try_it(&["create", "../x"]).refused(2, &["cannot name a worktree", "hint:", "invalid_name"]);
    try_it(&["info", "x"]).refused(3, &["no worktree x", "godel worktree list"]);
    try_it(&["create", "x", "--base=--help"]).refused(3, &["names no commit"]);
    run(&home, home.path(), &["list"]).refused(3, &["no git repository", "no_repository"]);
    try_it(&["create", "x"]).expect(0);
    try_it(&["create", "x"]).refused(4, &["is there already", "godel worktree remove x"]);
    std::fs::create_dir(repo.join(".godel/worktrees/x/inner")).unwrap();
    git(&repo.join(".godel/worktrees/x/inner"), &["init", "-q"]);
    try_it(&["remove", "x", "--force"])
        .refused(4, &["inner is a repository", "nothing was removed"]);
    let cleaned = try_it(&["cleanup", "--all", "--json"]).expect(4).json();
    assert_eq!(cleaned["refused"][0]["code"], "worktree_unsaved");
    std::fs::write(repo.join("godel.toml"), "[worktree]\nsetup = 'exit 3'\n").unwrap();
    try_it(&["create", "y"]).refused(5, &["wants to run `exit 3`", "godel worktree trust"]);
    try_it(&["trust"]).expect(0);
    try_it(&["create", "y"]).refused(1, &["exit code 3", "godel worktree create y"]);
    let listed = try_it(&["list", "--json"]).expect(0).json();
    assert_eq!(listed["items"][1]["state"], "setup-failed");
    std::fs::write(repo.join("godel.toml"), "[worktree]\nsetpu = 'x'\n").unwrap();
    let failed = try_it(&["create", "z", "--json"]).expect(2);
    assert!(failed.stderr.contains("godel.toml, line 2: unknown field"), "{failed:?}");
}

#[test]
fn variables_of_git_do_not_lead_astray() {
    let (home, repo) = repository();
    let other = home.path().join("other");
    std::fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q"]);
    let mut command = home.command(&["worktree", "create", "x", "--json"]);
    command.current_dir(&repo);
    for (name, value) in [
        ("GIT_DIR", other.join(".git")),
        ("GIT_WORK_TREE", other.clone()),
        ("GIT_INDEX_FILE", other.join("index")),
        ("GIT_OBJECT_DIRECTORY", other.join("objects")),
        ("GIT_COMMON_DIR", other.join(".git")),
        ("GIT_NAMESPACE", other.clone()),
    ] {
        command.env(name, value);
    }
    let made = answer(&mut command).expect(0).json();
    assert_eq!(made["path"], repo.join(".godel/worktrees/x").to_str().unwrap());
    assert!(!other.join("objects").exists() && !other.join("index").exists());
}

#[test]
fn cleanup_removes_what_is_due_and_says_why_the_rest_stays() {
    let (home, repo) = repository();
    let try_it = |arguments: &[&str]| run(&home, &repo, arguments);
    try_it(&["create", "done", "--cleanup", "on-success"]).expect(0);
    try_it(&["create", "kept"]).expect(0);
    let dry = try_it(&["cleanup", "--ended", "done=success", "--dry-run"]).expect(0).stdout;
    assert!(
        dry.contains("done would be removed") && dry.contains("kept stays: its policy"),
        "{dry}"
    );
    let cleaned = try_it(&["cleanup", "--ended", "done=success", "--json"]).expect(0).json();
    assert_eq!(cleaned["removed"][0]["id"], "done");
    try_it(&["cleanup", "--ended", "done=success"]).refused(3, &["no worktree done"]);
    try_it(&["cleanup", "--ended", "kept=well"]).refused(2, &["ID=success or ID=failure"]);
    try_it(&["cleanup", "--all"]).expect(0);
    assert_eq!(try_it(&["list", "--json"]).expect(0).json()["items"].as_array().unwrap().len(), 0);
}

#[test]
fn ctrl_c_ends_a_setup_and_the_worktree_stays_for_a_look() {
    let (home, repo) = repository();
    std::fs::create_dir(repo.join(".godel")).unwrap();
    let text = "[worktree]\nsetup = 'touch begun.log; sleep 60'\n";
    std::fs::write(repo.join(".godel/config.toml"), text).unwrap();
    let mut command = home.command(&["worktree", "create", "x"]);
    let mut child =
        command.current_dir(&repo).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let begun = repo.join(".godel/worktrees/x/begun.log");
    while !begun.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let info = run(&home, &repo, &["info", "x", "--json"]).expect(0).json();
    assert_eq!(info["state"], "setup-failed");
    run(&home, &repo, &["remove", "x"]).expect(0);
}

#[test]
fn a_removal_killed_at_any_moment_loses_nothing() {
    let (home, repo) = repository();
    for round in 0..12 {
        run(&home, &repo, &["create", "x"]).expect(0);
        let tree = repo.join(".godel/worktrees/x");
        for number in 0..40 {
            std::fs::write(tree.join(format!("{number}.txt")), format!("{round} {number}"))
                .unwrap();
        }
        let mut command = home.command(&["worktree", "remove", "x"]);
        let mut child = command.current_dir(&repo).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(6 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        // It may have been done, or have come to any step.
        let again = run(&home, &repo, &["remove", "x"]);
        assert!(matches!(again.code, 0 | 3), "{again:?}");
        let listed = run(&home, &repo, &["list", "--rescued", "--json"]).expect(0).json();
        let saved = listed["items"].as_array().unwrap();
        let found = saved.iter().any(|rescue| {
            let commit = rescue["commit"].as_str().unwrap();
            git(&repo, &["show", &format!("{commit}:39.txt")]) == format!("{round} 39")
        });
        assert!(found, "round {round}: {listed}");
        assert_eq!(git(&repo, &["worktree", "list"]).lines().count(), 1);
    }
    git(&repo, &["fsck", "--no-dangling"]);
}

/// Runs a shell script as root of a namespace of its own, where mounts end with it.
#[cfg(target_os = "linux")]
fn alone(home: &Home, repo: &Path, script: &str) -> Option<Answer> {
    let possible = Command::new("unshare").args(["-rm", "true"]).status();
    if !possible.is_ok_and(|status| status.success()) {
        return None;
    }
    let godel = format!("godel() {{ '{}' \"$@\"; }}\n", env!("CARGO_BIN_EXE_godel"));
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-ec", &(godel + script)]).current_dir(repo);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home.path());
    Some(answer(&mut command))
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_bind_is_real_and_removal_does_not_reach_through_it() {
    let (home, repo) = repository();
    std::fs::create_dir_all(repo.join("node_modules/m")).unwrap();
    std::fs::write(repo.join("node_modules/m/index.js"), "module").unwrap();
    std::fs::create_dir(repo.join(".godel")).unwrap();
    let text = "[worktree.share]\nnode_modules = 'read-only'\n";
    std::fs::write(repo.join(".godel/config.toml"), text).unwrap();
    let script = "godel worktree create x >/dev/null
        cat .godel/worktrees/x/node_modules/m/index.js
        if touch .godel/worktrees/x/node_modules/new 2>/dev/null; then echo writable; fi
        godel worktree remove x >/dev/null
        test ! -e .godel/worktrees/x";
    if let Some(answer) = alone(&home, &repo, script) {
        assert_eq!(answer.expect(0).stdout, "module");
    }
    assert!(repo.join("node_modules/m/index.js").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_repository_can_be_looked_at_and_says_clearly_that_it_cannot_be_changed() {
    let (home, repo) = repository();
    run(&home, &repo, &["create", "x"]).expect(0);
    let script = "mount --bind \"$PWD\" \"$PWD\"; mount -o remount,bind,ro \"$PWD\"; cd \"$PWD\"
        godel worktree list
        godel worktree create y || echo \"code $?\"
        godel worktree remove x || echo \"code $?\"";
    if let Some(answer) = alone(&home, &repo, script) {
        let answer = answer.expect(0);
        assert!(answer.stdout.contains("ready"), "{answer:?}");
        assert_eq!(answer.stdout.matches("code 1").count(), 2, "{answer:?}");
        assert!(answer.stderr.contains("must be writable for you"), "{answer:?}");
    }
    run(&home, &repo, &["remove", "x"]).expect(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let (home, repo) = repository();
    let script = "mkdir ../small; mount -t tmpfs -o size=6m none ../small
        git clone -q . ../small/repo 2>/dev/null; cd ../small/repo
        godel worktree create x >/dev/null
        head -c 2000000 /dev/urandom > .godel/worktrees/x/big.bin
        cp .godel/worktrees/x/big.bin ../copy.bin
        head -c 9000000 /dev/urandom > ../filler 2>/dev/null || true
        godel worktree remove x || echo \"code $?\"
        cmp .godel/worktrees/x/big.bin ../copy.bin && echo kept
        rm ../filler
        godel worktree remove x >/dev/null
        git show \"$(git for-each-ref --format='%(refname)' refs/godel/rescue)\":big.bin | cmp - ../copy.bin
        echo saved";
    if let Some(answer) = alone(&home, &repo, script) {
        let answer = answer.expect(0);
        assert_eq!(answer.stdout, "code 6\nkept\nsaved\n", "{answer:?}");
        assert!(answer.stderr.contains("disk_full"), "{answer:?}");
    }
}
