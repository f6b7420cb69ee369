//! Backups by schedule, streamed, and restored.

use std::path::Path;
use std::time::Duration;

use godel_app::backup::{self, Schedule};
use godel_app::{Crew, Error, health};
use godel_decide::Health;
use godel_model::{Clock as _, Limits, Project};
use godel_store::{Config, Error as StoreError, Scope};
use godel_testkit::{Database, World, worlds};
use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use crate::stage::{app, call};

fn schedule(dir: &Path, keep: usize) -> Schedule {
    Schedule { dir: dir.join("backups"), every: SignedDuration::from_mins(5), keep }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn the_oldest_go_only_when_a_newer_one_is_there() {
    for world in worlds().await {
        let (app, dir) = (app(&world).await, tempfile::tempdir().unwrap());
        let (plan, running) = (schedule(dir.path(), 3), CancellationToken::new());
        for _ in 0..5 {
            backup::run_once(&app, &plan, &running).await.unwrap();
            world.clock.advance(SignedDuration::from_mins(5));
        }
        let kept = names(&plan.dir);
        assert_eq!(kept.len(), 3, "{}: {kept:?}", world.engine);
        assert_eq!(kept[2], "godel-20260115T105000.000Z.backup");
        // What is not a backup by schedule is none of its business.
        std::fs::write(plan.dir.join("godel-mine.backup"), "x").unwrap();
        std::fs::write(plan.dir.join("godel-20200101T000000.000Z.backup.part"), "x").unwrap();
        backup::run_once(&app, &plan, &running).await.unwrap();
        let kept = names(&plan.dir);
        assert_eq!(kept.len(), 4, "{kept:?}");
        assert!(kept.contains(&"godel-mine.backup".to_owned()));
        // One that fails removes nothing, and leaves nothing half.
        world.clock.advance(SignedDuration::from_mins(5));
        let stopped = CancellationToken::new();
        stopped.cancel();
        backup::run_once(&app, &plan, &stopped).await.unwrap_err();
        assert_eq!(names(&plan.dir), kept);
    }
}

#[tokio::test]
async fn a_schedule_runs_and_its_health_follows_it() {
    for world in worlds().await {
        let (app, dir, crew) = (app(&world).await, tempfile::tempdir().unwrap(), Crew::default());
        let plan = schedule(dir.path(), 3);
        let probed = |findings: health::Findings| {
            let probe = findings.probes.into_iter().find(|probe| probe.name == "backup");
            probe.map(|probe| (probe.verdict.health, probe.message.unwrap_or_default()))
        };
        assert!(probed(health::probe(&app, dir.path()).await).is_none(), "without a schedule");
        backup::start(&app, &crew, plan.clone());
        let made = async {
            while app.backups.numbers().unwrap().made == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), made).await.expect("the first comes at once");
        let (found, _) = probed(health::probe(&app, dir.path()).await).unwrap();
        assert_eq!(found, Health::Healthy);
        world.clock.advance(SignedDuration::from_mins(16));
        let (found, message) = probed(health::probe(&app, dir.path()).await).unwrap();
        assert_eq!(found, Health::Degraded);
        assert_eq!(message, "the newest backup is from 2026-01-15T10:30:00Z");
        // A file in the way of the directory: it fails, and says so.
        std::fs::remove_dir_all(&plan.dir).unwrap();
        std::fs::write(&plan.dir, "in the way").unwrap();
        backup::run_once(&app, &plan, &CancellationToken::new()).await.unwrap_err();
        let (_, message) = probed(health::probe(&app, dir.path()).await).unwrap();
        assert!(message.ends_with("; the last try failed: file_failed"), "{message}");
        assert_eq!(app.backups.numbers().unwrap().failed, 1);
        assert!(crew.stop(Duration::from_secs(10)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_of_the_server_gets_the_stream() {
    for world in worlds().await {
        let app = app(&world).await;
        let owner = call(&world);
        let mut other = owner.clone();
        std::sync::Arc::make_mut(&mut other.actor).home = false;
        let refused = backup::stream(&app, &other).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        let mut download = backup::stream(&app, &owner).await.unwrap();
        let mut bytes = Vec::new();
        while let Some(next) = download.next().await {
            bytes.extend(next.unwrap());
        }
        let contents = godel_store::backup::verify_blocking(bytes.as_slice()).unwrap();
        assert_eq!(contents.rows("tenant"), 1, "{}", world.engine);
        // Whoever leaves in the middle gives the place back.
        for _ in 0..5 {
            drop(backup::stream(&app, &owner).await.unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_does_not_add_up_is_not_put_in_place() {
    let world = World::on(Database::sqlite()).await;
    for kind in ["test:one", "test:two", "test:three"] {
        world.append(world.tenant, kind).await;
    }
    let name = "untold".parse().unwrap();
    let (id, now) = (godel_model::Mint::system().id(), world.clock.now());
    let untold = Project::new(id, name, String::new(), Limits::default(), now).unwrap();
    let write =
        world.store.write(Scope::Tenant(world.tenant), move |tx| tx.projects().insert(&untold));
    write.await.map_err(|error: StoreError| error).unwrap();
    let refused = refused(&world).await;
    assert!(matches!(refused, Error::Disagreement { .. }), "{refused:?}");
    // What is missing is noticed even before that.
    world.store.close().await;
    let path = world.store.directory().unwrap().join("godel.db");
    let broken = "DELETE FROM event WHERE seq = 2";
    rusqlite::Connection::open(path).unwrap().execute_batch(broken).unwrap();
    let refused = self::refused(&world).await;
    assert!(matches!(refused, Error::Store(StoreError::BackupDamaged(_))), "{refused:?}");
}

/// Backs a world up; why that cannot be restored. Nothing is left of the try.
async fn refused(world: &World) -> Error {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("broken.backup");
    let sink = std::fs::File::create(&file).unwrap();
    godel_store::backup::write(world.store.url(), world.clock.now(), sink).await.unwrap();
    let target = Database::sqlite();
    let config = Config::new(target.url());
    let refused = backup::restore(&config, &file, world.clock.clone(), false).await;
    let Database::Sqlite(folder) = &target else { panic!("not SQLite") };
    let left = names(folder.path());
    assert!(left.iter().all(|name| name.ends_with(".lock")), "{left:?}");
    refused.unwrap_err()
}
