//! What is refused, because it could not be undone.

use std::process::Command;

use godel_git::{Create, Name, Remove, State};
use godel_model::{Report as _, code};

use crate::world::{World, git, name, write};

#[test]
fn a_repository_inside_the_worktree_is_named_and_stays() {
    let world = World::new();
    let (_, tree) = world.create("x");
    let nested = tree.join("node_modules/mine");
    std::fs::create_dir_all(&nested).unwrap();
    git(&nested, &["init", "-q"]);
    let error = world.remove("x").unwrap_err();
    assert_eq!(error.code(), code::WORKTREE_UNSAVED);
    assert!(error.to_string().contains("node_modules/mine is a repository"), "{error}");
    let force = Remove { force: true, ..Remove::default() };
    let error = world.bench().remove(&name("x"), force).unwrap_err();
    assert_eq!(error.code(), code::WORKTREE_UNSAVED, "force does not lose work");
    assert_eq!(world.bench().info(&name("x")).unwrap().state, State::Ready);
    std::fs::remove_dir_all(&nested).unwrap();
    world.remove("x").unwrap();
}

#[test]
fn a_submodule_goes_only_if_others_have_all_of_it() {
    let world = World::new();
    let library = world.root().join("library");
    git(&world.root(), &["clone", "-q", "repo", "library"]);
    let repo = world.repo();
    git(&repo, &["submodule", "--quiet", "add", library.to_str().unwrap(), "lib"]);
    git(&repo, &["commit", "-q", "-m", "with a library"]);
    let (_, tree) = world.create("x");
    git(&tree, &["submodule", "--quiet", "update", "--init"]);
    let inner = tree.join("lib");
    write(&inner.join("a.txt"), "changed\n");
    let error = world.remove("x").unwrap_err().to_string();
    assert!(error.contains("the submodule lib has changes"), "{error}");
    git(&inner, &["commit", "-q", "-am", "changed"]);
    let error = world.remove("x").unwrap_err().to_string();
    assert!(error.contains("the submodule lib has commits that are on no remote"), "{error}");
    git(&inner, &["push", "-q", "origin", "HEAD:refs/heads/elsewhere"]);
    git(&inner, &["fetch", "-q"]);
    let removed = world.remove("x").unwrap();
    assert_eq!(removed.rescued.len(), 1, "the submodule's new commit was not committed outside");
    world.is_gone("x");
}

#[test]
fn a_locked_worktree_or_one_in_use_needs_force_and_is_rescued_even_then() {
    let world = World::new();
    let (_, tree) = world.create("x");
    write(&tree.join("new.txt"), "work\n");
    git(&world.repo(), &["worktree", "lock", "--reason", "on a stick", tree.to_str().unwrap()]);
    let error = world.remove("x").unwrap_err();
    assert_eq!(error.code(), code::WORKTREE_BUSY);
    assert!(error.to_string().contains("on a stick"), "{error}");
    git(&world.repo(), &["worktree", "unlock", tree.to_str().unwrap()]);
    let mut sleep = Command::new("sleep").arg("60").current_dir(&tree).spawn().unwrap();
    let error = world.remove("x").unwrap_err();
    let force = Remove { force: true, ..Remove::default() };
    let removed = world.bench().remove(&name("x"), force);
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    assert!(error.to_string().contains("in use by sleep"), "{error}");
    assert_eq!(world.show(&removed.unwrap().rescued[0].commit, "new.txt"), "work");
}

#[test]
fn names_and_bases_that_are_no_such_thing_are_refused() {
    for hostile in ["../x", "-x", "a/b", ".."] {
        assert!(hostile.parse::<Name>().is_err());
    }
    let world = World::new();
    for base in ["--help", "-b", "nowhere", "", "main\nx", "HEAD:a.txt"] {
        let request = Create { base: Some(base.to_owned()), ..Create::default() };
        let error = world.bench().create(&name("x"), &request).unwrap_err();
        assert_eq!(error.code(), code::BASE_NOT_FOUND, "{base:?}: {error}");
    }
    assert!(!world.repo().join(".godel").exists(), "nothing was made");
    let error = world.remove("x").unwrap_err();
    assert_eq!(error.code(), code::WORKTREE_NOT_FOUND);
    assert!(!world.repo().join(".godel").exists(), "a question makes nothing");
}

