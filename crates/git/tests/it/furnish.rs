//! What a worktree is furnished with: files, directories, ports and a setup script.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use godel_git::{Binds, Create, Mode, Phase, ShareState, State, mask};
use godel_model::{Report as _, code};

use crate::world::{World, git, name, read, write};

fn own(world: &World, text: &str) {
    write(&world.repo().join(".godel/config.toml"), &format!("[worktree]\n{text}\n"));
}

#[test]
fn files_are_copied_and_their_values_can_be_masked() {
    let world = World::new();
    write(&world.repo().join(".env"), "TOKEN=abc123\nNAME='a long name'\n");
    let only_mine = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(world.repo().join(".env"), only_mine).unwrap();
    world.create("plain");
    assert!(!world.bench().path(&name("plain")).join(".env").exists(), "nothing by default");
    own(&world, "copy = ['.env', 'none/*.env']\nsetup = 'cat .env; exit 1'");
    let error = world.bench().create(&name("x"), &Create::default()).unwrap_err();
    assert_eq!(error.code(), code::SETUP_FAILED);
    assert!(!error.to_string().contains("abc123"), "{error}");
    assert!(error.to_string().contains("[redacted]"), "{error}");
    let tree = world.bench().path(&name("x"));
    assert_eq!(read(&tree.join(".env")), "TOKEN=abc123\nNAME='a long name'\n");
    let mode =
        |path: &str| std::fs::metadata(world.repo().join(path)).unwrap().permissions().mode();
    assert_eq!(mode(".godel/worktrees/x/.env") & 0o777, 0o600);
    assert_eq!(mode(".godel/state/redact/x.json") & 0o777, 0o600);
    assert_eq!(mode(".godel/state") & 0o777, 0o700);
    let values = world.bench().redactions(&name("x")).unwrap();
    assert_eq!(mask("its abc123 is", &values), "its [redacted] is");
    world.remove("x").unwrap();
    world.is_gone("x");
}

#[test]
fn a_copied_file_is_rescued_only_if_it_was_changed() {
    let world = World::new();
    git(&world.repo(), &["rm", "-q", ".gitignore"]);
    git(&world.repo(), &["commit", "-q", "-m", "nothing is ignored"]);
    write(&world.repo().join(".env"), "TOKEN=abc123\n");
    own(&world, "copy = ['.env']");
    world.create("same");
    assert!(world.remove("same").unwrap().rescued.is_empty(), "no secret gets into git");
    let (_, tree) = world.create("changed");
    write(&tree.join(".env"), "TOKEN=other\n");
    let commit = world.remove("changed").unwrap().rescued[0].commit.clone();
    assert_eq!(world.show(&commit, ".env"), "TOKEN=other");
}

#[test]
fn a_directory_is_copied_and_is_no_work_of_the_worktree() {
    let world = World::new();
    let modules = world.repo().join("node_modules");
    write(&modules.join("m/index.js"), "module\n");
    symlink("m", modules.join("alias")).unwrap();
    symlink("/etc/passwd", modules.join("out")).unwrap();
    own(&world, "share = { node_modules = 'copy', target = 'copy', '.venv' = 'none' }");
    let (record, tree) = world.create("x");
    assert_eq!(read(&tree.join("node_modules/m/index.js")), "module\n");
    assert!(tree.join("node_modules/out").is_symlink());
    let states: Vec<_> = record.shares.iter().map(|share| (share.mode, share.state)).collect();
    assert_eq!(
        states,
        [
            (Mode::None, ShareState::Wanted),
            (Mode::Copy, ShareState::Done),
            (Mode::Copy, ShareState::Absent)
        ]
    );
    write(&tree.join("node_modules/m/index.js"), "changed\n");
    assert_eq!(read(&modules.join("m/index.js")), "module\n", "a copy is a copy");
    assert!(world.remove("x").unwrap().rescued.is_empty());
    assert_eq!(read(&modules.join("m/index.js")), "module\n");
}

#[test]
fn a_read_only_bind_can_be_left_to_the_sandbox() {
    let world = World::new();
    write(&world.repo().join("node_modules/m/index.js"), "module\n");
    own(&world, "share = { node_modules = 'read-only' }");
    let request = Create { binds: Binds::Later, ..Create::default() };
    let record = world.bench().create(&name("x"), &request).unwrap();
    assert_eq!(record.shares[0].state, ShareState::Wanted);
    world.remove("x").unwrap();
    assert!(world.repo().join("node_modules/m/index.js").exists());
}

#[test]
fn a_tracked_directory_is_not_shared() {
    let world = World::new();
    own(&world, "share = { dir = 'copy' }");
    let error = world.bench().create(&name("x"), &Create::default()).unwrap_err();
    assert_eq!(error.code(), code::SHARE_REFUSED);
    assert!(error.to_string().contains("dir is tracked"), "{error}");
    own(&world, "");
    let (record, _) = world.create("x");
    assert_eq!(record.phase, Phase::Ready, "the same command finishes it");
}

