//! Any agent that speaks the Agent Client Protocol.
//!
//! Which program is behind it is not known, so it finds the settings of all those that are.

use super::{Launch, Plan, claude, codex, command, gemini, opencode};

pub(super) fn launch(plan: &Plan) -> Launch {
    // The tools of Godel are told by the protocol itself.
    let bare = Plan { tools: None, ..plan.clone() };
    let mut launch = Launch::default();
    for environment in [
        command::environment,
        claude::environment,
        codex::environment,
        gemini::environment,
        opencode::environment,
    ] {
        launch = environment(&bare, launch);
    }
    launch.token_env.sort_unstable();
    launch.token_env.dedup();
    launch
}
