//! Requests told in another dialect.

use godel_llm::Dialect;
use godel_llm::translate::{Ask, Thinks};
use serde_json::{Value, json};

use super::{ask, facts, pairs, samples, told};

#[test]
fn a_tool_round_arrives_whole_in_every_other_dialect() {
    let schema = samples::schema();
    let expected = [
        "system Be good.".to_owned(),
        "user Look.".to_owned(),
        "image data:image/png;base64,AAAA".to_owned(),
        "assistant I read.".to_owned(),
        r#"call c1 read {"a":1,"path":"x"}"#.to_owned(),
        r#"call c2 list {"a":2,"path":"y"}"#.to_owned(),
        "result c1 one".to_owned(),
        "result c2 two".to_owned(),
        "user Go on.".to_owned(),
        format!("tool read {schema}"),
        format!("tool list {schema}"),
        format!("schema {schema}"),
        "max 4000".to_owned(),
    ];
    for (from, to) in pairs() {
        let body = told(&ask(from, to), &samples::request(from));
        assert_eq!(facts::request(to, &body), expected, "{from} to {to}");
    }
}

#[test]
fn nothing_secret_of_another_provider_is_told() {
    for (from, to) in pairs() {
        let body = told(&ask(from, to), &samples::request(from)).to_string();
        assert!(!body.contains("secret") && !body.contains("billing"), "{from} to {to}: {body}");
    }
}

#[test]
fn the_model_is_told_to_think_as_it_understands() {
    for (from, to) in pairs() {
        let body = |thinks| {
            let ask = Ask { thinks, ..ask(from, to) };
            // It is known that there were no thoughts before.
            let kept = |_: &str| Some("{}".into());
            let body = samples::request(from).to_string();
            let told = godel_llm::translate::request(&ask, body.as_bytes(), &kept).unwrap();
            serde_json::from_slice::<Value>(&told.body).unwrap()
        };
        let (never, budget, level) =
            (body(Thinks::Never), body(Thinks::Budget), body(Thinks::Level));
        match to {
            Dialect::Chat => {
                assert_eq!(never["reasoning_effort"], Value::Null);
                assert_eq!(level["reasoning_effort"], "medium");
            }
            Dialect::Responses => {
                assert_eq!(never["reasoning"], Value::Null);
                assert_eq!(never["include"], Value::Null);
                assert_eq!(level["reasoning"], json!({"effort": "medium", "summary": "auto"}));
                assert_eq!(level["include"], json!(["reasoning.encrypted_content"]));
                assert_eq!(level["store"], false);
            }
            Dialect::Anthropic => {
                assert_eq!(never["thinking"], Value::Null);
                assert_eq!(never["temperature"], 0.5);
                let enabled = json!({"type": "enabled", "budget_tokens": 3000});
                assert_eq!(budget["thinking"], enabled);
                assert_eq!(budget["temperature"], Value::Null);
                assert_eq!(level["thinking"], json!({"type": "adaptive"}));
                assert_eq!(level["output_config"]["effort"], "medium");
            }
            Dialect::Gemini => {
                let config = |body: &Value| body["generationConfig"]["thinkingConfig"].clone();
                assert_eq!(config(&never), Value::Null);
                let shown = json!({"includeThoughts": true, "thinkingBudget": 8192});
                assert_eq!(config(&budget), shown);
                let shown = json!({"includeThoughts": true, "thinkingLevel": "MEDIUM"});
                assert_eq!(config(&level), shown);
            }
        }
    }
}

#[test]
fn anthropic_gets_two_marks_for_its_cache() {
    let mark = json!({"type": "ephemeral"});
    for from in [Dialect::Chat, Dialect::Responses, Dialect::Gemini] {
        let body = told(&ask(from, Dialect::Anthropic), &samples::request(from));
        assert_eq!(body["system"][0]["cache_control"], mark);
        let last = &body["messages"][2]["content"];
        assert_eq!(last[2]["cache_control"], mark);
        assert_eq!(body.to_string().matches("cache_control").count(), 2);
    }
    for to in [Dialect::Chat, Dialect::Responses, Dialect::Gemini] {
        let body = told(&ask(Dialect::Anthropic, to), &samples::request(Dialect::Anthropic));
        assert!(!body.to_string().contains("cache_control"));
    }
}

#[test]
fn a_stream_of_chat_always_tells_its_usage() {
    let body = told(&ask(Dialect::Anthropic, Dialect::Chat), &samples::request(Dialect::Anthropic));
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    let whole = Ask { stream: false, ..ask(Dialect::Anthropic, Dialect::Chat) };
    let body = told(&whole, &samples::request(Dialect::Anthropic));
    assert_eq!(body["stream_options"], Value::Null);
    assert_eq!(body["stream"], false);
}

