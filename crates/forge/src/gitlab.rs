//! GitLab, wherever it runs.

use async_trait::async_trait;
use godel_model::JoinBy;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::error::Result;
use crate::forge::{
    BODY_MAX_CHARS, Checks, Forge, Head, Look, Mergeable, Merging, NewPull, Pull, Standing,
    TITLE_MAX_CHARS, URL_MAX_CHARS, Verdict, cut, is_commit,
};

/// How many are asked for at once; more than that of one branch are not looked at.
const PAGE: &str = "100";

pub(crate) struct GitLab {
    client: Client,
}

#[derive(Deserialize)]
struct Found {
    iid: u64,
    web_url: String,
    state: String,
    #[serde(default)]
    draft: bool,
    sha: Option<String>,
    title: String,
    description: Option<String>,
    merge_commit_sha: Option<String>,
    squash_commit_sha: Option<String>,
    #[serde(default)]
    has_conflicts: bool,
    #[serde(default)]
    detailed_merge_status: Option<String>,
    #[serde(default)]
    head_pipeline: Option<Pipeline>,
}

#[derive(Deserialize)]
struct Pipeline {
    id: u64,
    sha: String,
    status: String,
}

#[derive(Deserialize)]
struct Approvals {
    #[serde(default)]
    approved_by: Vec<Value>,
}

impl Found {
    fn pull(&self) -> Pull {
        let standing = match self.state.as_str() {
            "merged" => Standing::Merged,
            "closed" => Standing::Closed,
            _ => Standing::Open,
        };
        let head = self.sha.clone().unwrap_or_default();
        // A fast-forward makes no commit of its own: then the branch has the last one of the work.
        let merged = self.merge_commit_sha.clone().or_else(|| self.squash_commit_sha.clone());
        let merged = merged.unwrap_or_else(|| head.clone());
        Pull {
            number: self.iid,
            url: cut(&self.web_url, URL_MAX_CHARS).to_owned(),
            standing,
            draft: self.draft,
            head,
            title: self.title.clone(),
            body: self.description.clone().unwrap_or_default(),
            merged_as: (standing == Standing::Merged && is_commit(&merged)).then_some(merged),
        }
    }

    fn mergeable(&self) -> Mergeable {
        if self.has_conflicts {
            return Mergeable::Conflict;
        }
        match self.detailed_merge_status.as_deref() {
            Some("mergeable") => Mergeable::Yes,
            Some("conflict" | "broken_status") => Mergeable::Conflict,
            None | Some("checking" | "unchecked" | "preparing" | "approvals_syncing") => {
                Mergeable::Unknown
            }
            Some(why) => Mergeable::Blocked(cut(&why.replace('_', " "), 100).to_owned()),
        }
    }

    fn checks(&self) -> Checks {
        // A pipeline of an older commit says nothing about this one.
        let own = |pipeline: &&Pipeline| Some(&pipeline.sha) == self.sha.as_ref();
        let Some(pipeline) = self.head_pipeline.as_ref().filter(own) else { return Checks::None };
        match pipeline.status.as_str() {
            "success" | "skipped" => Checks::Passed,
            "failed" | "canceled" | "canceling" => {
                Checks::Failed(vec![format!("pipeline {}", pipeline.id)])
            }
            _ => Checks::Pending,
        }
    }
}

impl GitLab {
    pub(crate) const fn new(client: Client) -> Self {
        Self { client }
    }

    fn path(&self, tail: &str) -> String {
        let id = utf8_percent_encode(&self.client.place().repo, NON_ALPHANUMERIC);
        format!("/projects/{id}/merge_requests{tail}")
    }

    async fn verdict(&self, found: &Found) -> Result<Verdict> {
        if found.detailed_merge_status.as_deref() == Some("requested_changes") {
            return Ok(Verdict::ChangesRequested);
        }
        let path = self.path(&format!("/{}/approvals", found.iid));
        let said: Approvals = self.client.get((path, &[]), &request(found.iid)).await?;
        Ok(if said.approved_by.is_empty() { Verdict::None } else { Verdict::Approved })
    }

    async fn change(&self, number: u64, body: Value) -> Result<Found> {
        let path = self.path(&format!("/{number}"));
        self.client.send((Method::PUT, path), body, &request(number)).await
    }
}

#[async_trait]
impl Forge for GitLab {
    async fn find(&self, Head { branch, base }: Head<'_>) -> Result<Vec<Pull>> {
        let query = [
            ("state", "all"),
            ("source_branch", branch),
            ("target_branch", base),
            ("order_by", "created_at"),
            ("sort", "desc"),
            ("per_page", PAGE),
        ];
        let found: Vec<Found> = self.client.get((self.path(""), &query), "merge requests").await?;
        Ok(found.iter().map(Found::pull).collect())
    }

    async fn open(&self, new: NewPull<'_>) -> Result<Pull> {
        let body = json!({
            "title": cut(new.title, TITLE_MAX_CHARS), "description": cut(new.body, BODY_MAX_CHARS),
            "source_branch": new.head.branch, "target_branch": new.head.base,
        });
        let found: Found =
            self.client.send((Method::POST, self.path("")), body, "merge requests").await?;
        Ok(found.pull())
    }

    async fn edit(&self, number: u64, title: &str, body: &str) -> Result<Pull> {
        let body = json!({
            "title": cut(title, TITLE_MAX_CHARS), "description": cut(body, BODY_MAX_CHARS),
        });
        Ok(self.change(number, body).await?.pull())
    }

    async fn look(&self, number: u64) -> Result<Look> {
        let path = self.path(&format!("/{number}"));
        let found: Found = self.client.get((path, &[]), &request(number)).await?;
        let (pull, mergeable, checks) = (found.pull(), found.mergeable(), found.checks());
        if pull.standing != Standing::Open {
            // Nobody asks any more.
            return Ok(Look { pull, mergeable, checks, verdict: Verdict::None });
        }
        let verdict = self.verdict(&found).await?;
        Ok(Look { pull, mergeable, checks, verdict })
    }

    async fn comment(&self, number: u64, text: &str) -> Result<()> {
        let path = self.path(&format!("/{number}/notes"));
        let body = json!({ "body": cut(text, BODY_MAX_CHARS) });
        self.client.send::<Value>((Method::POST, path), body, &request(number)).await.map(drop)
    }

    async fn merge(&self, number: u64, merging: Merging<'_>) -> Result<()> {
        let path = self.path(&format!("/{number}/merge"));
        let words = format!("{}\n\n{}", cut(merging.title, TITLE_MAX_CHARS), merging.body);
        let words = cut(&words, BODY_MAX_CHARS);
        let body = match merging.how {
            JoinBy::Squash => {
                json!({ "sha": merging.head, "squash": true, "squash_commit_message": words })
            }
            JoinBy::Merge | JoinBy::Rebase => {
                json!({ "sha": merging.head, "merge_commit_message": words })
            }
        };
        self.client.send::<Value>((Method::PUT, path), body, &request(number)).await.map(drop)
    }

    async fn close(&self, number: u64) -> Result<()> {
        self.change(number, json!({ "state_event": "close" })).await.map(drop)
    }
}

fn request(number: u64) -> String {
    format!("merge request !{number}")
}
