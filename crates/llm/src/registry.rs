//! Which models there are, what they can do, and what they cost.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::civil::Date;
use serde::Deserialize;

use crate::{Tier, Usage};

/// What comes with the program.
const BUILT_IN: &str = include_str!("../data/models.toml");

/// Something that a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ability {
    /// It calls tools.
    Tools,
    /// It sees images.
    Vision,
    /// It thinks before it answers.
    Reasoning,
    /// It answers by a schema.
    Json,
    /// It remembers the beginning of a prompt.
    Caching,
    /// It reads PDF files.
    Pdf,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its name, as its provider calls it.
    pub name: String,
    /// The provider that answers for it.
    pub provider: String,
    /// Other names for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// How many tokens of input it takes.
    pub context: Option<u64>,
    /// How many tokens of output it makes at most.
    pub output: Option<u64>,
    /// What it can do.
    #[serde(default)]
    pub can: Vec<Ability>,
    /// What it costs.
    #[serde(default)]
    pub prices: Vec<Price>,
}

/// What tokens cost from some day on: dollars for a million of them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The first day on which it counts.
    pub from: Option<Date>,
    /// It counts only for requests with more tokens of input than this.
    #[serde(default)]
    pub above: u64,
    /// It counts only for requests that were served like this.
    #[serde(default)]
    pub tier: Tier,
    /// For input.
    pub input: f64,
    /// For output.
    pub output: f64,
    /// For output that is reasoning; else as much as any output.
    pub reasoning: Option<f64>,
    /// For input from a cache; else as much as any input.
    pub cache_read: Option<f64>,
    /// For input to a cache for five minutes; else as much as any input.
    pub cache_write_5m: Option<f64>,
    /// For input to a cache for an hour; else as much as for five minutes.
    pub cache_write_1h: Option<f64>,
    /// For each call of a tool of the provider, in dollars.
    #[serde(default)]
    pub server_tool: f64,
    /// How many times as much tokens cost that are served later.
    pub flex: Option<f64>,
    /// How many times as much tokens cost that are served before others.
    pub priority: Option<f64>,
    /// How many times as much tokens cost that are asked for many together.
    pub batch: Option<f64>,
    /// How many times as much tokens cost of a machine that is faster.
    pub fast: Option<f64>,
    /// How many times as much tokens cost of the fastest machine.
    pub ultrafast: Option<f64>,
    /// What it is called where it is told by which price something was paid.
    #[serde(skip)]
    pub label: Arc<str>,
}

/// A price of a million tokens in dollars, as micro-dollars.
fn micros(dollars: f64) -> u128 {
    (dollars * 1e6).round() as u128
}

impl Price {
    /// Says from when on it counts, what input and output cost, and above how much input.
    fn labelled(&self) -> Arc<str> {
        let from = self.from.map(|from| format!("{from} ")).unwrap_or_default();
        let above = Some(self.above).filter(|above| *above > 0);
        let above = above.map(|above| format!(" above {above}")).unwrap_or_default();
        let tier = Some(self.tier).filter(|tier| *tier != Tier::Standard);
        let tier = tier.map(|tier| format!(" {}", tier.as_str())).unwrap_or_default();
        format!("{from}${}/${}{above}{tier}", self.input, self.output).into()
    }

    /// Returns how many times as much a tier costs, if that is known.
    const fn times(&self, tier: Tier) -> Option<f64> {
        match tier {
            Tier::Standard => Some(1.0),
            Tier::Flex => self.flex,
            Tier::Priority => self.priority,
            Tier::Batch => self.batch,
            Tier::Fast => self.fast,
            Tier::Ultrafast => self.ultrafast,
            Tier::Other => None,
        }
    }