#[test]
fn the_choice_of_tools_has_a_word_in_every_dialect() {
    let chat = |choice: Value| {
        json!({"messages": [{"role": "user", "content": "x"}], "tool_choice": choice,
            "parallel_tool_calls": false,
            "tools": [{"type": "function", "function": {"name": "f"}}]})
    };
    let named = json!({"type": "function", "function": {"name": "f"}});
    for (choice, anthropic, gemini, responses) in [
        (json!("auto"), json!({"type": "auto"}), json!({"mode": "AUTO"}), json!("auto")),
        (json!("required"), json!({"type": "any"}), json!({"mode": "ANY"}), json!("required")),
        (json!("none"), json!({"type": "none"}), json!({"mode": "NONE"}), json!("none")),
        (
            named,
            json!({"type": "tool", "name": "f"}),
            json!({"mode": "ANY", "allowedFunctionNames": ["f"]}),
            json!({"type": "function", "name": "f"}),
        ),
    ] {
        let body = told(&ask(Dialect::Chat, Dialect::Anthropic), &chat(choice.clone()));
        let mut expected = anthropic.clone();
        if anthropic["type"] != "none" {
            expected["disable_parallel_tool_use"] = json!(true);
        }
        assert_eq!(body["tool_choice"], expected);
        let back = told(&ask(Dialect::Anthropic, Dialect::Chat), &body);
        assert_eq!(back["tool_choice"], choice);
        let body = told(&ask(Dialect::Chat, Dialect::Gemini), &chat(choice.clone()));
        assert_eq!(body["toolConfig"]["functionCallingConfig"], gemini);
        let back = told(&ask(Dialect::Gemini, Dialect::Chat), &body);
        assert_eq!(back["tool_choice"], choice);
        let body = told(&ask(Dialect::Chat, Dialect::Responses), &chat(choice.clone()));
        assert_eq!(body["tool_choice"], responses);
        assert_eq!(body["parallel_tool_calls"], false);
        let back = told(&ask(Dialect::Responses, Dialect::Chat), &body);
        assert_eq!(back["tool_choice"], choice);
        assert_eq!(back["parallel_tool_calls"], false);
    }
}

#[test]
fn a_system_message_in_the_middle_is_the_users_for_anthropic() {
    let body = json!({"messages": [
        {"role": "system", "content": "first"},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "system", "content": "later"},
        {"role": "user", "content": "c"},
    ]});
    let body = told(&ask(Dialect::Chat, Dialect::Anthropic), &body);
    assert_eq!(body["system"].as_array().unwrap().len(), 1);
    let last = &body["messages"][2];
    assert_eq!((&last["role"], &last["content"][0]["text"]), (&json!("user"), &json!("later")));
    assert_eq!(last["content"][1]["text"], "c");
}

#[test]
fn results_come_first_even_if_the_user_spoke_before() {
    let body = json!({"input": [
        {"role": "user", "content": "a"},
        {"type": "function_call", "call_id": "c.1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "c.2", "name": "f", "arguments": "{}"},
        {"role": "user", "content": "stop!"},
        {"type": "function_call_output", "call_id": "c.2", "output": "two"},
        {"type": "function_call_output", "call_id": "c.1", "output": "one"},
    ]});
    let body = told(&ask(Dialect::Responses, Dialect::Anthropic), &body);
    let content = body["messages"][2]["content"].as_array().unwrap();
    let ids: Vec<&Value> = content.iter().map(|block| &block["tool_use_id"]).collect();
    assert_eq!(ids, [&json!("c_1"), &json!("c_2"), &Value::Null]);
    assert_eq!(content[2]["text"], "stop!");
    // A history with calls needs tools, though the client offers none.
    assert_eq!(body["tools"][0]["name"], "f");
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

#[test]
fn a_failed_result_can_be_seen_to_have_failed() {
    let body = json!({"max_tokens": 10, "messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content":
            [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c",
            "content": "no such file", "is_error": true}]},
    ]});
    let chat = told(&ask(Dialect::Anthropic, Dialect::Chat), &body);
    assert_eq!(chat["messages"][2]["content"], "Error: no such file");
    let gemini = told(&ask(Dialect::Anthropic, Dialect::Gemini), &body);
    let response = &gemini["contents"][2]["parts"][0]["functionResponse"]["response"];
    assert_eq!(*response, json!({"error": "no such file"}));
    let back = told(&ask(Dialect::Gemini, Dialect::Anthropic), &gemini);
    assert_eq!(back["messages"][2]["content"][0]["is_error"], true);
}

#[test]
fn a_picture_that_a_tool_gave_is_not_lost() {
    let image = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let body = json!({"max_tokens": 10, "messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content":
            [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content":
            [{"type": "tool_result", "tool_use_id": "c", "content": [image]}]},
    ]});
    for to in [Dialect::Chat, Dialect::Responses, Dialect::Gemini] {
        let body = told(&ask(Dialect::Anthropic, to), &body);
        assert_eq!(body.to_string().matches("AAAA").count(), 1, "{to}");
    }
    let chat = told(&ask(Dialect::Anthropic, Dialect::Chat), &body);
    assert_eq!(chat["messages"][2]["role"], "tool");
    assert_eq!(chat["messages"][3]["role"], "user");
}

