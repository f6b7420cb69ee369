//! A full disk: tasks are refused, none that was accepted is lost, and on it goes when there is room again.

use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use godel_testkit::Database;

use super::scene::{PATIENCE, Scene};

const VARIABLE: &str = "GODEL_TEST_FILL";

/// Writes until nothing more goes onto the disk.
fn fill(path: &std::path::Path) {
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    for size in [65_536, 4_096, 512] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
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
        let before = scene.shop.way.refused("disk_full");
        let start = Instant::now();
        while scene.shop.way.refused("disk_full") < before + 20 {
            // What a checkpoint gives back is filled as well.
            fill(&ballast);
            assert!(start.elapsed() < PATIENCE, "the disk does not get full");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(scene.servers[0].ended().is_none(), "the server ended");
        std::fs::remove_file(&ballast).unwrap();
    }
    scene.wait(300, 500).await;
    let (accepted, late) = scene.end().await;
    println!("filled twice, {accepted} tasks accepted, {late} answers came too late");
    assert!(accepted > 0);
}

#[test]
fn a_full_disk_costs_no_task_that_was_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::env::current_exe().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=24m tmpfs '{0}' && \
         TMPDIR='{0}' {VARIABLE}=1 exec '{1}' --exact queue::full_disk::on_a_small_disk --nocapture",
        folder.path().display(),
        own.display()
    );
    let alone = |script: &str| Command::new("unshare").args(["-rm", "sh", "-c", script]).output();
    // Some systems let nobody but root mount anything, not even in a namespace of its own.
    let probe = format!("mount -t tmpfs tmpfs '{}'", folder.path().display());
    if !alone(&probe).is_ok_and(|probe| probe.status.success()) {
        eprintln!("left out: this user may not mount a small disk");
        return;
    }
    let run = alone(&script).unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let cried = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("filled twice"), "{said}{cried}");
    println!("{said}");
}
