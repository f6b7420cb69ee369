//! GitHub, and GitHub Enterprise.

use std::collections::HashMap;

use async_trait::async_trait;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::error::Result;
use crate::forge::{
    BODY_MAX_CHARS, CHECK_MAX_CHARS, CHECKS_MAX, Checks, Forge, Head, Look, Mergeable, Merging,
    NewPull, Pull, Standing, TITLE_MAX_CHARS, URL_MAX_CHARS, Verdict, cut, is_commit,
};

/// How many are asked for at once; more than that of one branch are not looked at.
const PAGE: &str = "100";

pub(crate) struct GitHub {
    client: Client,
}

#[derive(Deserialize)]
struct Reference {
    sha: String,
}

#[derive(Deserialize)]
struct Found {
    number: u64,
    html_url: String,
    state: String,
    #[serde(default)]
    draft: Option<bool>,
    head: Reference,
    title: String,
    body: Option<String>,
    merged_at: Option<String>,
    merge_commit_sha: Option<String>,
    #[serde(default)]
    mergeable: Option<bool>,
    #[serde(default)]
    mergeable_state: Option<String>,
}

#[derive(Deserialize)]
struct Runs {
    check_runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    name: String,
    status: String,
    conclusion: Option<String>,
}

#[derive(Deserialize)]
struct Statuses {
    statuses: Vec<Status>,
}

#[derive(Deserialize)]
struct Status {
    context: String,
    state: String,
}

#[derive(Deserialize)]
struct Review {
    user: Option<User>,
    state: String,
}

#[derive(Deserialize)]
struct User {
    id: u64,
}

impl Found {
    fn pull(&self) -> Pull {
        let standing = match (self.state.as_str(), &self.merged_at) {
            (_, Some(_)) => Standing::Merged,
            ("closed", None) => Standing::Closed,
            _ => Standing::Open,
        };
        // Before that it names a trial merge that no branch has.
        let merged = |commit: &String| standing == Standing::Merged && is_commit(commit);
        let merged_as = self.merge_commit_sha.clone().filter(merged);
        Pull {
            number: self.number,
            url: cut(&self.html_url, URL_MAX_CHARS).to_owned(),
            standing,
            draft: self.draft.unwrap_or(false),
            head: self.head.sha.clone(),
            title: self.title.clone(),
            body: self.body.clone().unwrap_or_default(),
            merged_as,
        }
    }

    fn mergeable(&self) -> Mergeable {
        let blocked = |why: &str| Mergeable::Blocked(why.to_owned());
        match (self.mergeable, self.mergeable_state.as_deref()) {
            (_, Some("dirty")) | (Some(false), None) => Mergeable::Conflict,
            (_, Some("blocked")) => blocked("a rule of the branch is not met yet"),
            (_, Some("behind")) => blocked("its branch is behind, and the rules want it not to be"),
            (_, Some("draft")) => blocked("it is a draft"),
            (Some(true), _) => Mergeable::Yes,
            (None | Some(false), _) => Mergeable::Unknown,
        }
    }
}

impl GitHub {
    pub(crate) const fn new(client: Client) -> Self {
        Self { client }
    }

    fn path(&self, tail: &str) -> String {
        format!("/repos/{}{tail}", self.client.place().repo)
    }

    async fn checks(&self, commit: &str) -> Result<Checks> {
        let query = [("per_page", PAGE), ("filter", "latest")];
        let path = self.path(&format!("/commits/{commit}/check-runs"));
        let runs: Runs = self.client.get((path, &query), "checks").await?;
        let path = self.path(&format!("/commits/{commit}/status"));
        let statuses: Statuses = self.client.get((path, &query[..1]), "statuses").await?;
        let fine = ["success", "neutral", "skipped"];
        let (mut pending, mut failed) = (false, Vec::new());
        for run in &runs.check_runs {
            match run.conclusion.as_deref().filter(|_| run.status == "completed") {
                None => pending = true,
                Some(ended) if fine.contains(&ended) => {}
                Some(_) => failed.push(cut(&run.name, CHECK_MAX_CHARS).to_owned()),
            }
        }
        for status in &statuses.statuses {
            match status.state.as_str() {
                "pending" => pending = true,
                "success" => {}
                _ => failed.push(cut(&status.context, CHECK_MAX_CHARS).to_owned()),
            }
        }
        failed.truncate(CHECKS_MAX);
        let none = runs.check_runs.is_empty() && statuses.statuses.is_empty();
        Ok(match (failed.is_empty(), pending, none) {
            (false, ..) => Checks::Failed(failed),
            (true, true, _) => Checks::Pending,
            (true, false, true) => Checks::None,
            (true, false, false) => Checks::Passed,
        })
    }