    /// Returns the price of tokens that are served in a tier; tools cost the same in all of them.
    fn in_tier(&self, tier: Tier) -> Option<Self> {
        let times = self.times(tier)?;
        let by = |dollars: f64| (dollars * times * 1e6).round() / 1e6;
        let mut price = Self {
            tier,
            input: by(self.input),
            output: by(self.output),
            reasoning: self.reasoning.map(by),
            cache_read: self.cache_read.map(by),
            cache_write_5m: self.cache_write_5m.map(by),
            cache_write_1h: self.cache_write_1h.map(by),
            ..self.clone()
        };
        price.label = price.labelled();
        Some(price)
    }

    /// Returns what output costs at most: all of it may be reasoning.
    pub fn dearest_output(&self) -> f64 {
        self.reasoning.map_or(self.output, |reasoning| reasoning.max(self.output))
    }

    /// Returns what a request would have cost more, had no cache known or kept any of its input.
    pub fn saved_by_cache(&self, usage: &Usage) -> i64 {
        let input = usage.input_all();
        if input == usage.input {
            return 0;
        }
        let plain = Usage { input, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, ..*usage };
        self.cost(&plain) - self.cost(usage)
    }

    /// Returns what a request costs in micro-dollars, rounded to the nearest.
    pub fn cost(&self, usage: &Usage) -> i64 {
        let write_5m = self.cache_write_5m.unwrap_or(self.input);
        let reasoning = usage.reasoning.min(usage.output);
        let parts = [
            (usage.input, self.input),
            (usage.cache_read, self.cache_read.unwrap_or(self.input)),
            (usage.cache_write_5m, write_5m),
            (usage.cache_write_1h, self.cache_write_1h.unwrap_or(write_5m)),
            (usage.output - reasoning, self.output),
            (reasoning, self.reasoning.unwrap_or(self.output)),
        ];
        // Most kinds are not used by most requests, and each is counted several times a request.
        let sum_of = |(tokens, price): &(u64, f64)| match tokens {
            0 => 0,
            tokens => u128::from(*tokens) * micros(*price),
        };
        let sum: u128 = parts.iter().map(sum_of).sum();
        let tools = sum_of(&(usage.server_tools, self.server_tool));
        i64::try_from((sum + 500_000) / 1_000_000 + tools).unwrap_or(i64::MAX)
    }
}

impl Model {
    /// Returns what counts for a request on a day, by how much input it has, if it is served as usual.
    pub fn price(&self, on: Date, input: u64) -> Option<&Price> {
        self.listed(on, input, Tier::Standard)
    }

    /// Returns what counts for a request on a day, by what it used and how it was served. A tier that
    /// the list does not price has no price: what it costs is not known, and not the usual either.
    pub fn price_of(&self, on: Date, usage: &Usage) -> Option<Price> {
        let input = usage.input_all();
        let usual = self.price(on, input);
        if usage.tier == Tier::Standard {
            return usual.cloned();
        }
        // A price of its own counts if it knows of the step that was reached.
        let step = usual.map_or(0, |usual| usual.above);
        let own = self.listed(on, input, usage.tier).filter(|own| own.above >= step);
        own.cloned().or_else(|| usual?.in_tier(usage.tier))
    }

    fn listed(&self, on: Date, input: u64, tier: Tier) -> Option<&Price> {
        let counts = |price: &&Price| {
            price.tier == tier
                && price.from.is_none_or(|from| from <= on)
                && (price.above == 0 || input > price.above)
        };
        // The step that was reached counts first, then the newest price of that step.
        self.prices.iter().filter(counts).max_by_key(|price| (price.above, price.from))
    }

    /// Tells whether it can do all of this.
    pub fn can_all(&self, needs: &[Ability]) -> bool {
        needs.iter().all(|need| self.can.contains(need))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(default)]
    model: Vec<Model>,
}

/// All models that are known.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    /// By name and by alias, each for a provider.
    models: HashMap<String, Vec<Arc<Model>>>,
    all: Vec<Arc<Model>>,
}

/// A list of models that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the list of models cannot be read: {0}")]
pub struct BadList(String);

