//! How large a workflow may be. Everything that comes from outside has a limit.

use std::time::Duration;

/// Bytes of the text of a definition.
pub const TEXT_MAX_BYTES: usize = 16 << 20;
/// Levels of nesting in the text of a definition.
pub const TEXT_MAX_DEPTH: usize = 64;
/// Values in the text of a definition, aliases counted as often as they are used.
pub const TEXT_MAX_NODES: usize = 2_000_000;
/// Problems that are told at once.
pub const PROBLEMS_MAX: usize = 100;
/// Steps of one workflow.
pub const STEPS_MAX: usize = 50_000;
/// Dependencies of all steps together.
pub const EDGES_MAX: usize = 500_000;
/// Characters of the id of a step.
pub const STEP_ID_MAX_CHARS: usize = 100;
/// Characters of a name.
pub const NAME_MAX_CHARS: usize = 200;
/// How deep workflows may be nested, inline or by name.
pub const NESTING_MAX: u32 = 8;
/// Steps that run at once, if the definition names no other number.
pub const CONCURRENCY_DEFAULT: u32 = 64;
/// Steps that can run at once.
pub const CONCURRENCY_MAX: u32 = 10_000;
/// The longest timeout, timer or delay.
pub const DURATION_MAX: Duration = Duration::from_secs(366 * 24 * 3600);
/// Attempts of one task.
pub const ATTEMPTS_MAX: u32 = 100;
/// Characters of a condition.
pub const CONDITION_MAX_CHARS: usize = 2_000;
/// Levels of nesting of a condition.
pub const CONDITION_DEPTH_MAX: usize = 24;
/// What a condition may cost, in values looked at.
pub const CONDITION_WORK_MAX: u64 = 2_000_000;
/// Characters of a template.
pub const TEMPLATE_MAX_CHARS: usize = 64 << 10;
/// Characters of one `{{ .. }}` or `{% .. %}`.
pub const TAG_MAX_CHARS: usize = 512;
/// Instructions of a template if it reads little.
pub const TEMPLATE_FUEL_MAX: u64 = 100_000;
/// Instructions of a template if it reads much.
pub const TEMPLATE_FUEL_MIN: u64 = 2_000;
/// Instructions times bytes that a template may read.
pub const TEMPLATE_WORK_MAX: u64 = 256 << 20;
/// Bytes of what one template makes.
pub const RENDERED_MAX_BYTES: usize = 1 << 20;
/// Bytes of the payload of one task, as JSON.
pub const PAYLOAD_MAX_BYTES: usize = 1 << 20;
/// Bytes of the inputs of a run, as JSON.
pub const INPUTS_MAX_BYTES: usize = 1 << 20;
/// Bytes of the output of one step, as JSON.
pub const OUTPUT_MAX_BYTES: usize = 256 << 10;
/// Bytes of the outputs of all steps of a run, as JSON.
pub const OUTPUTS_MAX_BYTES: usize = 64 << 20;
/// Characters of the text of a fault.
pub const FAULT_MAX_CHARS: usize = 4_000;
