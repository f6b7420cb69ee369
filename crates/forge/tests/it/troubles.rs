//! What goes wrong, and what is said about it.

use std::time::Duration;

use godel_forge::{Error, Kind, NewPull};
use godel_model::Report as _;
use godel_smithy::{Fault, What};

use crate::yard::{HEAD, TOKEN, Yard};

fn fault(method: &'static str, end: &'static str, times: u32, what: What) -> Fault {
    Fault { method, end, times, what }
}

const NEW: NewPull<'static> = NewPull { head: HEAD, title: "t", body: "b" };

#[tokio::test]
async fn a_question_is_asked_again_and_a_wish_is_not() {
    let yard = Yard::open(Kind::GitHub);
    yard.work("thing.txt", "a thing\n");
    yard.smithy.fail(fault("GET", "/pulls", 2, What::Status(502, Vec::new())));
    assert_eq!(yard.forge.find(HEAD).await.unwrap(), []);
    assert_eq!(yard.statuses("GET"), [502, 502, 200]);
    yard.smithy.fail(fault("POST", "/pulls", 1, What::BreakAfter));
    let error = yard.forge.open(NEW).await.unwrap_err();
    assert!(matches!(error, Error::Away { .. }) && error.is_passing(), "{error}");
    assert_eq!(yard.statuses("POST").len(), 1, "whether it was done is found out by a question");
    assert_eq!(yard.forge.find(HEAD).await.unwrap().len(), 1);
    yard.all_is_described();
}

#[tokio::test]
async fn a_limit_is_kept_as_the_forge_says() {
    let yard = Yard::open(Kind::GitHub);
    yard.work("thing.txt", "a thing\n");
    let soon = vec![("retry-after", "1".to_owned())];
    yard.smithy.fail(fault("POST", "/pulls", 1, What::Status(429, soon)));
    yard.forge.open(NEW).await.unwrap();
    assert_eq!(yard.statuses("POST"), [429, 201]);
    let later = vec![("retry-after", "90".to_owned())];
    yard.smithy.fail(fault("GET", "/pulls", 1, What::Status(403, later)));
    let error = yard.forge.find(HEAD).await.unwrap_err();
    assert_eq!(error.after(), Some(Duration::from_secs(90)), "{error}");
    assert!(matches!(error, Error::Limited { .. }));
    assert_eq!(yard.statuses("GET"), [403], "it is not waited for in the middle of a request");
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    for (kind, repo) in [(Kind::GitHub, "acme/widgets"), (Kind::GitLab, "acme/tools/widgets")] {
        let yard = Yard::open(kind);
        let wrong = Yard::forge(&yard.smithy, kind, "an-older-token");
        let error = wrong.find(HEAD).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "127.0.0.1 does not accept the token in the secret \"127.0.0.1\""
        );
        assert!(error.hint().unwrap().ends_with("godel secret set 127.0.0.1"));
        let error = yard.forge.look(99).await.unwrap_err();
        assert!(
            matches!(error, Error::Missing { .. }) && error.to_string().contains(repo),
            "{error}"
        );
        // There is no such branch.
        let error = yard.forge.open(NEW).await.unwrap_err();
        let Error::Refused { said, .. } = &error else { panic!("{error}") };
        assert!(said.contains("head is not a branch") || said.contains("is invalid"), "{said}");
        for status in [403, 404, 422, 500] {
            yard.smithy.fail(fault("GET", "merge_requests", 9, What::Status(status, Vec::new())));
            yard.smithy.fail(fault("GET", "/pulls", 9, What::Status(status, Vec::new())));
            let error = yard.forge.find(HEAD).await.unwrap_err();
            assert!(!format!("{error} {error:?}").contains(TOKEN));
            assert!(error.hint().is_some());
        }
        yard.all_is_described();
    }
}

#[tokio::test]
async fn no_other_host_sees_the_token() {
    let yard = Yard::open(Kind::GitLab);
    let other = Yard::open(Kind::GitLab);
    let away =
        vec![("location", format!("{}/api/v4/projects/1/merge_requests", other.smithy.url()))];
    yard.smithy.fail(fault("GET", "/merge_requests", 1, What::Status(302, away)));
    let error = yard.forge.find(HEAD).await.unwrap_err();
    assert!(matches!(error, Error::Moved { .. }), "{error}");
    assert_eq!(other.smithy.asked(), [], "nothing at all was sent there");
    let here = format!(
        "{}/api/v4/projects/acme%2Ftools%2Fwidgets/merge_requests?state=all",
        yard.smithy.url()
    );
    let here = vec![("location", here)];
    yard.smithy.fail(fault("GET", "/merge_requests", 1, What::Status(301, here.clone())));
    assert_eq!(yard.forge.find(HEAD).await.unwrap(), [], "the same host may send on");
    yard.work("thing.txt", "a thing\n");
    yard.smithy.fail(fault("POST", "/merge_requests", 1, What::Status(301, here)));
    let error = yard.forge.open(NEW).await.unwrap_err();
    assert!(matches!(error, Error::Moved { .. }), "a wish would become a question: {error}");
}

#[tokio::test]
async fn an_answer_has_a_limit_and_must_be_understood() {
    let yard = Yard::open(Kind::GitHub);
    yard.smithy.fail(fault("GET", "/pulls", 1, What::Huge(5 << 20)));
    let error = yard.forge.find(HEAD).await.unwrap_err();
    assert!(error.to_string().contains("more than 4 MiB"), "{error}");
    for text in ["<html>", "{}", "[{\"number\":\"x\"}]", ""] {
        yard.smithy.fail(fault("GET", "/pulls", 1, What::Text(text)));
        let error = yard.forge.find(HEAD).await.unwrap_err();
        assert!(matches!(error, Error::Garbled { .. }), "{text}: {error}");
    }
    yard.smithy.set_away(true);
    let error = yard.forge.find(HEAD).await.unwrap_err();
    assert!(matches!(error, Error::Away { .. }), "{error}");
    assert_eq!(error.code(), godel_model::code::FORGE_UNAVAILABLE);
}
