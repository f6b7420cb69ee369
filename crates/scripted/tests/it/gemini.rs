//! Gemini generateContent.

use serde_json::{Value, json};

use crate::{KEY, Stage};

const PATH: &str = "/v1beta/models/gemini-2.5-pro:generateContent";

fn ask(prompt: &str) -> Value {
    json!({
        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
        "tools": [{"functionDeclarations": [{"name": "run_shell_command",
            "parametersJsonSchema": {"type": "object", "properties":
                {"command": {"type": "string"}, "description": {"type": "string"}},
                "required": ["command"]}}]}],
    })
}

fn back(mut body: Value, content: &Value) -> Value {
    let contents = body["contents"].as_array_mut().unwrap();
    contents.push(content.clone());
    let response = json!({"name": "run_shell_command", "response": {"output": "done"}});
    let calls = content["parts"].as_array().unwrap().iter();
    let parts: Vec<Value> = calls
        .filter(|part| part["functionCall"].is_object())
        .map(|_| json!({"functionResponse": response}))
        .collect();
    contents.push(json!({"role": "user", "parts": parts}));
    body
}

#[tokio::test]
async fn a_thought_signature_must_come_back_even_without_ids() {
    let stage = Stage::open().await;
    let body = ask("[[shell ls]] [[shell pwd]]");
    let answer = stage.json(PATH, &body).await;
    let mut content = answer["candidates"][0]["content"].clone();
    assert_eq!(content["parts"][0]["functionCall"]["args"], json!({"command": "ls"}));
    assert!(content["parts"][1]["thoughtSignature"].is_null());
    for part in content["parts"].as_array_mut().unwrap() {
        part["functionCall"].as_object_mut().unwrap().remove("id");
    }
    let last = stage.json(PATH, &back(body.clone(), &content)).await;
    let text = &last["candidates"][0]["content"]["parts"][0]["text"];
    assert_eq!(*text, "The tool said: done | done");

    // Bytes are bytes, in whichever alphabet.
    let signature = content["parts"][0]["thoughtSignature"].as_str().unwrap().to_owned();
    let mut other = content.clone();
    let url_safe = signature.replace('+', "-").replace('/', "_");
    other["parts"][0]["thoughtSignature"] = url_safe.into();
    stage.json(PATH, &back(body.clone(), &other)).await;
    other["parts"][0]["thoughtSignature"] = "skip_thought_signature_validator".into();
    stage.json(PATH, &back(body.clone(), &other)).await;

    content["parts"][0].as_object_mut().unwrap().remove("thoughtSignature");
    let (status, refusal) = stage.refused(PATH, &back(body, &content)).await;
    assert_eq!((status, refusal["error"]["status"].as_str()), (400, Some("INVALID_ARGUMENT")));
    assert!(refusal["error"]["message"].as_str().unwrap().contains("thoughtSignature"));
}

#[tokio::test]
async fn a_stream_is_events_or_one_array() {
    let stage = Stage::open().await;
    let mut body = ask("[[say one two]] [[usage input=9 cache_read=3 output=5 reasoning=2]]");
    body["generationConfig"] = json!({"thinkingConfig": {"includeThoughts": true}});
    let path = "/v1/models/gemini-2.5-pro:streamGenerateContent";
    let events = stage.events(&format!("{path}?alt=sse"), &body).await;
    let chunks: Vec<Value> = events.iter().map(crate::Event::json).collect();
    let text = stage.post(path, &body).await.text().await.unwrap();
    let array: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(array.len(), chunks.len());
    assert_eq!(chunks[0]["candidates"][0]["content"]["parts"][0]["thought"], true);
    let last = chunks.last().unwrap();
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    let usage = &last["usageMetadata"];
    assert_eq!(
        (&usage["promptTokenCount"], &usage["candidatesTokenCount"]),
        (&json!(12), &json!(3))
    );
    assert_eq!(usage["thoughtsTokenCount"], 2);
}

#[tokio::test]
async fn tokens_models_and_keys_in_the_query() {
    let stage = Stage::open().await;
    let count = stage.json("/v1beta/models/gemini-2.5-pro:countTokens", &ask("hi")).await;
    assert!(count["totalTokens"].as_u64().unwrap() > 10);
    let url = stage.url(&format!("/v1beta/models?key={KEY}"));
    let list: Value = stage.client.get(url).send().await.unwrap().json().await.unwrap();
    assert_eq!(list["models"][0]["name"], "models/gpt-5");
}

#[tokio::test]
async fn a_structured_answer_fits_its_schema() {
    let mut body = ask("hi");
    body["generationConfig"] = json!({"responseMimeType": "application/json", "responseSchema":
        {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}});
    let answer = Stage::open().await.json(PATH, &body).await;
    assert_eq!(answer["candidates"][0]["content"]["parts"][0]["text"], r#"{"n":1}"#);
}