#[test]
fn an_input_that_is_no_json_is_not_lost() {
    let body = json!({"messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": "f", "arguments": "{\"path\": \"x"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "bad input"},
    ]});
    for to in [Dialect::Anthropic, Dialect::Gemini] {
        let there = told(&ask(Dialect::Chat, to), &body);
        let back = told(&ask(to, Dialect::Chat), &there);
        let arguments = &back["messages"][1]["tool_calls"][0]["function"]["arguments"];
        assert_eq!(arguments, "{\"path\": \"x", "{there}");
    }
}

#[test]
fn a_space_and_a_custom_tool_are_flattened() {
    let body = json!({
        "input": [
            {"role": "user", "content": "a"},
            {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
            {"type": "function_call", "call_id": "c2", "namespace": "mcp", "name": "find",
                "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c2", "output": "found"},
        ],
        "tools": [
            {"type": "custom", "name": "patch", "description": "Edits.",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}},
            {"type": "namespace", "name": "mcp", "tools":
                [{"type": "function", "name": "find", "parameters": {"type": "object"}}]},
        ],
    });
    let body = told(&ask(Dialect::Responses, Dialect::Anthropic), &body);
    assert_eq!(body["tools"][0]["name"], "patch");
    assert_eq!(body["tools"][0]["input_schema"]["required"], json!(["input"]));
    assert!(body["tools"][0]["description"].as_str().unwrap().contains("start: X"));
    assert_eq!(body["tools"][1]["name"], "mcp__find");
    let content = |message: usize| &body["messages"][message]["content"][0];
    assert_eq!(content(1)["input"], json!({"input": "*** Begin"}));
    assert_eq!(content(2)["tool_use_id"], "c1");
    assert_eq!(content(3)["name"], "mcp__find");
}

#[test]
fn the_order_of_properties_and_arguments_stays() {
    let schema = r#"{"type":"object","properties":{"z":{},"a":{},"m":{}}}"#;
    let body = format!(
        r#"{{"max_tokens":1,"tools":[{{"name":"f","input_schema":{schema}}}],"messages":
        [{{"role":"assistant","content":[{{"type":"tool_use","id":"c","name":"f",
        "input":{{"z":1,"a":2}}}}]}}]}}"#
    );
    for to in [Dialect::Chat, Dialect::Responses, Dialect::Gemini] {
        let ask = ask(Dialect::Anthropic, to);
        let told = godel_llm::translate::request(&ask, body.as_bytes(), &|_| None).unwrap();
        let told = String::from_utf8(told.body).unwrap().replace('\\', "");
        assert!(told.contains(schema) && told.contains(r#"{"z":1,"a":2}"#), "{told}");
    }
}

#[test]
fn more_than_the_model_can_answer_is_not_asked_for() {
    let body = json!({"max_tokens": 64_000, "messages": [{"role": "user", "content": "a"}]});
    let ask = Ask { max_output: 16_384, ..ask(Dialect::Anthropic, Dialect::Chat) };
    assert_eq!(told(&ask, &body)["max_completion_tokens"], 16_384);
    let body = json!({"messages": [{"role": "user", "content": "a"}]});
    let ask = Ask { from: Dialect::Chat, to: Dialect::Anthropic, ..ask };
    assert_eq!(told(&ask, &body)["max_tokens"], 16_384);
}

#[test]
fn a_model_is_not_told_what_it_would_refuse() {
    let body = json!({"temperature": 0, "top_p": 0.9, "stop": ["\n"],
        "messages": [{"role": "user", "content": "a"}]});
    let told = |to, thinks| told(&Ask { thinks, ..ask(Dialect::Chat, to) }, &body);
    for to in [Dialect::Responses, Dialect::Anthropic] {
        assert_eq!(told(to, Thinks::Level)["temperature"], Value::Null, "{to}");
        assert_eq!(told(to, Thinks::Never)["temperature"], 0, "{to}");
    }
    assert_eq!(told(Dialect::Anthropic, Thinks::Never)["top_p"], Value::Null);
    assert_eq!(told(Dialect::Anthropic, Thinks::Never)["stop_sequences"], Value::Null);
    let config = &told(Dialect::Gemini, Thinks::Level)["generationConfig"];
    assert_eq!((&config["temperature"], &config["topP"]), (&json!(0), &json!(0.9)));
    assert_eq!(config["stopSequences"], json!(["\n"]));
}

#[test]
fn a_client_of_gemini_need_not_return_ids() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let result = |name: &str, text: &str| json!({"functionResponse": {"name": name, "response": {"output": text}}});
    let body = json!({"contents": [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [call("f"), call("g"), call("f")]},
        {"role": "user", "parts": [result("g", "2"), result("f", "1"), result("f", "3")]},
    ]});
    let body = told(&ask(Dialect::Gemini, Dialect::Chat), &body);
    let texts: Vec<&Value> = (2..5).map(|message| &body["messages"][message]["content"]).collect();
    assert_eq!(texts, ["1", "2", "3"]);
    let ids: Vec<&Value> =
        (0..3).map(|call| &body["messages"][1]["tool_calls"][call]["id"]).collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3"]);
}
