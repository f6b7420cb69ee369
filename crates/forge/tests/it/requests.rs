//! What both forges do alike.

use godel_forge::{Checks, Error, Kind, Mergeable, Merging, NewPull, Standing, Verdict};
use godel_model::JoinBy;

use crate::yard::{HEAD, Yard, git};

const BOTH: [Kind; 2] = [Kind::GitHub, Kind::GitLab];

fn new() -> NewPull<'static> {
    NewPull { head: HEAD, title: "Add a thing (w-1)", body: "It adds a thing.\n\nBead: w-1" }
}

#[tokio::test]
async fn a_pull_request_is_opened_once_changed_commented_and_closed() {
    for kind in BOTH {
        let yard = Yard::open(kind);
        let head = yard.work("thing.txt", "a thing\n");
        assert_eq!(yard.forge.find(HEAD).await.unwrap(), []);
        let pull = yard.forge.open(new()).await.unwrap();
        assert_eq!(
            (pull.standing, &pull.head, pull.merged_as.as_ref()),
            (Standing::Open, &head, None)
        );
        assert_eq!((pull.title.as_str(), pull.draft), ("Add a thing (w-1)", false));
        assert!(
            pull.url.starts_with(&yard.smithy.url()) && pull.url.ends_with('7'),
            "{}",
            pull.url
        );
        assert_eq!(yard.forge.find(HEAD).await.unwrap(), std::slice::from_ref(&pull));
        let twice = yard.forge.open(new()).await.unwrap_err();
        assert!(
            matches!(&twice, Error::Refused { said, .. } if said.contains("already exists")),
            "{twice}"
        );
        let edited = yard.forge.edit(pull.number, "Another title", "more").await.unwrap();
        assert_eq!((edited.title.as_str(), edited.body.as_str()), ("Another title", "more"));
        yard.forge.comment(pull.number, "looked at").await.unwrap();
        assert_eq!(yard.smithy.comments(pull.number), ["looked at"]);
        yard.forge.close(pull.number).await.unwrap();
        let look = yard.forge.look(pull.number).await.unwrap();
        assert_eq!((look.pull.standing, look.pull.merged_as), (Standing::Closed, None));
        assert_eq!(yard.smithy.pulls().len(), 1);
        yard.all_is_described();
    }
}

#[tokio::test]
async fn what_checks_and_people_say_is_read() {
    for kind in BOTH {
        let yard = Yard::open(kind);
        yard.work("thing.txt", "a thing\n");
        let number = yard.forge.open(new()).await.unwrap().number;
        let look = yard.forge.look(number).await.unwrap();
        assert_eq!((look.checks, look.verdict), (Checks::None, Verdict::None));
        assert_eq!(look.mergeable, Mergeable::Yes);
        yard.smithy.checks(&[("build", "success"), ("lint", "pending")]);
        assert_eq!(yard.forge.look(number).await.unwrap().checks, Checks::Pending);
        yard.smithy.checks(&[("build", "failure"), ("lint", "pending")]);
        let Checks::Failed(named) = yard.forge.look(number).await.unwrap().checks else {
            panic!("a check failed");
        };
        assert_eq!(named, [if kind == Kind::GitHub { "build" } else { "pipeline 31" }]);
        yard.smithy.checks(&[("build", "success")]);
        yard.smithy.review(number, 5, "APPROVED");
        let look = yard.forge.look(number).await.unwrap();
        assert_eq!((look.checks, look.verdict), (Checks::Passed, Verdict::Approved));
        yard.smithy.review(number, 6, "CHANGES_REQUESTED");
        assert_eq!(yard.forge.look(number).await.unwrap().verdict, Verdict::ChangesRequested);
        yard.all_is_described();
    }
}

#[tokio::test]
async fn a_merge_is_of_the_commit_that_was_looked_at() {
    for (kind, how) in [
        (Kind::GitHub, JoinBy::Merge),
        (Kind::GitHub, JoinBy::Squash),
        (Kind::GitHub, JoinBy::Rebase),
        (Kind::GitLab, JoinBy::Merge),
        (Kind::GitLab, JoinBy::Squash),
    ] {
        let yard = Yard::open(kind);
        let old = yard.work("thing.txt", "a thing\n");
        let number = yard.forge.open(new()).await.unwrap().number;
        let head = yard.work("more.txt", "more\n");
        let merging = |head| Merging { how, head, title: "Add a thing (w-1)", body: "Bead: w-1" };
        let refused = yard.forge.merge(number, merging(&old)).await.unwrap_err();
        assert!(matches!(refused, Error::Refused { .. }), "{refused}");
        yard.forge.merge(number, merging(&head)).await.unwrap();
        let pull = yard.forge.look(number).await.unwrap().pull;
        assert_eq!((pull.standing, pull.head.as_str()), (Standing::Merged, head.as_str()));
        let main = git(&yard.smithy.git(), &["rev-parse", "main"]);
        assert_eq!(pull.merged_as, Some(main.clone()), "{how:?} on {kind:?}");
        if how != JoinBy::Rebase {
            let words = git(&yard.smithy.git(), &["log", "-1", "--format=%B", &main]);
            assert!(
                words.starts_with("Add a thing (w-1)") && words.ends_with("Bead: w-1"),
                "{words}"
            );
        }
        let parents = git(&yard.smithy.git(), &["log", "-1", "--format=%P", &main]);
        assert_eq!(parents.split(' ').count(), if how == JoinBy::Merge { 2 } else { 1 });
        yard.all_is_described();
    }
}

#[tokio::test]
async fn a_conflict_is_told_and_not_merged() {
    for kind in BOTH {
        let yard = Yard::open(kind);
        let head = yard.work("first.txt", "mine\n");
        let number = yard.forge.open(new()).await.unwrap().number;
        yard.commit("main", "first.txt", "yours\n");
        yard.push("main");
        assert_eq!(yard.forge.look(number).await.unwrap().mergeable, Mergeable::Conflict);
        let merging = Merging { how: JoinBy::Merge, head: &head, title: "t", body: "b" };
        assert!(yard.forge.merge(number, merging).await.is_err());
        yard.all_is_described();
    }
}

#[tokio::test]
async fn what_did_not_change_is_not_sent_again() {
    for kind in BOTH {
        let yard = Yard::open(kind);
        yard.work("thing.txt", "a thing\n");
        let number = yard.forge.open(new()).await.unwrap().number;
        let first = yard.forge.look(number).await.unwrap();
        let before = yard.statuses("GET").len();
        assert_eq!(yard.forge.look(number).await.unwrap(), first);
        let again = yard.statuses("GET").split_off(before);
        assert!(!again.is_empty() && again.iter().all(|status| *status == 304), "{again:?}");
        let head = yard.work("more.txt", "more\n");
        assert_eq!(yard.forge.look(number).await.unwrap().pull.head, head);
    }
}