#[test]
fn a_setup_that_failed_can_be_looked_at_and_tried_again() {
    let world = World::new();
    own(&world, "setup = 'echo $GODEL_WORKTREE $GODEL_PORT_BASE $GODEL_PORT_COUNT; test -e ok'");
    let error = world.bench().create(&name("x"), &Create::default()).unwrap_err();
    assert!(error.to_string().contains("x 20000 10"), "{error}");
    assert!(error.hint().unwrap().contains("godel worktree create x"));
    let entry = world.bench().info(&name("x")).unwrap();
    assert_eq!(entry.state, State::SetupFailed);
    write(&entry.path.join("ok"), "");
    let (record, _) = world.create("x");
    assert_eq!((record.phase, record.ports.unwrap().first), (Phase::Ready, 20_000));
    let commit = world.remove("x").unwrap().rescued[0].commit.clone();
    assert_eq!(world.show(&commit, "ok"), "");
}

#[test]
fn a_setup_has_a_time_limit() {
    let world = World::new();
    own(&world, "setup = 'sleep 60'\nsetup-timeout = '0s'");
    let error = world.bench().create(&name("x"), &Create::default()).unwrap_err();
    assert!(error.to_string().contains("took longer"), "{error}");
}

#[test]
fn what_a_team_committed_runs_only_after_somebody_agreed() {
    let world = World::new();
    let team = world.repo().join("godel.toml");
    write(&team, "[worktree]\nsetup = 'echo ran > ran.log'\ncleanup = 'on-success'\n");
    git(&world.repo(), &["add", "godel.toml"]);
    git(&world.repo(), &["commit", "-q", "-m", "setup"]);
    let create = |id: &str| world.bench().create(&name(id), &Create::default());
    let error = create("x").unwrap_err();
    assert_eq!(error.code(), code::SETUP_UNTRUSTED);
    assert!(error.to_string().contains("run `echo ran > ran.log`"), "{error}");
    assert!(!world.repo().join(".godel").exists(), "nothing was made");
    let skip = Create { skip_setup: true, ..Create::default() };
    world.bench().create(&name("skip"), &skip).unwrap();
    assert!(!world.bench().path(&name("skip")).join("ran.log").exists());
    assert_eq!(world.bench().trust().unwrap(), ["run `echo ran > ran.log`"]);
    create("x").unwrap();
    assert_eq!(read(&world.bench().path(&name("x")).join("ran.log")), "ran\n");
    write(&team, "[worktree]\nsetup = 'echo other > ran.log'\n");
    assert_eq!(create("y").unwrap_err().code(), code::SETUP_UNTRUSTED, "it was changed");
    own(&world, "setup = 'true'");
    create("y").unwrap();
    // A clone of the same repository is not trusted with it.
    git(&world.root(), &["clone", "-q", "repo", "clone"]);
    let clone = world.bench_at(&world.root().join("clone"));
    let error = clone.create(&name("x"), &Create::default()).unwrap_err();
    assert_eq!(error.code(), code::SETUP_UNTRUSTED);
}

#[test]
fn a_bare_repository_takes_its_settings_from_the_commit() {
    let world = World::new();
    write(&world.repo().join("godel.toml"), "[worktree]\nsetup = 'echo ran > ran.log'\n");
    git(&world.repo(), &["add", "godel.toml"]);
    git(&world.repo(), &["commit", "-q", "-m", "setup"]);
    git(&world.root(), &["clone", "-q", "--bare", "repo", "bare.git"]);
    let bench = world.bench_at(&world.root().join("bare.git"));
    let create = || bench.create(&name("x"), &Create::default());
    assert_eq!(create().unwrap_err().code(), code::SETUP_UNTRUSTED);
    bench.trust().unwrap();
    create().unwrap();
    assert!(bench.path(&name("x")).join("ran.log").exists());
}

#[test]
fn two_repositories_of_a_user_get_different_ports() {
    let world = World::new();
    git(&world.root(), &["clone", "-q", "repo", "clone"]);
    let clone = world.bench_at(&world.root().join("clone"));
    let (one, _) = world.create("x");
    let two = clone.create(&name("x"), &Create::default()).unwrap();
    assert_eq!((one.ports.unwrap().first, two.ports.unwrap().first), (20_000, 20_010));
    std::fs::remove_dir_all(world.root().join("clone")).unwrap();
    let (three, _) = world.create("y");
    assert_eq!(three.ports.unwrap().first, 20_010, "the clone has vanished");
    world.remove("x").unwrap();
    let (four, _) = world.create("z");
    assert_eq!(four.ports.unwrap().first, 20_000);
}

#[test]
fn a_wrong_setting_is_named_with_its_line() {
    let world = World::new();
    own(&world, "\ncopi = ['.env']");
    let error = world.bench().create(&name("x"), &Create::default()).unwrap_err();
    assert_eq!(error.code(), code::INVALID_CONFIG);
    assert!(error.to_string().contains("config.toml, line 3: unknown field `copi`"), "{error}");
}
