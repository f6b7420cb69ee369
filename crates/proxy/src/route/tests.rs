use super::*;

fn config() -> Config {
    Config::read(
        r#"
        [providers.aaa]
        chat = "http://aaa/v1"
        models = { "claude-sonnet-5" = "sonnet-at-aaa" }
        [providers.local]
        chat = "http://local/v1"
        auth = "none"
        prefixes = ["llama"]
        [aliases]
        fast = ["gpt-5-nano", "claude-haiku-5-5"]
        slow = ["claude-haiku-5-5", "gpt-5-nano"]
        "#,
    )
    .unwrap()
}

fn keys(providers: &[&str]) -> Keys {
    let mut keys = Keys::default();
    for provider in providers {
        keys.add(provider, Key::new(&format!("sk-{provider}")).unwrap());
    }
    keys
}

fn question(model: &str) -> Question<'static> {
    Question {
        models: vec![model.to_owned()],
        provider: None,
        dialect: Dialect::Chat,
        body: b"{}",
        prefer: Prefer::Order,
        tokens: (1_000, 100),
        tier: Tier::Standard,
        own_login: None,
        login: 0,
    }
}

fn found(keys: &Keys, question: &Question<'_>) -> Result<Vec<(String, String)>, NoRoute> {
    let now = Timestamp::from_second(1_800_000_000).unwrap();
    let found = find(&Arc::new(config()), keys, &Health::default(), question, now)?;
    Ok(found
        .routes
        .into_iter()
        .map(|route| (route.provider.to_string(), route.model.clone()))
        .collect())
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec()
}

#[test]
fn the_users_own_provider_is_asked_before_the_known_one() {
    let all = keys(&["aaa", "anthropic", "openai"]);
    let expected = pairs([("aaa", "sonnet-at-aaa"), ("anthropic", "claude-sonnet-5")]);
    assert_eq!(found(&all, &question("claude-sonnet-5")).unwrap(), expected);
    let expected = pairs([("anthropic", "claude-sonnet-5")]);
    assert_eq!(found(&keys(&["anthropic"]), &question("claude-sonnet-5")).unwrap(), expected);
}

#[test]
fn an_alias_a_prefix_a_path_and_a_wish_each_find_their_way() {
    let all = keys(&["anthropic", "openai", "openrouter"]);
    let fast = pairs([("openai", "gpt-5-nano"), ("anthropic", "claude-haiku-5-5")]);
    assert_eq!(found(&all, &question("fast")).unwrap(), fast);
    let cheap = Question { prefer: Prefer::Cost, ..question("fast") };
    assert_eq!(found(&all, &cheap).unwrap()[0].0, "openai");
    let instead_of = |prefer, model: &str| {
        let question = Question { prefer, ..question(model) };
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let choice = find(&Arc::new(config()), &all, &Health::default(), &question, now);
        choice.unwrap().instead_of.map(|model| model.name.clone())
    };
    assert_eq!(instead_of(Prefer::Cost, "fast"), None, "the first is the cheapest");
    assert_eq!(instead_of(Prefer::Cost, "slow").as_deref(), Some("claude-haiku-5-5"));
    assert_eq!(instead_of(Prefer::Order, "slow"), None);
    let unknown = pairs([("anthropic", "claude-next-99")]);
    assert_eq!(found(&all, &question("claude-next-99")).unwrap(), unknown);
    assert_eq!(found(&all, &question("llama-9")).unwrap(), pairs([("local", "llama-9")]));
    let named = pairs([("openrouter", "qwen/qwen-9")]);
    assert_eq!(found(&all, &question("openrouter/qwen/qwen-9")).unwrap(), named);
    let forced = Question { provider: Some("openrouter"), ..question("anything") };
    assert_eq!(found(&all, &forced).unwrap(), pairs([("openrouter", "anything")]));
}

#[test]
fn who_cannot_read_it_or_takes_less_is_not_asked_if_somebody_else_can() {
    let own = r#"
        [[model]]
        name = "small"
        provider = "aaa"
        context = 2_000
        can = ["tools", "vision", "json"]
        [[model]]
        name = "large"
        provider = "local"
        context = 9_000
        can = ["tools", "pdf"]
    "#;
    let text = "[providers.aaa]\nchat = \"http://aaa/v1\"\n[providers.local]\n\
                chat = \"http://local/v1\"\nauth = \"none\"\n[aliases]\nany = [\"small\", \"large\"]";
    let folder = std::env::temp_dir().join(format!("godel-route-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let list = folder.join("models.toml");
    std::fs::write(&list, own).unwrap();
    let config = Arc::new(Config::read(&format!("models = {list:?}\n{text}")).unwrap());
    std::fs::remove_dir_all(folder).unwrap();
    let first = |body: &'static str, tokens| {
        let question = Question { body: body.as_bytes(), tokens: (tokens, 100), ..question("any") };
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let found = find(&config, &keys(&["aaa"]), &Health::default(), &question, now);
        let routes = found.unwrap().routes;
        (routes[0].model.clone(), routes.len())
    };
    assert_eq!(first("{}", 1_000), ("small".to_owned(), 2));
    assert_eq!(first("{}", 3_000), ("large".to_owned(), 1), "it is too much for the other");
    assert_eq!(first("{}", 10_000), ("small".to_owned(), 2), "too much for both, so it is tried");
    let pdf = r#"{"file_data":"data:application/pdf;base64,AAAA"}"#;
    assert_eq!(first(pdf, 1_000), ("large".to_owned(), 1));
    let picture = r#"{"type":"image_url"}"#;
    assert_eq!(first(picture, 3_000), ("small".to_owned(), 1), "its bytes are not its tokens");
    let schema = r#"{"response_format":{"type":"json_schema"}}"#;
    assert_eq!(first(schema, 1_000), ("small".to_owned(), 1));
}

#[test]
fn it_is_told_why_nobody_can_answer() {
    let none = keys(&[]);
    assert_eq!(found(&none, &question("gpt-5")), Err(NoRoute::NoKey("openai".to_owned())));
    assert_eq!(found(&none, &question("nonsense")), Err(NoRoute::Unknown));
    let forced = Question { provider: Some("moon"), ..question("gpt-5") };
    assert_eq!(found(&none, &forced), Err(NoRoute::NoProvider));
}

#[test]
fn every_key_of_a_provider_is_a_way() {
    let mut two = keys(&["openai"]);
    two.add("openai", Key::new("sk-second").unwrap());
    assert_eq!(found(&two, &question("gpt-5")).unwrap().len(), 2);
}
