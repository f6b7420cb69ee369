//! Roles: those that come with Godel, and those that a project has in `.godel/roles`.

use std::path::{Path, PathBuf};

use godel_agents::Harness;
use godel_agents::launch::Allowed;
use godel_app::Call;
pub use godel_decide::agent::Role;
use godel_decide::agent::{BUILT_IN, PROMPT_MAX_BYTES};
use godel_model::{Invalid, Reach, TenantId, code};
use godel_runtime::Profile;
use tracing::instrument;

use crate::doc::Agent;
use crate::{Error, Fleet, Result};

/// Where a project has its roles, below its folder.
const FOLDER: &str = ".godel/roles";
/// How large the text of a role can be: its prompt and a little more.
const ROLE_MAX_BYTES: usize = 2 * PROMPT_MAX_BYTES;
/// How many roles a project can have.
const ROLES_MAX: usize = 100;

/// Tells whether a role comes with Godel.
pub fn is_built_in(name: &str) -> bool {
    BUILT_IN.contains(&name)
}

/// Lists all roles of a project, its own first.
pub(crate) async fn list(folder: &Path) -> Result<Vec<Role>> {
    let mut roles = own(folder.join(FOLDER)).await?;
    let known: Vec<String> = roles.iter().map(|role| role.name.clone()).collect();
    let built_in = BUILT_IN.into_iter().filter_map(Role::built_in);
    roles.extend(built_in.filter(|role| !known.contains(&role.name)));
    Ok(roles)
}

/// Reads the roles in a folder, by their names.
async fn own(folder: PathBuf) -> Result<Vec<Role>> {
    let read = move || -> Result<Vec<Role>> {
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let yaml = |path: &PathBuf| {
            path.extension().is_some_and(|end| end == "yaml" || end == "yml") && path.is_file()
        };
        paths.retain(yaml);
        paths.sort();
        paths.truncate(ROLES_MAX);
        paths.iter().map(|path| read_role(path)).collect()
    };
    let done = tokio::task::spawn_blocking(read).await;
    done.map_err(|_| Error::Store(godel_store::Error::Panicked))?
}

fn read_role(path: &Path) -> Result<Role> {
    let refuse = |why: String| {
        let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Error::Invalid(
            Invalid::new(code::INVALID_CONFIG, format!("{FOLDER}/{shown}: {why}"))
                .with_hint("correct it; docs/how-to/agents.md shows a role"),
        )
    };
    let size = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
    if size > ROLE_MAX_BYTES as u64 {
        return Err(refuse(format!("it has more than {ROLE_MAX_BYTES} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    Role::read(&text).map_err(|problems| refuse(problems.to_string()))
}

/// Finds a role of a project.
pub(crate) async fn find(folder: &Path, name: &str) -> Result<Role> {
    let found = list(folder).await?.into_iter().find(|role| role.name == name);
    found.ok_or_else(|| Error::NoRole(name.to_owned()))
}

/// Returns the tools that a role lets an agent use.
pub(crate) fn allowed(role: &Role) -> Allowed {
    Allowed::only(&role.tools).with_granted(&role.permissions)
}

/// Refuses an agent that cannot be held to the tools of its role.
pub(crate) fn hold(role: &Role, harness: Harness, walls: Profile) -> Result<()> {
    let unheld = allowed(role).unheld(harness, walls == Profile::ReadOnly);
    unheld.map_or(Ok(()), |why| {
        Err(Error::refused(
            code::INVALID_FIELD,
            format!("the role {} has a list of tools: {why}", role.name),
            "use --harness native, claude, gemini or opencode; or let the role use shell, write and edit, or \
             shell behind read-only walls",
        ))
    })
}

/// Refuses what an agent asks of Godel for itself if its role does not have such a tool.
pub(crate) async fn require(
    fleet: &Fleet,
    tenant: TenantId,
    agent: &Agent,
    tool: &str,
) -> Result<()> {
    let call = fleet.on_behalf(tenant, agent.user).await?;
    let (_, folder) = fleet.project(&call, agent.project).await?;
    if allowed(&find(&folder, &agent.role).await?).allows(tool) {
        return Ok(());
    }
    Err(Error::refused(
        code::FORBIDDEN,
        format!("your role {} does not let you use {tool}", agent.role),
        "go on without it, or say when you are done what is missing",
    ))
}

/// Lists the roles of all projects that a caller works in.
///
/// # Errors
/// If the caller may not, or a role of a project cannot be read.
#[instrument(level = "debug", name = "fleet.roles.all", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn all(fleet: &Fleet, call: &Call) -> Result<Vec<Role>> {
    call.may("agent", "read", Reach::Team)?;
    let actor = call.actor.clone();
    let find = move |tx: &mut godel_store::Tx<'_>| Ok(tx.projects().with_repository()?);
    let projects = crate::paper::look(fleet.app(), actor.tenant, find).await?;
    let mut roles: Vec<Role> = Vec::new();
    for project in projects.into_iter().filter(|project| actor.works_in(project.id)) {
        for role in own(Path::new(&project.repository.unwrap_or_default()).join(FOLDER)).await? {
            if !roles.iter().any(|known| known.name == role.name) {
                roles.push(role);
            }
        }
    }
    let built_in = BUILT_IN.into_iter().filter_map(Role::built_in);
    let fresh: Vec<Role> =
        built_in.filter(|role| !roles.iter().any(|known| known.name == role.name)).collect();
    roles.extend(fresh);
    Ok(roles)
}

/// Finds a role by its name.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "fleet.roles.named", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn named(fleet: &Fleet, call: &Call, name: &str) -> Result<Role> {
    call.may("agent", "read", Reach::Team)?;
    let found = all(fleet, call).await?.into_iter().find(|role| role.name == name);
    found.ok_or_else(|| Error::NoRole(name.to_owned()))
}
