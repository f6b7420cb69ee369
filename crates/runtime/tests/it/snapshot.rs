//! Snapshots of sandboxes: files, commits and home, byte for byte.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use godel_model::{Report as _, code};
use godel_runtime::{Profile, RuntimeProvider as _};

use crate::world::{World, git};

/// A directory as text: path, kind, mode and content of everything in it.
fn picture(dir: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_name() == ".git" {
                continue;
            }
            let found = std::fs::symlink_metadata(&path).unwrap();
            let what = if found.is_symlink() {
                format!("link {}", std::fs::read_link(&path).unwrap().display())
            } else if found.is_dir() {
                open.push(path.clone());
                format!("dir {:o}", found.mode() & 0o777)
            } else {
                let bytes = std::fs::read(&path).unwrap();
                format!("file {:o} {bytes:?}", found.mode() & 0o777)
            };
            let name = path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
            all.insert(name, what);
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_is_restored_with_its_files_commits_and_home() {
    let world = World::new();
    let at = world.spawn("a", Profile::Workspace).await.id;
    world
        .works(
            at,
            "echo more >> a.txt; git rm -q dir/b.txt; echo new > new; git add new; git commit -qam x; \
             echo untracked > u; echo ignored > i.log; mkdir -p cache/deep empty; echo c > cache/deep/c; \
             printf '#!/bin/sh\\n' > run; chmod 750 run; ln -s nowhere link; ln -s cache/deep dirlink; \
             echo staged > s; git add s; head -c 3M /dev/urandom > big; mkdir closed; echo x > closed/x; \
             chmod 555 closed; echo session > \"$HOME/session\"",
        )
        .await;
    let inside = world.works(at, "git rev-parse HEAD; git status --porcelain").await;
    let snapshot = world.provider.snapshot(at).await.unwrap();
    let before = picture(&world.tree("a"));
    assert!(before.len() > 14, "{before:?}");
    let copies = ["b", "c"].map(|bead| world.spec(bead, Profile::Workspace));
    for (bead, spec) in ["b", "c"].iter().zip(&copies) {
        let copy = world.provider.restore(&snapshot, spec).await.unwrap().id;
        assert_eq!(picture(&world.tree(bead)), before);
        assert_eq!(world.works(copy, "git rev-parse HEAD; git status --porcelain").await, inside);
        assert_eq!(world.works(copy, "cat \"$HOME/session\"").await, "session");
        // A copy goes its own way, and its work goes to its own branch.
        world.works(copy, &format!("echo {bead} > own && git add own && git commit -qm own")).await;
        assert_eq!(world.provider.collect(copy).await.unwrap().commits, 2);
        assert_eq!(git(&world.repo(), &["show", &format!("bead/{bead}:own")]), *bead);
    }
    assert_eq!(picture(&world.tree("a")), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ignored_files_are_kept_up_to_the_bound() {
    let world = World::new();
    let at = world.spawn("a", Profile::Workspace).await.id;
    // The bound of these tests is 1 MiB.
    world
        .works(
            at,
            "mkdir cache; echo small > cache/a; head -c 2M /dev/zero > cache/b; \
                     head -c 2M /dev/zero > untracked",
        )
        .await;
    let snapshot = world.provider.snapshot(at).await.unwrap();
    let spec = world.spec("b", Profile::Workspace);
    world.provider.restore(&snapshot, &spec).await.unwrap();
    let tree = world.tree("b");
    assert!(tree.join("cache/a").exists() && tree.join("untracked").exists());
    assert!(!tree.join("cache/b").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directories_that_an_agent_has_closed_stop_neither_the_end_nor_a_restore() {
    let world = World::new();
    let closed = "mkdir -p a/b && echo x > a/b/c && chmod 555 a/b && chmod 500 a";
    let spec = world.spec("a", Profile::Workspace);
    let at = world.provider.spawn(&spec).await.unwrap().id;
    let empty = world.provider.snapshot(at).await.unwrap();
    world.works(at, &format!("{closed}; cd && {closed}; cd /tmp && {closed}")).await;
    world.provider.terminate(at, std::time::Duration::ZERO).await.unwrap();
    world.provider.restore(&empty, &spec).await.unwrap();
    assert!(!world.tree("a").join("a").exists());
    assert!(world.tree("a").join("a.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_snapshot_is_noticed_and_leaves_no_sandbox() {
    let world = World::new();
    let at = world.spawn("a", Profile::Workspace).await.id;
    world.works(at, "echo precious > file").await;
    let snapshot = world.provider.snapshot(at).await.unwrap();
    let packs = world.home.path().join("data/snapshots/packs");
    for entry in std::fs::read_dir(packs).unwrap().flatten() {
        if entry.path().extension().is_some_and(|end| end == "pack") {
            let mut bytes = std::fs::read(entry.path()).unwrap();
            let at = bytes.windows(8).position(|window| window == b"precious").unwrap();
            bytes[at] ^= 1;
            std::fs::write(entry.path(), bytes).unwrap();
        }
    }
    let spec = world.spec("b", Profile::Workspace);
    let error = world.provider.restore(&snapshot, &spec).await.unwrap_err();
    assert_eq!(error.code(), code::SNAPSHOT_DAMAGED, "{error}");
    assert_eq!(world.provider.list().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sandboxes_are_found_again_after_a_crash() {
    let mut world = World::new();
    let spec = world.spec("a", Profile::Workspace);
    let sandbox = world.provider.spawn(&spec).await.unwrap();
    world.works(sandbox.id, "echo x > x && git add x && git commit -qm x").await;
    world.reopen();
    let found = world.provider.list().await.unwrap();
    assert_eq!((found.len(), &found[0].sandbox), (1, &sandbox));
    assert_eq!(world.provider.spawn(&spec).await.unwrap(), sandbox);
    assert_eq!(world.provider.collect(sandbox.id).await.unwrap().commits, 1);
    let mode = std::fs::metadata(world.home.path().join("data/sandboxes")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o700);
}
