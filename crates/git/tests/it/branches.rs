//! Branches are read from git's files, and that must say what git says.

use godel_git::Create;

use crate::world::{World, attempt, git, name};

/// What git itself says of a branch.
fn truth(world: &World, branch: &str) -> Option<String> {
    let wanted = format!("refs/heads/{branch}^{{commit}}");
    let asked = ["rev-parse", "--quiet", "--verify", &wanted];
    let output = attempt(&world.repo(), &asked);
    let said = String::from_utf8(output.stdout).unwrap();
    output.status.success().then(|| said.trim().to_owned())
}

#[test]
fn a_branch_is_where_git_says_however_it_is_kept() {
    let world = World::new();
    let (bench, repo) = (world.bench(), world.repo());
    let older = git(&repo, &["rev-parse", "HEAD~1"]);
    for branch in ["flat", "deep/one", "deep/two", "packed", "packed-and-moved", "packed-and-gone"]
    {
        git(&repo, &["branch", branch]);
    }
    git(&repo, &["tag", "-a", "-m", "so far", "v1"]);
    git(&repo, &["pack-refs", "--all"]);
    git(&repo, &["branch", "-f", "packed-and-moved", &older]);
    git(&repo, &["branch", "-D", "packed-and-gone"]);
    git(&repo, &["branch", "loose", &older]);
    git(&repo, &["symbolic-ref", "refs/heads/other-name", "refs/heads/loose"]);
    git(&repo, &["symbolic-ref", "refs/heads/dangling", "refs/heads/nowhere"]);
    // An empty directory is left where branches were.
    std::fs::create_dir_all(repo.join(".git/refs/heads/packed")).unwrap();
    let asked = [
        "flat",
        "deep/one",
        "deep/two",
        "deep",
        "packed",
        "packed/below",
        "packed-and-moved",
        "packed-and-gone",
        "loose",
        "loose/below",
        "other-name",
        "dangling",
        "nowhere",
        "ack",
    ];
    for branch in asked {
        assert_eq!(bench.head_of(branch).unwrap(), truth(&world, branch), "{branch}");
    }
    assert_eq!(truth(&world, "packed-and-moved"), Some(older.clone()));
    assert_eq!(truth(&world, "other-name"), Some(older));
}

#[test]
fn a_short_name_means_what_it_means_to_git() {
    let world = World::new();
    let (bench, repo) = (world.bench(), world.repo());
    let older = git(&repo, &["rev-parse", "HEAD~1"]);
    for branch in ["plain", "like-a-tag", "HEAD-like", "heads/odd", "packed"] {
        git(&repo, &["branch", branch, &older]);
    }
    git(&repo, &["tag", "like-a-tag", "HEAD"]);
    git(&repo, &["pack-refs", "--all"]);
    for (number, revision) in
        ["plain", "like-a-tag", "HEAD-like", "heads/odd", "packed", &older].into_iter().enumerate()
    {
        let id = format!("work-{number}");
        let wanted = Create { base: Some(revision.to_owned()), ..Create::default() };
        let record = bench.create(&name(&id), &wanted).unwrap();
        let commit = git(&repo, &["rev-parse", &format!("{revision}^{{commit}}")]);
        assert_eq!(record.base.commit, commit, "{revision}");
        let full = git(&repo, &["rev-parse", "--symbolic-full-name", revision]);
        assert_eq!(record.base.reference.unwrap_or_default(), full, "{revision}");
    }
}
