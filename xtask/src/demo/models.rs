//! Models: agents ask them through Godel, which keeps the keys and counts every cent.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::Stage;
use crate::failure::{Failure, Result, Told};
use crate::stage::Stage as Provider;

const KEY: &str = "sk-demo-key-of-the-provider";
const PATIENCE: Duration = Duration::from_secs(20);

/// Lets an agent ask a model in two dialects, and stops it when its budget is used up.
pub(super) fn play(stage: &mut Stage<'_>) -> Result<()> {
    let provider = Provider::open(stage.shop, KEY)?;
    println!(
        "  a stand-in plays the provider, so that nothing leaves this machine: {}",
        provider.url
    );
    let url = &provider.url;
    let settings = format!(
        "[providers.openai]\nchat = \"{url}/v1\"\nresponses = \"{url}/v1\"\n\
         [providers.anthropic]\nanthropic = \"{url}\"\n"
    );
    fs::write(stage.godel.data().join("proxy.toml"), settings).told("write proxy.toml")?;
    let file = stage.godel.data().with_extension("key");
    fs::write(&file, KEY).told("write the key of the provider")?;
    for name in ["openai", "anthropic"] {
        println!("  $ godel secret set {name} < key");
        stage.godel.call_fed(&["secret", "set", name], &file)?;
    }
    fs::remove_file(&file).told("remove the key of the provider")?;
    stage.provider = Some(provider);
    println!("  $ godel token create worker-1 --agent worker-1 --budget 0.05");
    let create =
        ["token", "create", "worker-1", "--agent", "worker-1", "--budget", "0.05", "--json"];
    let made: Value = serde_json::from_str(&stage.godel.call(&create)?).told("read the token")?;
    let token = made["token"].as_str().unwrap_or_default().to_owned();
    println!("    {}.. is all that the agent gets; the key stays on the server", &token[..13]);
    wait_for(stage, &token)?;
    let asked = ask(stage, &token, "claude-sonnet-5", "hello [[usage input=1000 output=200]]")?;
    println!("  it asks Claude in OpenAI's words: {} {}", asked.0, said(&asked.1));
    let mut last = (0, Value::Null);
    let mut count = 0;
    while last.0 != 402 && count < 100 {
        last = ask(stage, &token, "gpt-5", "go on [[usage input=2000 output=600]]")?;
        count += 1;
    }
    println!("  it goes on until its budget ends: {} after {count} more requests", last.0);
    println!("    {}", last.1["error"]["message"].as_str().unwrap_or_default());
    if last.0 != 402 {
        return Err(Failure::new("the budget did not hold"));
    }
    stage.show(&["cost", "--agent", "worker-1"])?;
    stage.show(&["budget", "list"])
}

/// Waits until the server has read the new file.
fn wait_for(stage: &Stage<'_>, token: &str) -> Result<()> {
    let begun = std::time::Instant::now();
    while begun.elapsed() < PATIENCE {
        if ask(stage, token, "gpt-5-nano", "are you there?")?.0 == 200 {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(Failure::new("no model answered"))
}

fn said(answer: &Value) -> &str {
    answer["choices"][0]["message"]["content"].as_str().unwrap_or("nothing")
}

/// Asks a model as any program would; returns the status and the answer.
fn ask(stage: &Stage<'_>, token: &str, model: &str, text: &str) -> Result<(u16, Value)> {
    let message = json!({ "role": "user", "content": text });
    let body = json!({ "model": model, "max_tokens": 700, "messages": [message] }).to_string();
    let address = stage.server()?.url().trim_start_matches("http://").to_owned();
    let asked = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(&address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "POST /proxy/v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             authorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    let text = asked().told("ask a model")?;
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Ok((status, serde_json::from_str(body).unwrap_or_default()))
}
