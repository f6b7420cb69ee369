//! The OpenAPI document: complete and fresh.

use std::collections::BTreeSet;

use serde_json::Value;

/// Paths for people; they are no API.
const PAGES: &[&str] =
    &["/", "/dashboard", "/dashboard/", "/dashboard/{*path}", "/docs", "/docs/{file}"];

fn document() -> Value {
    serde_json::from_str(&godel_server::openapi_json()).unwrap()
}

#[test]
fn every_route_is_in_the_document_and_every_path_of_it_is_a_route() {
    let document = document();
    let documented: BTreeSet<String> =
        document["paths"].as_object().unwrap().keys().cloned().collect();
    let routed: BTreeSet<String> = godel_server::route_inventory().into_iter().collect();
    assert!(routed.len() > 30, "the inventory is not read right: {routed:?}");
    for path in &routed {
        // `/api/..` is the older name of `/api/v1/..`.
        let known = match path.strip_prefix("/api/") {
            Some(rest) if !rest.starts_with("v1/") => format!("/api/v1/{rest}"),
            _ => path.clone(),
        };
        assert!(
            documented.contains(&known) || PAGES.contains(&path.as_str()),
            "{path} is routed and not in the OpenAPI document: declare it with routes!"
        );
    }
    for path in &documented {
        assert!(routed.contains(path), "{path} is documented and not routed");
    }
}

#[test]
fn the_committed_document_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == godel_server::openapi_json(),
        "openapi.json is stale: run `cargo xtask codegen`"
    );
}

#[test]
fn every_operation_has_a_name_a_summary_and_a_failure() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    let mut names = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (verb, operation) in item.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap_or_else(|| panic!("{verb} {path}"));
            assert!(names.insert(name.to_owned()), "{name} is there twice");
            assert!(
                operation["summary"].as_str().is_some_and(|text| !text.is_empty()),
                "{verb} {path}"
            );
            assert!(operation["responses"]["default"].is_object(), "{verb} {path}");
        }
    }
}

#[test]
fn answers_refer_to_named_shapes_and_headers_are_never_null() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    for name in ["Event", "Project", "Session", "SystemMetrics"] {
        let data = &schemas[format!("Success_{name}")]["properties"]["data"];
        assert_eq!(data["$ref"], format!("#/components/schemas/{name}"), "{data}");
    }
    for name in ["Event", "Project"] {
        let data = &schemas[format!("Success_Page_{name}")]["properties"]["data"];
        assert_eq!(data["$ref"], format!("#/components/schemas/Page_{name}"), "{data}");
        let page = &schemas[format!("Page_{name}")]["properties"];
        let item = &page["items"]["items"]["$ref"];
        assert_eq!(item, &format!("#/components/schemas/{name}"), "{page}");
    }
    let mut headers = 0;
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                if parameter["in"] == "header" {
                    headers += 1;
                    assert!(parameter["schema"]["type"].is_string(), "{parameter}");
                    assert_eq!(parameter["required"], false, "{parameter}");
                }
            }
        }
    }
    assert!(headers >= 6, "only {headers} headers were looked at");
}
