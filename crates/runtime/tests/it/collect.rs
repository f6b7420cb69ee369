//! What is committed in a sandbox comes out checked, or not at all.

use godel_model::{Report as _, code};
use godel_runtime::{Happening, Identity, Profile, RuntimeProvider as _};

use crate::world::{World, git};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_moves_the_branch_and_nothing_else() {
    let world = World::new();
    let before = git(&world.repo(), &["rev-parse", "main"]);
    let config = std::fs::read_to_string(world.repo().join(".git/config")).unwrap();
    let at = world.spawn("a", Profile::Workspace).await.id;
    let nothing = world.provider.collect(at).await.unwrap();
    assert_eq!((nothing.commits, nothing.commit.as_str(), nothing.dirty), (0, &*before, false));
    world.works(at, "test -z \"$(git symbolic-ref -q HEAD)\"").await;
    world.works(at, "echo three > c.txt && git add c.txt && git commit -qm third").await;
    world.works(at, "echo four > d.txt && git add d.txt && git commit -qm fourth").await;
    world.works(at, "echo more >> a.txt && git status --short && git log --oneline main").await;
    let inside = world.works(at, "git rev-parse HEAD").await;
    // Nothing is outside yet, and the branch is where it was.
    assert_eq!(git(&world.repo(), &["rev-parse", "bead/a"]), before);
    let collected = world.provider.collect(at).await.unwrap();
    assert_eq!((collected.commits, collected.dirty), (2, true));
    assert_eq!((&collected.commit, &collected.before), (&inside, &before));
    assert_eq!(git(&world.repo(), &["rev-parse", "bead/a"]), inside);
    assert_eq!(git(&world.repo(), &["show", "bead/a:d.txt"]), "four");
    assert_eq!(git(&world.repo(), &["log", "-1", "--format=%an", "bead/a"]), "Ann");
    git(&world.repo(), &["fsck", "--strict"]);
    // The real worktree stands on the branch and has what was not committed.
    let tree = world.tree("a");
    assert_eq!(git(&tree, &["symbolic-ref", "HEAD"]), "refs/heads/bead/a");
    assert_eq!(git(&tree, &["status", "--porcelain"]), " M a.txt");
    assert_eq!(git(&world.repo(), &["rev-parse", "main"]), before);
    assert_eq!(std::fs::read_to_string(world.repo().join(".git/config")).unwrap(), config);
    world.hears(|what| *what == Happening::Collected { commit: inside.clone() }).await;
    // Work goes on from there, also after amending.
    world.works(at, "git commit -qam fifth && git commit -q --amend -m 'fifth again'").await;
    assert_eq!(world.provider.collect(at).await.unwrap().commits, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_between_branch_and_index_leaves_nothing_that_seems_changed() {
    let world = World::new();
    let before = git(&world.repo(), &["rev-parse", "main"]);
    let at = world.spawn("a", Profile::Workspace).await.id;
    world.works(at, "echo three > c.txt && git add c.txt && git commit -qm third").await;
    let commit = world.provider.collect(at).await.unwrap().commit;
    // As it is after such a kill: the branch was moved, and the index was not.
    let tree = world.tree("a");
    git(&tree, &["read-tree", &before]);
    assert_ne!(git(&tree, &["status", "--porcelain"]), "");
    assert_eq!(world.provider.collect(at).await.unwrap().commit, commit);
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_is_taken_over_while_git_makes_another_worktree() {
    let world = World::new();
    let at = world.spawn("a", Profile::Workspace).await.id;
    world.works(at, "echo three > c.txt && git add c.txt && git commit -qm third").await;
    // `git worktree add` begins with a HEAD that names no object.
    let another = world.repo().join(".git/worktrees/another");
    std::fs::create_dir_all(&another).unwrap();
    std::fs::write(another.join("HEAD"), format!("{}\n", "0".repeat(40))).unwrap();
    std::fs::write(another.join("commondir"), "../..\n").unwrap();
    std::fs::write(another.join("gitdir"), "/nowhere/another/.git\n").unwrap();
    std::fs::write(another.join("locked"), "initializing").unwrap();
    assert_eq!(world.provider.collect(at).await.unwrap().commits, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_profile_that_writes_can_commit() {
    for profile in [Profile::Workspace, Profile::WorkspaceNet, Profile::None] {
        let world = World::new();
        let mut spec = world.spec("a", profile);
        let who =
            Identity { name: "Bob \"the\" Bot".to_owned(), email: "bob@example.com".to_owned() };
        spec.identity = Some(who);
        let at = world.provider.spawn(&spec).await.unwrap().id;
        assert_eq!(world.provider.collect(at).await.unwrap().commits, 0, "{profile}");
        world.works(at, "echo x > x && git add x && git commit -qm x && git gc -q --auto").await;
        let collected = world.provider.collect(at).await.unwrap();
        assert_eq!((collected.commits, collected.dirty), (1, false), "{profile}");
        let author = git(&world.repo(), &["log", "-1", "--format=%an <%ae>", "bead/a"]);
        assert_eq!(author, "Bob \"the\" Bot <bob@example.com>");
        assert_eq!(git(&world.tree("a"), &["status", "--porcelain"]), "", "{profile}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_are_kept_when_a_sandbox_ends() {
    let world = World::new();
    let at = world.spawn("a", Profile::Workspace).await.id;
    world.works(at, "echo x > x && git add x && git commit -qm x").await;
    let inside = world.works(at, "git rev-parse HEAD").await;
    world.provider.terminate(at, std::time::Duration::ZERO).await.unwrap();
    assert_eq!(git(&world.repo(), &["rev-parse", "bead/a"]), inside);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_committed_after_the_last_look_is_kept_when_a_sandbox_ends() {
    let world = World::new();
    let more = [
        "echo y > y && git add y && git commit -qm y",
        "git commit -q --amend -m other",
        "git switch -qc own && echo y > y && git add y && git commit -qm y",
        // What names no commit by itself is looked at by git, and not by its file.
        "git commit -q --allow-empty -m y && git pack-refs --all && git switch -q --detach HEAD",
    ];
    for (number, line) in more.iter().enumerate() {
        let bead = format!("late-{number}");
        let at = world.spawn(&bead, Profile::Workspace).await.id;
        world.works(at, "echo x > x && git add x && git commit -qm x").await;
        let first = world.provider.collect(at).await.unwrap().commit;
        world.works(at, line).await;
        let last = world.works(at, "git rev-parse HEAD").await;
        assert_ne!(first, last, "{line}");
        world.provider.terminate(at, std::time::Duration::ZERO).await.unwrap();
        assert_eq!(git(&world.repo(), &["rev-parse", &format!("bead/{bead}")]), last, "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_is_wrong_is_refused() {
    let blob = "B=$(echo bad | git hash-object -w --stdin)";
    let attempts = [
        // A history of its own.
        "git checkout -q --orphan new && git commit -qm orphan".to_owned(),
        // A git directory in the tree, also in disguise.
        format!(
            "{blob}; T=$(printf '100644 blob %s\\tconfig\\n' $B | git mktree); \
                 R=$( (git ls-tree HEAD; printf '040000 tree %s\\t.GIT\\n' $T) | git mktree); \
                 git update-ref HEAD $(git commit-tree -p HEAD -m x $R)"
        ),
        // A link that leads out.
        "ln -s /etc/passwd out && git add out && git commit -qm link".to_owned(),
        "ln -s ../../x out && git add out && git commit -qm link".to_owned(),
        // A repository in the repository.
        "C=$(git rev-parse HEAD); git update-index --add --cacheinfo 160000,$C,sub && \
         git commit -qm sub"
            .to_owned(),
        // A commit whose files are not there.
        format!(
            "{blob}; R=$(printf '100644 blob %s\\tx\\n' $B | git mktree); \
                 git update-ref HEAD $(git commit-tree -p HEAD -m x $R); \
                 rm -f /run/godel/git/objects/$(echo $B | sed 's|^..|&/|')"
        ),
    ];
    let world = World::new();
    for (number, attempt) in attempts.iter().enumerate() {
        let bead = format!("bead-{number}");
        let at = world.spawn(&bead, Profile::Workspace).await.id;
        let branch = format!("bead/{bead}");
        let before = git(&world.repo(), &["rev-parse", &branch]);
        world.works(at, attempt).await;
        let error = world.provider.collect(at).await.unwrap_err();
        let known = [code::COMMIT_REFUSED, code::GIT_FAILED];
        assert!(known.contains(&error.code()), "{attempt}: {error}");
        assert_eq!(git(&world.repo(), &["rev-parse", &branch]), before, "{attempt}");
        let leftovers = std::fs::read_dir(world.repo().join(".git/objects")).unwrap();
        let leftovers = leftovers
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("tmp_objdir"));
        assert_eq!(leftovers.count(), 0, "{attempt}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_branch_that_somebody_else_moved_is_left_alone_until_the_next_look() {
    let world = World::new();
    let at = world.spawn("a", Profile::Workspace).await.id;
    world.works(at, "echo x > x && git add x && git commit -qm x").await;
    // The repository has moved on meanwhile; the sandbox's work still comes out.
    std::fs::write(world.repo().join("a.txt"), "changed\n").unwrap();
    git(&world.repo(), &["commit", "-qam", "on main"]);
    git(&world.repo(), &["gc", "-q", "--prune=now"]);
    assert_eq!(world.provider.collect(at).await.unwrap().commits, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sandbox_sees_no_password_of_the_repository() {
    let world = World::new();
    for profile in crate::world::WALLED {
        let at = world.spawn(profile.as_str().trim_end_matches("+net"), profile).await.id;
        let all = world.works(at, "git config --list; cat /run/godel/git/config; env").await;
        assert!(!all.contains("hunter2"), "{all}");
        world.provider.terminate(at, std::time::Duration::ZERO).await.unwrap();
        git(
            &world.repo(),
            &[
                "worktree",
                "remove",
                "--force",
                world.tree(profile.as_str().trim_end_matches("+net")).to_str().unwrap(),
            ],
        );
        git(
            &world.repo(),
            &["branch", "-qD", &format!("bead/{}", profile.as_str().trim_end_matches("+net"))],
        );
    }
}