#[test]
fn a_base_is_remembered_and_an_existing_branch_is_taken_up_again() {
    let world = World::new();
    let request = Create { base: Some("main~1".to_owned()), ..Create::default() };
    let record = world.bench().create(&name("x"), &request).unwrap();
    assert_eq!(record.base.commit, git(&world.repo(), &["rev-parse", "main~1"]));
    assert_eq!(record.base.revision, "main~1");
    let tree = world.bench().path(&name("x"));
    write(&tree.join("new.txt"), "work\n");
    git(&tree, &["add", "--all"]);
    git(&tree, &["commit", "-q", "-m", "work"]);
    world.remove("x").unwrap();
    let record = world.bench().create(&name("x"), &Create::default()).unwrap();
    assert!(!record.branch_made && tree.join("new.txt").exists());
    assert_eq!(world.bench().info(&name("x")).unwrap().ahead, Some(1));
}

#[test]
fn a_place_or_branch_that_is_taken_is_refused_and_nothing_is_left_behind() {
    let world = World::new();
    world.create("x");
    let create = |id: &str| world.bench().create(&name(id), &Create::default()).unwrap_err();
    assert_eq!(create("x").code(), code::WORKTREE_EXISTS);
    write(&world.repo().join(".godel/worktrees/mine/file"), "mine");
    assert_eq!(create("mine").code(), code::WORKTREE_EXISTS);
    git(&world.repo(), &["checkout", "-q", "-b", "bead/used"]);
    let error = create("used");
    assert_eq!(error.code(), code::WORKTREE_EXISTS, "{error}");
    let names: Vec<_> = world.bench().list().unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(names, [name("x")]);
    assert_eq!(git(&world.repo(), &["branch", "--show-current"]), "bead/used");
}

#[test]
fn a_repository_cannot_bring_its_own_records_along() {
    let world = World::new();
    write(&world.repo().join(".godel/config.toml"), "[worktree]\nsetup = 'touch owned'\n");
    git(&world.repo(), &["add", "--force", ".godel/config.toml"]);
    let error = godel_git::Workbench::open(&world.repo(), world.host()).err().unwrap();
    assert_eq!(error.code(), code::INVALID_CONFIG);
    assert!(error.to_string().contains("tracks .godel/config.toml"), "{error}");
    git(&world.repo(), &["rm", "-q", "-r", "--cached", ".godel"]);
    std::fs::remove_dir_all(world.repo().join(".godel")).unwrap();
    std::os::unix::fs::symlink("/tmp", world.repo().join(".godel")).unwrap();
    let error = godel_git::Workbench::open(&world.repo(), world.host()).err().unwrap();
    assert!(error.to_string().contains("symbolic link"), "{error}");
}

#[test]
fn a_record_of_a_newer_godel_or_of_another_worktree_is_not_believed() {
    let world = World::new();
    world.create("a");
    world.create("x");
    let path = world.repo().join(".godel/state/worktrees/x.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to, part) in [
        ("\"version\": 1", "\"version\": 2", "newer Godel"),
        ("\"id\": \"x\"", "\"id\": \"y\"", "not the record of x"),
        ("\"id\": \"x\"", "\"id\": \"../y\"", "could not be understood"),
        ("{", "", "could not be understood"),
    ] {
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = world.remove("x").unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        let listed = world.bench().list().unwrap();
        let states: Vec<_> = listed.iter().map(|entry| entry.state).collect();
        assert_eq!(states, [State::Ready, State::Unreadable], "{part}");
    }
    std::fs::write(&path, text).unwrap();
    world.remove("x").unwrap();
}
