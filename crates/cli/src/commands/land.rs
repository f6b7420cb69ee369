//! `godel land`: the work of a bead gets into its branch.

use godel_api::Landing;
use godel_console::lookup::{NOTHING, segment};
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, here, locate};
use reqwest::Method;

/// How much of a commit id people need to see.
const SHORT_ID: usize = 10;

/// Lets the work of a bead land.
pub(crate) async fn run(context: &Context, bead: &str, project: Option<&str>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let project = here::project_if_known(context, &found.client, project).await?;
    let path = here::within(format!("/api/v1/beads/{}/land", segment(bead)), project);
    let landing: Landing = found.client.call(Method::POST, &path, NOTHING).await?;
    let exit = if landing.landed { Exit::Done } else { Exit::Conflict };
    if context.output.is_json() {
        context.output.value(&landing)?;
        return Ok(exit);
    }
    let target = plain(&landing.target);
    if landing.landed {
        let commit = landing.commit.as_deref().and_then(|id| id.get(..SHORT_ID));
        let commit = commit.map_or_else(String::new, |id| format!(" as {id}"));
        context.output.line(format_args!("{} is in {target}{commit}", landing.bead))?;
        return Ok(exit);
    }
    let why = landing.why.as_deref().map_or_else(|| "no reason was told".to_owned(), plain);
    context.output.note(format_args!("{} is not in {target}: {why}", landing.bead));
    context.output.note(format_args!("  hint: `godel bead show {}` tells more", landing.bead));
    Ok(exit)
}
