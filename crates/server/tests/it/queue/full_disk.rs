//! A full disk: tasks are refused, none that was accepted is lost, and on it goes when there is room again.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use godel_testkit::{Database, postgres_url};

use super::crash_database::own_postgres;
use super::scene::{PATIENCE, Scene};

const VARIABLE: &str = "GODEL_TEST_FILL";

/// Writes until nothing more goes onto the disk.
fn fill(path: &Path) {
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    for size in [65_536, 4_096, 512] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
}

/// Fills the disk until the server has refused many things for a reason.
async fn filled(scene: &Scene, ballast: &Path, reason: &str) {
    let before = scene.shop.way.refused(reason);
    let start = Instant::now();
    while scene.shop.way.refused(reason) < before + 20 {
        // What a checkpoint gives back is filled as well.
        fill(ballast);
        assert!(start.elapsed() < PATIENCE, "nothing is refused as {reason}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Lets everything come to an end on a disk with room.
async fn empty(mut scene: Scene) {
    assert!(scene.servers[0].ended().is_none(), "the server ended");
    scene.wait(300, 500).await;
    let (accepted, late) = scene.end().await;
    println!("filled twice, {accepted} tasks accepted, {late} answers came too late");
    assert!(accepted > 0);
}

/// Run by [`a_full_disk_costs_no_task_that_was_accepted`], in a namespace where the disk is small.
#[tokio::test(flavor = "multi_thread")]
async fn on_a_small_disk() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let mut scene = Scene::set(&Database::sqlite().url(), 1).await;
    let ballast = scene.servers[0].home().join("ballast");
    for _ in 0..2 {
        scene.wait(300, 500).await;
        filled(&scene, &ballast, "disk_full").await;
        assert!(scene.servers[0].ended().is_none(), "the server ended");
        std::fs::remove_file(&ballast).unwrap();
    }
    empty(scene).await;
}

/// Run by [`a_full_disk_of_postgres_costs_no_task_that_was_accepted`], in a namespace where the disk is
/// small.
#[tokio::test(flavor = "multi_thread")]
async fn on_a_small_disk_of_postgres() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let (mut engine, database) = own_postgres().await.unwrap();
    let mut scene = Scene::set(&database.url(), 1).await;
    let ballast = scene.servers[0].home().join("ballast");
    // First there is no room for tables.
    scene.wait(300, 500).await;
    filled(&scene, &ballast, "disk_full").await;
    std::fs::remove_file(&ballast).unwrap();
    scene.wait(1_000, 1_500).await;
    // Then there is none for the log either, at which PostgreSQL gives up; somebody makes room and
    // starts it again.
    fill(&ballast);
    scene.tables.try_change("SELECT pg_switch_wal()");
    filled(&scene, &ballast, "database_unavailable").await;
    std::fs::remove_file(&ballast).unwrap();
    tokio::task::block_in_place(|| engine.restart().unwrap());
    scene.shop.recorder.cut();
    empty(scene).await;
    drop(database);
}

/// Runs a test of this file where the disk for temporary files is small.
fn on_small_disk(test: &str, megabytes: u32) {
    let folder = tempfile::tempdir().unwrap();
    // Whoever is not root is so in a namespace of its own; PostgreSQL wants to be anybody else.
    let is_root = rustix::process::geteuid().is_root();
    let (flags, someone) =
        if is_root { ("-m", "") } else { ("-rm", "unshare -U --map-user=1000 --map-group=1000") };
    let place = folder.path().display();
    let mount = format!("mount -t tmpfs -o mode=1777,size={megabytes}m tmpfs '{place}'");
    let alone = |script: &str| Command::new("unshare").args([flags, "sh", "-c", script]).output();
    // Some systems let nobody but root mount anything, not even in a namespace of its own.
    if !alone(&format!("{mount} && {someone} true")).is_ok_and(|probe| probe.status.success()) {
        let on_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!on_ci, "this user may not mount a small disk, and on CI nothing is left out");
        eprintln!("left out: this user may not mount a small disk");
        return;
    }
    let own = std::env::current_exe().unwrap();
    let run = alone(&format!(
        "{mount} && TMPDIR='{place}' {VARIABLE}=1 exec {someone} '{}' --exact queue::full_disk::{test} \
         --nocapture",
        own.display()
    ));
    let run = run.unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let cried = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("filled twice"), "{said}{cried}");
    println!("{said}");
}

#[test]
fn a_full_disk_costs_no_task_that_was_accepted() {
    on_small_disk("on_a_small_disk", 24);
}

#[test]
fn a_full_disk_of_postgres_costs_no_task_that_was_accepted() {
    if postgres_url().is_some() {
        on_small_disk("on_a_small_disk_of_postgres", 256);
    }
}
