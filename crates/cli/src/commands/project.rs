//! `godel project`: what a tenant works on.

use std::time::Duration;

use godel_api::{
    Client, ClientError, MakeRepository, NewProject, Project, ProjectLimits, ProjectPatch,
    RepositoryJob, RepositoryState,
};
use godel_args::project::{LimitFlags, OriginFlags, Project as Asked};
use godel_console::lookup::{self, NOTHING};
use godel_console::measure::{bytes, dollars};
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Invalid, ProjectName, Report as _, code};
use reqwest::Method;
use serde_json::json;

/// How often it is looked how far a repository is.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Create { name, description, origin, limits } => {
            create(context, (name, description), &origin, &limits).await
        }
        Asked::List => list(context).await,
        Asked::Show { name } => {
            let found = locate::server(context).await?;
            present(context, lookup::project(&found.client, &name).await?)
        }
        Asked::Update { name, new_name, description, limits } => {
            update(context, &name, (new_name, description), &limits).await
        }
        Asked::Delete { name, yes } => delete(context, &name, yes).await,
    }
}

async fn create(
    context: &Context,
    (name, description): (String, Option<String>),
    origin: &OriginFlags,
    limits: &LimitFlags,
) -> Result<Exit> {
    name.parse::<ProjectName>()?;
    let found = locate::server(context).await?;
    let made = match origin.wanted() {
        Some((clone, folder)) => {
            is_free(&found.client, &name).await?;
            Some(make(context, &found.client, MakeRepository { clone, folder }).await?)
        }
        None => None,
    };
    let given = limits.repository().filter(|path| !path.is_empty());
    let (repository, limits) = (made.clone().or(given), limits.over(&ProjectLimits::default()));
    let new = NewProject { name, description, limits: Some(limits), repository };
    let project: Result<Project, ClientError> =
        found.client.call(Method::POST, "/api/v1/projects", Some(&new)).await;
    if let (Err(_), Some(folder), false) = (&project, made, context.output.is_json()) {
        let next = "give it to a project with --repository";
        context.output.note(format_args!("note: the repository is in {folder}; {next}"));
    }
    present(context, project?)
}

/// Refuses a name that is taken, before anything is made for it.
async fn is_free(client: &Client, name: &str) -> Result<()> {
    match lookup::project(client, name).await {
        Ok(_) => {
            let why = format!("another project is called \"{name}\"");
            Err(Invalid::new(code::PROJECT_NAME_TAKEN, why).with_hint("choose another name").into())
        }
        Err(error) if error.code() == code::PROJECT_NOT_FOUND => Ok(()),
        Err(error) => Err(error),
    }
}

/// Lets the server make a repository, waits until it is there, and returns its folder.
async fn make(context: &Context, client: &Client, asked: MakeRepository) -> Result<String> {
    let begun = client.call(Method::POST, "/api/v1/repositories", Some(&asked)).await;
    let mut job: RepositoryJob = begun?;
    let path = format!("/api/v1/repositories/{}", job.id);
    let mut told = String::new();
    loop {
        match job.state {
            RepositoryState::Ready => return Ok(job.folder),
            RepositoryState::Failed => {
                let why = job.why.unwrap_or_default();
                let why = format!("{} is no repository: {why}", job.folder);
                return Err(Invalid::new(code::GIT_FAILED, why).into());
            }
            RepositoryState::Working => {}
        }
        if job.progress != told {
            told.clone_from(&job.progress);
            context.output.remark(plain(&told));
        }
        tokio::time::sleep(LOOK_EVERY).await;
        job = client.call(Method::GET, &path, NOTHING).await?;
    }
}

async fn update(
    context: &Context,
    name: &str,
    (new_name, description): (Option<String>, Option<String>),
    limits: &LimitFlags,
) -> Result<Exit> {
    new_name.as_deref().map(str::parse::<ProjectName>).transpose()?;
    let found = locate::server(context).await?;
    let before = lookup::project(&found.client, name).await?;
    let repository = limits.repository();
    let limits = limits.over(&before.limits);
    let limits = (limits != before.limits).then_some(limits);
    let same = new_name.is_none() && description.is_none() && limits.is_none();
    if same && repository.is_none() {
        context.output.note("note: nothing was changed");
        return present(context, before);
    }
    let patch = ProjectPatch { name: new_name, description, limits, repository };
    let path = format!("/api/v1/projects/{}", before.id);
    // Limits are sent as a whole, so a change in between must not be lost.
    present(context, found.client.change(&path, before.version, &patch).await?)
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let projects: Vec<Project> =
        lookup::all(context, &found.client, "/api/v1/projects", None).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": projects }))?;
        return Ok(Exit::Done);
    }
    let rows = projects.into_iter().map(|project| {
        let limits = limit_rows(&project.limits);
        let limits = limits.into_iter().map(|[name, value]| format!("{name} {value}"));
        let limits: Vec<String> = limits.collect();
        [project.name, limits.join(", "), project.description]
    });
    context.output.table(["NAME", "LIMITS", "DESCRIPTION"], rows.collect())?;
    Ok(Exit::Done)
}

/// Names the limits that are set.
fn limit_rows(limits: &ProjectLimits) -> Vec<[String; 2]> {
    let models = (!limits.models.is_empty()).then(|| limits.models.join(","));
    let cores = |millis: u32| format!("{} cores", f64::from(millis) / 1_000.0);
    [
        ("budget", limits.monthly_budget_micros.map(|micros| format!("{}/month", dollars(micros)))),
        ("rate", limits.requests_per_minute.map(|count| format!("{count}/min"))),
        ("agents", limits.max_agents.map(|count| count.to_string())),
        ("cpu", limits.cpu_millis.map(cores)),
        ("memory", limits.memory_bytes.map(bytes)),
        ("models", models),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| [name.to_owned(), value]))
    .collect()
}

fn present(context: &Context, project: Project) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(&project)?;
        return Ok(Exit::Done);
    }
    let mut rows = vec![
        ["name".to_owned(), project.name],
        ["id".to_owned(), project.id.to_string()],
        ["description".to_owned(), project.description],
    ];
    rows.extend(project.repository.map(|path| ["repository".to_owned(), path]));
    rows.extend(limit_rows(&project.limits));
    rows.push(["made".to_owned(), format!("{:.0}", project.created_at)]);
    rows.push(["changed".to_owned(), format!("{:.0}", project.updated_at)]);
    context.output.pairs(rows)?;
    Ok(Exit::Done)
}

async fn delete(context: &Context, name: &str, yes: bool) -> Result<Exit> {
    if !yes {
        let message = format!("deleting project {name} cannot be undone");
        return Err(Error::usage(message, "add --yes if that is what you want"));
    }
    let found = locate::server(context).await?;
    let project = lookup::project(&found.client, name).await?;
    found.client.act(Method::DELETE, &format!("/api/v1/projects/{}", project.id), NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "deleted": project.id }))?;
    } else {
        context.output.line(format_args!("project {} is deleted", project.name))?;
    }
    Ok(Exit::Done)
}