impl Registry {
    /// Reads what comes with the program, and then what the user says.
    ///
    /// # Errors
    /// If the user's list makes no sense.
    pub fn with(own: Option<&str>) -> Result<Self, BadList> {
        let mut all = read(BUILT_IN)?;
        if let Some(own) = own {
            for model in read(own)? {
                let same =
                    |known: &Model| known.name == model.name && known.provider == model.provider;
                all.retain(|known| !same(known));
                all.push(model);
            }
        }
        let mut registry = Self::default();
        // Later ones are the user's and are found first.
        for model in all.into_iter().rev().map(Arc::new) {
            for name in std::iter::once(&model.name).chain(&model.aliases) {
                registry.models.entry(name.clone()).or_default().push(Arc::clone(&model));
            }
            registry.all.push(model);
        }
        registry.all.sort_by(|a, b| (&a.provider, &a.name).cmp(&(&b.provider, &b.name)));
        Ok(registry)
    }

    /// Returns the models with this name or alias, the user's own first.
    pub fn named(&self, name: &str) -> &[Arc<Model>] {
        self.models.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns a model of one provider.
    pub fn of(&self, provider: &str, name: &str) -> Option<&Arc<Model>> {
        self.named(name).iter().find(|model| model.provider == provider)
    }

    /// Returns all models, by provider and name.
    pub fn all(&self) -> &[Arc<Model>] {
        &self.all
    }
}

fn read(text: &str) -> Result<Vec<Model>, BadList> {
    let mut listed: Listed = toml::from_str(text).map_err(|error| BadList(error.to_string()))?;
    for price in listed.model.iter_mut().flat_map(|model| &mut model.prices) {
        price.label = price.labelled();
    }
    let sane = |price: &Price| {
        let all = [
            Some(price.input),
            Some(price.output),
            price.reasoning,
            price.cache_read,
            price.cache_write_5m,
            price.cache_write_1h,
            Some(price.server_tool),
        ];
        all.into_iter().flatten().all(|dollars| (0.0..=1e6).contains(&dollars))
    };
    let times = |price: &Price| {
        let mut all = Tier::PRICED.into_iter().filter_map(|tier| price.times(tier));
        all.all(|times| (0.0..=1e3).contains(&times))
    };
    for model in &listed.model {
        if model.name.is_empty() || model.provider.is_empty() {
            return Err(BadList("a model needs a name and a provider".to_owned()));
        }
        if !model.prices.iter().all(sane) {
            return Err(BadList(format!(
                "a price of {} is not between 0 and 1,000,000 dollars for a million tokens",
                model.name
            )));
        }
        if !model.prices.iter().all(times) {
            return Err(BadList(format!(
                "a tier of {} does not cost between 0 and 1,000 times as much as usual",
                model.name
            )));
        }
    }
    Ok(listed.model)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn what_comes_with_the_program_can_be_read_and_has_prices() {
        let registry = Registry::with(None).unwrap();
        assert!(registry.all().len() > 100);
        for model in registry.all() {
            assert!(!model.prices.is_empty() && model.output.is_some(), "{}", model.name);
        }
        let sonnet = registry.of("anthropic", "claude-sonnet-4-5-20250929").unwrap();
        assert_eq!(sonnet.name, "claude-sonnet-4-5");
        assert!(sonnet.can_all(&[Ability::Tools, Ability::Vision]));
    }

    #[test]
    fn a_request_costs_to_the_micro_dollar_what_its_kinds_of_tokens_cost() {
        let registry = Registry::with(None).unwrap();
        let sonnet = registry.of("anthropic", "claude-sonnet-4-5").unwrap();
        let usage = Usage {
            input: 1_000,
            cache_read: 10_000,
            cache_write_5m: 2_000,
            cache_write_1h: 100,
            output: 333,
            ..Usage::default()
        };
        let price = sonnet.price(date(2026, 11, 15), usage.input_all()).unwrap();
        // 3,000 + 3,000 + 7,500 + 600 + 4,995 millionths.
        assert_eq!(price.cost(&usage), 19_095);
        assert_eq!(price.cost(&Usage { input: 1, ..Usage::default() }), 3);
        // Without a cache all 13,100 tokens of input had cost 39,300.
        assert_eq!(price.saved_by_cache(&usage), 39_300 - 14_100);
        let written = Usage { cache_write_5m: 1_000, ..Usage::default() };
        assert_eq!(price.saved_by_cache(&written), -750, "what is written and never read");
        assert_eq!(price.saved_by_cache(&Usage { input: 9, output: 9, ..Usage::default() }), 0);
        let free = Price { input: 0.1, ..price.clone() };
        assert_eq!(free.cost(&Usage { input: 4, ..Usage::default() }), 0, "0.4 is nearer to 0");
        assert_eq!(free.cost(&Usage { input: 5, ..Usage::default() }), 1, "0.5 is rounded up");
    }

    #[test]
    fn a_tier_costs_what_the_list_says_of_it_and_one_that_it_does_not_name_is_not_known() {
        let own = r#"
            [[model]]
            name = "m"
            provider = "p"
            prices = [
                { input = 1.0, output = 8.0, cache_read = 0.1, reasoning = 10.0, server_tool = 0.01, flex = 0.5, fast = 1.7 },
                { tier = "priority", input = 2.5, output = 20.0 },
                { above = 1000, input = 2.0, output = 12.0, flex = 0.5 },
                { from = "2027-01-01", input = 3.0, output = 8.0, flex = 0.25 },
            ]
        "#;
        let registry = Registry::with(Some(own)).unwrap();
        let model = registry.of("p", "m").unwrap();
        let told = |day, input, tier| {
            let usage = Usage { input, tier, ..Usage::default() };
            model.price_of(day, &usage).map(|price| price.label.to_string())
        };
        let day = date(2026, 11, 15);
        assert_eq!(told(day, 10, Tier::Standard).as_deref(), Some("$1/$8"));
        assert_eq!(told(day, 10, Tier::Flex).as_deref(), Some("$0.5/$4 flex"));
        assert_eq!(told(day, 10, Tier::Fast).as_deref(), Some("$1.7/$13.6 fast"));
        assert_eq!(told(day, 10, Tier::Priority).as_deref(), Some("$2.5/$20 priority"));
        assert_eq!(told(day, 1_001, Tier::Flex).as_deref(), Some("$1/$6 above 1000 flex"));
        assert_eq!(told(day, 1_001, Tier::Priority), None, "this step is not known of it");
        assert_eq!(
            told(date(2027, 1, 1), 10, Tier::Flex).as_deref(),
            Some("2027-01-01 $0.75/$2 flex")
        );
        for tier in [Tier::Batch, Tier::Ultrafast, Tier::Other] {
            assert_eq!(told(day, 10, tier), None, "{tier:?}");
        }
        let usage = Usage {
            input: 100,
            cache_read: 1_000,
            output: 50,
            reasoning: 20,
            server_tools: 2,
            tier: Tier::Flex,
            ..Usage::default()
        };
        let cost = |tier| {
            let usage = Usage { tier, ..usage };
            model.price_of(day, &usage).map(|price| price.cost(&usage))
        };
        // 200 + 200 + 360 + 400 above a thousand tokens of input, where reasoning has no price of its own.
        assert_eq!(cost(Tier::Standard), Some(200 + 2_000 + 50 * 12));
        assert_eq!(cost(Tier::Flex), Some(100 + 1_000 + 50 * 6));
        let small = Usage { cache_read: 100, ..usage };
        let cost = |tier| {
            let small = Usage { tier, ..small };
            model.price_of(day, &small).map(|price| price.cost(&small))
        };
        assert_eq!(cost(Tier::Standard), Some(100 + 10 + 30 * 8 + 20 * 10 + 20_000));
        assert_eq!(cost(Tier::Flex), Some((100 + 10 + 30 * 8 + 20 * 10) / 2 + 20_000));
        for bad in ["flex = -0.5", "fast = 1001.0", "reasoning = -1.0", "tier = \"cheap\""] {
            let own = format!(
                "[[model]]\nname = \"x\"\nprovider = \"p\"\nprices = [{{ input = 1.0, output = 1.0, {bad} }}]"
            );
            assert!(Registry::with(Some(&own)).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_comes_with_the_program_prices_the_tiers_that_providers_sell() {
        let registry = Registry::with(None).unwrap();
        let told = |provider: &str, name: &str, tier| {
            let usage = Usage { input: 10, tier, ..Usage::default() };
            let model = registry.of(provider, name).unwrap();
            model.price_of(date(2026, 11, 15), &usage).map(|price| price.label.to_string())
        };
        for (provider, name, tier, label) in [
            ("openai", "gpt-5", Tier::Flex, Some("$0.625/$5 flex")),
            ("openai", "gpt-5", Tier::Priority, Some("$2.5/$20 priority")),
            ("openai", "gpt-4o-mini", Tier::Priority, Some("$0.25/$1 priority")),
            ("openai", "gpt-5-nano", Tier::Priority, None),
            ("anthropic", "claude-opus-4-8", Tier::Fast, Some("$10/$50 fast")),
            ("anthropic", "claude-sonnet-4-5", Tier::Fast, None),
            ("anthropic", "claude-sonnet-4-5", Tier::Batch, Some("$1.5/$7.5 batch")),
            ("anthropic", "claude-sonnet-4-5", Tier::Priority, Some("$3/$15 priority")),
            ("google", "gemini-2.5-pro", Tier::Flex, Some("$0.625/$5 flex")),
            ("google", "gemini-2.5-pro", Tier::Priority, Some("$2.25/$18 priority")),
        ] {
            assert_eq!(told(provider, name, tier).as_deref(), label, "{name} {tier:?}");
        }
    }

    #[test]
    fn the_users_own_word_counts_and_a_price_counts_from_its_day_on() {
        let own = r#"
            [[model]]
            name = "gpt-5"
            provider = "openai"
            prices = [
                { input = 1.0, output = 2.0 },
                { from = "2026-12-01", input = 5.0, output = 6.0 },
                { above = 1000, input = 9.0, output = 9.0 },
            ]
            [[model]]
            name = "llama"
            provider = "local"
        "#;
        let registry = Registry::with(Some(own)).unwrap();
        let gpt = registry.of("openai", "gpt-5").unwrap();
        let input = |day, tokens| gpt.price(day, tokens).unwrap().input;
        assert_eq!(input(date(2026, 11, 30), 10), 1.0);
        assert_eq!(input(date(2026, 12, 1), 10), 5.0);
        assert_eq!(input(date(2026, 12, 1), 1_001), 9.0);
        let label = |day, tokens| gpt.price(day, tokens).unwrap().label.to_string();
        assert_eq!(label(date(2026, 11, 30), 10), "$1/$2");
        assert_eq!(label(date(2026, 12, 1), 10), "2026-12-01 $5/$6");
        assert_eq!(label(date(2026, 12, 1), 1_001), "$9/$9 above 1000");
        let llama = registry.of("local", "llama").unwrap();
        assert_eq!(llama.price(date(2026, 1, 1), 1), None, "unknown, not free");
        assert_eq!(
            registry.named("gpt-5").len(),
            1,
            "the one that comes with the program is replaced"
        );
        for bad in [
            "[[model]]\nname = \"x\"",
            "x = 1",
            "[[model]]\nname = \"x\"\nprovider = \"p\"\nprices = [{ input = -1.0, output = 0.0 }]",
        ] {
            assert!(Registry::with(Some(bad)).is_err(), "{bad}");
        }
    }
}
