//! The published description of a forge, as a judge of requests and answers.

use serde_json::Value;

use crate::schema;
use crate::world::Kind;

/// What a forge says about itself.
#[derive(Debug)]
pub struct Description {
    whole: Value,
}

/// An operation that a request was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operation {
    /// The path with its placeholders.
    pub(crate) path: String,
    /// The method in lower case.
    pub(crate) method: String,
    /// The values of the placeholders, as they were sent, in order.
    pub(crate) values: Vec<String>,
}

impl Description {
    /// Reads the description of a forge.
    ///
    /// # Panics
    /// If it is no JSON.
    pub fn of(kind: Kind) -> Self {
        let text = match kind {
            Kind::GitHub => include_str!("../data/github.json"),
            Kind::GitLab => include_str!("../data/gitlab.json"),
        };
        Self { whole: serde_json::from_str(text).expect("the description is JSON") }
    }

    /// Returns the version of the description.
    pub fn version(&self) -> &str {
        self.whole["info"]["version"].as_str().unwrap_or_default()
    }

    /// Lists all operations, as `method path`.
    pub fn operations(&self) -> Vec<String> {
        let paths = self.whole["paths"].as_object().into_iter().flatten();
        let all = paths.flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, _)| format!("{method} {path}"))
        });
        all.collect()
    }

    /// Finds the operation of a request.
    pub(crate) fn operation(&self, method: &str, path: &str) -> Option<Operation> {
        let method = method.to_ascii_lowercase();
        let sent: Vec<&str> = path.split('/').collect();
        for (known, methods) in self.whole["paths"].as_object()? {
            let parts: Vec<&str> = known.split('/').collect();
            let same = parts.len() == sent.len()
                && parts
                    .iter()
                    .zip(&sent)
                    .all(|(a, b)| a.starts_with('{') && !b.is_empty() || a == b);
            if same && methods.get(&method).is_some() {
                let values = parts.iter().zip(&sent).filter(|(a, _)| a.starts_with('{'));
                let values = values.map(|(_, b)| (*b).to_owned()).collect();
                return Some(Operation { path: known.clone(), method, values });
            }
        }
        None
    }

    fn of_operation(&self, operation: &Operation) -> &Value {
        &self.whole["paths"][&operation.path][&operation.method]
    }

    /// Finds all that is wrong with a request.
    pub(crate) fn judge(
        &self,
        operation: &Operation,
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> Vec<String> {
        let node = self.of_operation(operation);
        let mut wrong = Vec::new();
        let parameters: Vec<&Value> = node["parameters"].as_array().into_iter().flatten().collect();
        let parameters: Vec<&Value> =
            parameters.into_iter().map(|one| schema::resolve(&self.whole, one)).collect();
        for (name, text) in query {
            let known = parameters.iter().find(|one| one["in"] == "query" && one["name"] == **name);
            match known {
                Some(known) => {
                    let why = self.judge_text(known, text);
                    wrong.extend(why.into_iter().map(|why| format!("?{name}{why}")));
                }
                None => wrong.push(format!("?{name}: the description does not know it")),
            }
        }
        for known in parameters.iter().filter(|one| one["in"] == "query" && one["required"] == true)
        {
            if !query.iter().any(|(name, _)| known["name"] == **name) {
                wrong.push(format!("?{}: it is missing", known["name"]));
            }
        }
        let placeholders = operation.path.split('/').filter_map(|part| part.strip_prefix('{'));
        for (name, text) in placeholders.zip(&operation.values) {
            let name = name.trim_end_matches('}');
            let known = parameters.iter().find(|one| one["in"] == "path" && one["name"] == *name);
            match known {
                Some(known) => {
                    let why = self.judge_text(known, text);
                    wrong.extend(why.into_iter().map(|why| format!("{{{name}}}{why}")));
                }
                None => wrong.push(format!("{{{name}}}: the description does not know it")),
            }
        }
        let wanted = &node["requestBody"]["content"]["application/json"]["schema"];
        match (wanted.is_null(), body) {
            (true, None) => {}
            (true, Some(_)) => wrong.push("no body is wanted".to_owned()),
            (false, None) => wrong.push("a body is wanted".to_owned()),
            (false, Some(body)) => wrong.extend(schema::check(&self.whole, wanted, body)),
        }
        wrong
    }

    /// Judges a text of an address as what it stands for.
    fn judge_text(&self, known: &Value, text: &str) -> Vec<String> {
        let schema = &known["schema"];
        let value = match schema::resolve(&self.whole, schema)["type"].as_str() {
            Some("integer") => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
            Some("boolean") => text.parse::<bool>().map_or_else(|_| Value::from(text), Value::from),
            _ => Value::from(text),
        };
        schema::check(&self.whole, schema, &value)
    }

    fn answer_schema(&self, operation: &Operation, status: u16) -> Option<&Value> {
        let answers = &self.of_operation(operation)["responses"];
        let answer = answers.get(status.to_string())?;
        let content = &schema::resolve(&self.whole, answer)["content"];
        content.get("application/json").map(|content| &content["schema"])
    }

    /// Finds all that is wrong with an answer.
    pub(crate) fn judge_answer(
        &self,
        operation: &Operation,
        status: u16,
        body: &Value,
    ) -> Vec<String> {
        match self.answer_schema(operation, status) {
            Some(schema) => schema::check(&self.whole, schema, body),
            // Not all refusals are described; what is a success must be.
            None if status >= 300 => Vec::new(),
            None => vec![format!("status {status}: the description does not know it")],
        }
    }

    /// Makes an answer in which everything that is required stands, and of which some is given.
    pub(crate) fn fill(&self, operation: &Operation, status: u16, given: Value) -> Value {
        let Some(schema) = self.answer_schema(operation, status) else { return given };
        self.filled(schema, given)
    }

    fn filled(&self, schema: &Value, given: Value) -> Value {
        let schema = schema::resolve(&self.whole, schema);
        match given {
            Value::Object(fields) => {
                let mut made = schema::sample_there(&self.whole, schema);
                for (name, value) in fields {
                    made[&name] = self.filled(&schema["properties"][&name], value);
                }
                made
            }
            Value::Array(all) => {
                all.into_iter().map(|one| self.filled(&schema["items"], one)).collect()
            }
            given => given,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_that_the_forge_does_not_know_is_noticed() {
        let hub = Description::of(Kind::GitHub);
        let open = hub.operation("POST", "/repos/a/b/pulls").unwrap();
        let good = json!({ "title": "t", "head": "h", "base": "b", "body": "x" });
        assert_eq!(hub.judge(&open, &[], Some(&good)), Vec::<String>::new());
        for bad in [
            json!({ "title": "t", "head": "h" }),
            json!({ "title": 3, "head": "h", "base": "b" }),
            json!({ "title": "t", "head": "h", "base": "b", "source_branch": "h" }),
        ] {
            assert_eq!(hub.judge(&open, &[], Some(&bad)).len(), 1, "{bad}");
        }
        assert_eq!(hub.judge(&open, &[], None), ["a body is wanted"]);
        let list = hub.operation("GET", "/repos/a/b/pulls").unwrap();
        for (name, value) in [("state", "merged"), ("per_page", "many"), ("source_branch", "x")] {
            let query = [(name.to_owned(), value.to_owned())];
            assert_eq!(hub.judge(&list, &query, None).len(), 1, "{name}={value}");
        }
        let one = hub.operation("GET", "/repos/a/b/pulls/x").unwrap();
        assert_eq!(hub.judge(&one, &[], None).len(), 1, "a number is wanted");
        assert_eq!(hub.operation("DELETE", "/repos/a/b/pulls/1"), None);
    }

    #[test]
    fn an_answer_that_the_forge_would_not_give_is_noticed() {
        for (kind, path) in
            [(Kind::GitHub, "/repos/a/b/pulls/1"), (Kind::GitLab, "/projects/1/merge_requests/1")]
        {
            let forge = Description::of(kind);
            let look = forge.operation("GET", path).unwrap();
            let good = forge.fill(&look, 200, json!({ "title": "t" }));
            assert_eq!(forge.judge_answer(&look, 200, &good), Vec::<String>::new());
            let with = |name: &str, value: Value| {
                let mut bad = good.clone();
                bad[name] = value;
                forge.judge_answer(&look, 200, &bad).len()
            };
            assert_eq!(
                [with("title", json!(1)), with("nonsense", json!(1)), with("state", json!("x"))],
                [1; 3]
            );
            assert_eq!(forge.judge_answer(&look, 202, &good).len(), 1);
        }
    }
}
