//! Conditions: CEL, with what it may cost bounded before it runs.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr};
use cel::parser::PrattParser;
use cel::{Context, Env};
use serde_json::{Map, Value};

use super::super::limits::{CONDITION_DEPTH_MAX, CONDITION_MAX_CHARS, CONDITION_WORK_MAX};
use super::scan::{Reference, Syntax, references};
use super::{Scope, gather};

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// The names that a condition can begin with.
const ROOTS: [&str; 3] = ["inputs", "steps", "run"];

/// Checks a condition without running it.
pub(in super::super) fn check(text: &str) -> Result<(), String> {
    let expression = &compile(text)?;
    // Nothing of the run is known yet, so only what does not depend on it can be too much.
    if cost(expression, Size { all: 1, text: 0 }) > CONDITION_WORK_MAX {
        return Err("the condition would take too long".to_owned());
    }
    let mut own = Vec::new();
    collect_variables(expression, &mut own);
    let known = |name: &&str| ROOTS.contains(name) || own.iter().any(|mine| mine == name);
    match expression.references().variables().iter().find(|name| !known(name)) {
        Some(name) => Err(format!("`{name}` is not known; there are inputs, steps and run")),
        None => Ok(()),
    }
}

/// Tells whether a condition holds.
pub(in super::super) fn holds(text: &str, scope: &dyn Scope) -> Result<bool, String> {
    let expression = compile(text)?;
    let found: Vec<Reference> = references(text, Syntax::Condition)?;
    let (names, bytes) = gather(&found, scope)?;
    if cost(&expression, Size::of(&names, bytes)) > CONDITION_WORK_MAX {
        return Err(format!("it would take too long over {bytes} bytes"));
    }
    let mut context = Context::with_env(Arc::clone(&ENVIRONMENT));
    for (name, value) in names {
        context.add_variable_from_value(name, to_cel(value));
    }
    match cel::Value::resolve(&expression, &context) {
        Ok(cel::Value::Bool(holds)) => Ok(holds),
        Ok(other) => Err(format!("it gave {} and not true or false", other.type_of())),
        Err(error) => Err(shorten(error.to_string())),
    }
}

/// Reads a condition. The parser counts its own depth, and what it makes is evaluated by recursion,
/// so both have a limit that any thread's stack can hold.
fn compile(text: &str) -> Result<IdedExpr, String> {
    if text.chars().count() > CONDITION_MAX_CHARS {
        return Err(format!("a condition has at most {CONDITION_MAX_CHARS} characters"));
    }
    let limit = u16::try_from(CONDITION_DEPTH_MAX * 2).unwrap_or(u16::MAX);
    let parser = PrattParser::new().max_recursion_depth(limit).error_recovery_limit(1);
    let expression = parser.parse(text).map_err(|errors| {
        let first = errors.errors.first();
        first.map_or_else(
            || "it cannot be read".to_owned(),
            |error| format!("{} (at character {})", shorten(error.msg.clone()), error.pos.1),
        )
    })?;
    if is_deeper(&expression, CONDITION_DEPTH_MAX) {
        return Err(format!("it is nested more than {CONDITION_DEPTH_MAX} levels deep"));
    }
    Ok(expression)
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}

/// Whole numbers are signed ones as far as they fit, so that they go together with those that are
/// written in conditions.
fn to_cel(value: Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(flag) => cel::Value::Bool(flag),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => cel::Value::Int(whole),
            (None, Some(whole)) => cel::Value::UInt(whole),
            (None, None) => cel::Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => cel::Value::from(text),
        Value::Array(items) => cel::Value::from(items.into_iter().map(to_cel).collect::<Vec<_>>()),
        Value::Object(entries) => {
            let entries: HashMap<String, cel::Value> =
                entries.into_iter().map(|(key, value)| (key, to_cel(value))).collect();
            cel::Value::from(entries)
        }
    }
}

/// How large what a condition reads is.
#[derive(Debug, Clone, Copy)]
struct Size {
    /// Values at all depths, and one more for each 64 bytes.
    all: u64,
    /// The longest text, in 64 bytes.
    text: u64,
}

impl Size {
    fn of(names: &Map<String, Value>, bytes: usize) -> Self {
        let mut size = Self { all: u64::try_from(bytes / 64).unwrap_or(u64::MAX), text: 0 };
        names.values().for_each(|value| size.add(value));
        size
    }

    fn add(&mut self, value: &Value) {
        self.all = self.all.saturating_add(1);
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(entries) => entries.values().for_each(|entry| self.add(entry)),
            Value::String(text) => {
                self.text = self.text.max(u64::try_from(text.len() / 64).unwrap_or(u64::MAX));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The most that an expression can cost: each call may look at all that is read, and each loop may
/// go over all of it.
fn cost(expression: &IdedExpr, size: Size) -> u64 {
    let inner = |part: &IdedExpr| cost(part, size);
    let all = || parts(expression).into_iter().map(inner).fold(1, u64::saturating_add);
    match &expression.expr {
        Expr::Call(call) => all().saturating_add(own_cost(call, size)),
        Expr::Comprehension(each) => {
            let rounds = match &each.iter_range.expr {
                Expr::List(list) => u64::try_from(list.elements.len()).unwrap_or(u64::MAX),
                _ => size.all,
            };
            let round = inner(&each.loop_cond).saturating_add(inner(&each.loop_step));
            all().saturating_add(rounds.saturating_mul(round))
        }
        Expr::Unspecified
        | Expr::Ident(_)
        | Expr::Literal(_)
        | Expr::Select(_)
        | Expr::List(_)
        | Expr::Map(_)
        | Expr::Struct(_) => all(),
    }
}

/// What a call costs by itself: access and logic nothing, comparing with one text its length, and
/// anything else as much as there is.
fn own_cost(call: &CallExpr, size: Size) -> u64 {
    let literal = call.args.iter().any(|part| matches!(part.expr, Expr::Literal(_)));
    match call.func_name.as_str() {
        "_&&_" | "_||_" | "!_" | "_?_:_" | "_[_]" | "@not_strictly_false" => 0,
        "_<_" | "_>_" | "_<=_" | "_>=_" | "_-_" | "_*_" | "_/_" | "_%_" => size.text,
        "_==_" | "_!=_" if literal => size.text,
        _ => size.all / 64,
    }
}

fn parts_of_entry(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::StructField(field) => vec![&field.value],
        EntryExpr::MapEntry(pair) => vec![&pair.key, &pair.value],
    }
}

/// The parts of an expression.
fn parts(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map.entries.iter().flat_map(|one| parts_of_entry(&one.expr)).collect(),
        Expr::Struct(made) => {
            made.entries.iter().flat_map(|one| parts_of_entry(&one.expr)).collect()
        }
        Expr::Call(call) => call.args.iter().chain(call.target.as_deref()).collect(),
        Expr::Comprehension(each) => {
            vec![&each.iter_range, &each.accu_init, &each.loop_cond, &each.loop_step, &each.result]
        }
    }
}

fn is_deeper(expression: &IdedExpr, limit: usize) -> bool {
    limit == 0 || parts(expression).into_iter().any(|part| is_deeper(part, limit - 1))
}

/// The variables that an expression brings with it, such as `x` in `list.all(x, x > 1)`.
fn collect_variables<'a>(expression: &'a IdedExpr, into: &mut Vec<&'a str>) {
    if let Expr::Comprehension(each) = &expression.expr {
        into.extend([each.iter_var.as_str(), each.accu_var.as_str()]);
        into.extend(each.iter_var2.as_deref());
    }
    for part in parts(expression) {
        collect_variables(part, into);
    }
}
