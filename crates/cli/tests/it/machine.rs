//! Coming to a machine, looking around, and leaving it again.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::home::answer;
use crate::repo::Repo;

fn program(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn agents_are_found_and_a_repository_is_got_ready() {
    let repo = Repo::new();
    let bin = repo.home.path().join("bin");
    program(&bin.join("claude"));
    program(&bin.join("codex"));
    std::fs::write(bin.join("gemini"), "no program").unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let run =
        |arguments: &[&str]| answer(repo.command_in(&repo.path, arguments).env("PATH", &path));
    run(&["onboard"]).refused(2, &["nothing was done", "--yes"]);
    assert!(!repo.path.join(".godel").exists());
    let said = run(&["onboard", "--yes"]).expect(0).stdout;
    for part in ["is ready", "claude (", "codex (", "godel bead create"] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    assert!(repo.path.join(".godel").is_dir());
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let said = run(&["onboard", "--yes", "--json"]).expect(0).json();
    assert_eq!((&said["beads"], &said["agents"][0]["name"]), (&json!(1), &json!("claude")));
    assert!(!said["agents"].to_string().contains("gemini"));
    repo.create("x");
    let checks = |said: &Value, name: &str| {
        let checks = said["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == name).unwrap()
    };
    let said = run(&["doctor", "--json"]).expect(0).json();
    assert_eq!(checks(&said, "beads")["message"], "2 in this repository, all readable");
    assert_eq!(checks(&said, "walls")["status"], "ok");
    assert!(checks(&said, "agents")["message"].as_str().unwrap().starts_with("claude, codex"));
    // Those that are there say no version; one that says it is named with it.
    let led = checks(&said, "harnesses");
    let message = led["message"].as_str().unwrap();
    assert!(led["status"] == "warn" && message.contains("codex does not say"), "{led}");
    let told = repo.home.path().join("told");
    std::fs::create_dir(&told).unwrap();
    std::fs::write(told.join("codex"), "#!/bin/sh\necho codex-cli 99.1.2\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(told.join("codex"), executable).unwrap();
    let only = format!("{}:/usr/bin:/bin", told.display());
    let said = answer(repo.command_in(&repo.path, &["doctor", "--json"]).env("PATH", only));
    let led = checks(&said.expect(0).json(), "harnesses");
    assert_eq!((&led["status"], &led["message"]), (&json!("ok"), &json!("codex 99.1.2")));
    let said = answer(repo.command_in(repo.home.path(), &["doctor", "--json"]).env("PATH", &path));
    assert_eq!(checks(&said.expect(0).json(), "beads")["status"], "skip");
}

#[test]
fn godel_leaves_without_taking_work_along() {
    let repo = Repo::new();
    let id = repo.create("stays");
    let home = repo.home.path();
    let own = home.join(".local/bin/godel");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_godel"), &own).unwrap();
    let script = home.join(".zfunc/_godel");
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    std::fs::write(&script, "#compdef godel").unwrap();
    let server = repo.home.up();
    repo.home.run(&["uninstall", "--yes"]).refused(4, &["a server runs", "stop it first"]);
    server.stop();
    std::fs::write(repo.home.data().join("notes.txt"), "mine").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&own);
        command.args(arguments).env_clear().env("HOME", home).current_dir(home);
        answer(&mut command)
    };
    run(&["uninstall"]).refused(2, &["would remove 2", ".local/bin/godel", "_godel", "--yes"]);
    let said = run(&["uninstall", "--yes"]).expect(0).stdout;
    for part in ["removed  ", "kept     ", "--data-too", "git branch -D godel/state"] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    assert!(!own.exists() && !script.exists() && repo.home.data().join("godel.db").exists());
    let said = repo.home.run(&["uninstall", "--yes", "--data-too", "--json"]).expect(0).json();
    assert!(said["kept"][0]["why"].as_str().unwrap().contains("rm '"), "{said}");
    let left = std::fs::read_dir(repo.home.data()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["notes.txt"], "what is not Godel's stays");
    assert_eq!(repo.json(&["bead", "show", &id])["title"], "stays");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}