    async fn verdict(&self, number: u64) -> Result<Verdict> {
        let path = self.path(&format!("/pulls/{number}/reviews"));
        let all: Vec<Review> = self.client.get((path, &[("per_page", PAGE)]), "reviews").await?;
        // What somebody said last counts; a comment takes nothing back.
        let mut last: HashMap<u64, &str> = HashMap::new();
        for review in &all {
            let counts =
                matches!(review.state.as_str(), "APPROVED" | "CHANGES_REQUESTED" | "DISMISSED");
            if let (Some(user), true) = (&review.user, counts) {
                last.insert(user.id, &review.state);
            }
        }
        Ok(if last.values().any(|said| *said == "CHANGES_REQUESTED") {
            Verdict::ChangesRequested
        } else if last.values().any(|said| *said == "APPROVED") {
            Verdict::Approved
        } else {
            Verdict::None
        })
    }
}

#[async_trait]
impl Forge for GitHub {
    async fn find(&self, Head { branch, base }: Head<'_>) -> Result<Vec<Pull>> {
        let head = format!("{}:{branch}", self.client.place().owner());
        let query = [
            ("state", "all"),
            ("head", head.as_str()),
            ("base", base),
            ("sort", "created"),
            ("direction", "desc"),
            ("per_page", PAGE),
        ];
        let found: Vec<Found> =
            self.client.get((self.path("/pulls"), &query), "pull requests").await?;
        Ok(found.iter().map(Found::pull).collect())
    }

    async fn open(&self, new: NewPull<'_>) -> Result<Pull> {
        let body = json!({
            "title": cut(new.title, TITLE_MAX_CHARS), "body": cut(new.body, BODY_MAX_CHARS),
            "head": new.head.branch, "base": new.head.base,
        });
        let found: Found =
            self.client.send((Method::POST, self.path("/pulls")), body, "pull requests").await?;
        Ok(found.pull())
    }

    async fn edit(&self, number: u64, title: &str, body: &str) -> Result<Pull> {
        let path = self.path(&format!("/pulls/{number}"));
        let body =
            json!({ "title": cut(title, TITLE_MAX_CHARS), "body": cut(body, BODY_MAX_CHARS) });
        let found: Found = self.client.send((Method::PATCH, path), body, &pull(number)).await?;
        Ok(found.pull())
    }

    async fn look(&self, number: u64) -> Result<Look> {
        let path = self.path(&format!("/pulls/{number}"));
        let found: Found = self.client.get((path, &[]), &pull(number)).await?;
        let pull = found.pull();
        let mergeable = found.mergeable();
        if pull.standing != Standing::Open {
            // Nobody asks any more.
            return Ok(Look { pull, mergeable, checks: Checks::None, verdict: Verdict::None });
        }
        if !is_commit(&pull.head) {
            return Err(self.client.garbled("its last commit is none".to_owned()));
        }
        let checks = self.checks(&pull.head).await?;
        let verdict = self.verdict(number).await?;
        Ok(Look { pull, mergeable, checks, verdict })
    }

    async fn comment(&self, number: u64, text: &str) -> Result<()> {
        let path = self.path(&format!("/issues/{number}/comments"));
        let body = json!({ "body": cut(text, BODY_MAX_CHARS) });
        self.client.send::<Value>((Method::POST, path), body, &pull(number)).await.map(drop)
    }

    async fn merge(&self, number: u64, merging: Merging<'_>) -> Result<()> {
        let path = self.path(&format!("/pulls/{number}/merge"));
        let mut body = json!({ "sha": merging.head, "merge_method": merging.how.as_str() });
        if merging.how != godel_model::JoinBy::Rebase {
            // Commits that are laid one by one keep their own words.
            body["commit_title"] = cut(merging.title, TITLE_MAX_CHARS).into();
            body["commit_message"] = cut(merging.body, BODY_MAX_CHARS).into();
        }
        self.client.send::<Value>((Method::PUT, path), body, &pull(number)).await.map(drop)
    }

    async fn close(&self, number: u64) -> Result<()> {
        let path = self.path(&format!("/pulls/{number}"));
        let body = json!({ "state": "closed" });
        self.client.send::<Value>((Method::PATCH, path), body, &pull(number)).await.map(drop)
    }
}

fn pull(number: u64) -> String {
    format!("pull request #{number}")
}
