//! `godel project create` with a repository that is cloned or begun.

use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;
use crate::repo::{Repo, git};

/// Makes a bare repository with one commit, as a forge has it, and returns its address.
fn forge(home: &Home) -> String {
    let source = Repo::new();
    let bare = home.path().join("forge/web.git");
    source.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    format!("file://{}", bare.display())
}

fn is_repository(project: &Value, folder: &Path) {
    assert_eq!(project["repository"], json!(folder), "{project}");
    assert_eq!(git(folder, &["rev-parse", "--abbrev-ref", "HEAD"]).trim(), "main");
}

#[test]
fn a_project_is_made_of_a_clone() {
    let home = Home::new();
    let url = forge(&home);
    let _server = home.up();
    let create =
        |more: &[&str]| home.run(&[&["project", "create"][..], more, &["--json"]].concat());
    // The name of the repository in the home of whoever runs the server.
    let web = create(&["web", "--clone", &url, "--budget", "5/month"]).expect(0).json();
    is_repository(&web, &home.path().join("web"));
    assert_eq!(web["limits"]["monthlyBudgetMicros"], 5_000_000);
    let remote = git(&home.path().join("web"), &["remote", "get-url", "origin"]);
    assert_eq!(format!("file://{}", remote.trim()), url);
    // Paths are those of the folder in which the command runs.
    let site = create(&["site", "--clone", "forge/web.git", "--folder", "x/../work/site"]);
    is_repository(&site.expect(0).json(), &home.path().join("work/site"));
    create(&["api", "--clone", &url]).refused(4, &["file_exists", "--repository DIR"]);
    // A name that is taken is told before anything is cloned.
    create(&["web", "--clone", &url, "--folder", "again"]).refused(4, &["project_name_taken"]);
    assert!(!home.path().join("again").exists());
    let list = home.run(&["project", "list", "--json"]).expect(0).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 2, "{list}");
}

#[test]
fn a_project_is_made_with_a_new_repository() {
    let home = Home::new();
    let _server = home.up();
    let said = home.run(&["project", "create", "shop", "--new", "work/shop"]).expect(0).stdout;
    let folder = home.path().join("work/shop");
    assert!(said.contains(folder.to_str().unwrap()), "{said}");
    let first = git(&folder, &["log", "--format=%an <%ae> %s", "main"]);
    assert_eq!(first.trim(), "Godel <godel@localhost> First commit");
    assert_eq!(std::fs::read_to_string(folder.join("README.md")).unwrap(), "# shop\n");
    // Beads have a place there at once.
    let godel = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        crate::home::answer(command.current_dir(&folder))
    };
    godel(&["bead", "create", "the first"]).expect(0);
    // Who has a name in git is the author.
    std::fs::write(home.path().join(".gitconfig"), "[user]\nname = Ann\nemail = ann@x\n").unwrap();
    home.run(&["project", "create", "mine", "--new", "mine"]).expect(0);
    let author = git(&home.path().join("mine"), &["log", "--format=%an <%ae>"]);
    assert_eq!(author.trim(), "Ann <ann@x>");
}

#[test]
fn what_cannot_be_cloned_is_told_with_what_to_do_next() {
    let home = Home::new();
    let _server = home.up();
    let create = |more: &[&str]| home.run(&[&["project", "create", "web"][..], more].concat());
    let secret = "https://ann:leakcanary@example.com/web.git";
    let refused = create(&["--clone", secret]).expect(2);
    assert!(refused.stderr.contains("must not hold a user or password"), "{refused:?}");
    assert!(!refused.stderr.contains("leakcanary"), "{refused:?}");
    create(&["--clone", "ext::sh -c true"]).refused(2, &["no address that can be cloned"]);
    create(&["--clone", "none"]).refused(2, &["no repository at this path"]);
    let failed = create(&["--clone", "http://127.0.0.1:1/web.git"]);
    failed.refused(1, &["127.0.0.1 cannot be reached", "try again", "git_failed"]);
    assert!(!home.path().join("web").exists());
    for wrong in [
        &["--folder", "x"][..],
        &["--new", "x", "--folder", "y"],
        &["--new", "x", "--clone", "y"],
        &["--new", "x", "--repository", "y"],
        &["--clone", "x", "--repository", "y"],
    ] {
        create(wrong).refused(2, &["Usage"]);
    }
    let list = home.run(&["project", "list", "--json"]).expect(0).json();
    assert_eq!(list["items"], json!([]));
}
