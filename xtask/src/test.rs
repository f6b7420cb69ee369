//! `cargo xtask test`: the plan of steps.

use std::process::ExitCode;

use crate::engines::Engines;
use crate::failure::{Failure, Result};
use crate::options::{Clients, Options};
use crate::provision;
use crate::report::{Done, Report, print_failure};
use crate::shop::Shop;
use crate::steps::{cargo, clients, e2e, fuzz, secrets, web};
use crate::tools;

/// Every step with the steps whose result it uses, in the order they run.
const STEPS: [(&str, &[&str]); 16] = [
    ("tools", &[]),
    ("services", &[]),
    ("python", &["services"]),
    ("fmt", &[]),
    ("web-install", &[]),
    ("web-check", &["web-install"]),
    ("web-test", &["web-install"]),
    ("web-build", &["web-install"]),
    ("clippy", &[]),
    ("build", &[]),
    ("tests", &["services", "build"]),
    ("secrets", &["services", "build", "tests"]),
    ("doc-tests", &[]),
    ("fuzz", &["services", "python", "build"]),
    ("clients", &["services", "build"]),
    ("e2e", &["services", "web-install", "web-build", "build"]),
];

/// Runs the steps until one fails; the last line printed is the count of tests.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if options.only.as_deref() == Some("list") {
        STEPS.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(ExitCode::SUCCESS);
    }
    let plan = Plan::of(options.only.as_deref())?;
    let shop = Shop::open(options.verbose)?;
    let mut report = Report::start();
    let result = plan.run(&shop, options.clients, &mut report);
    // Everything that still runs ends before the last word is said.
    drop(shop);
    let code = match &result {
        Ok(()) => ExitCode::SUCCESS,
        Err((step, failure)) => {
            let further = if options.clients == Clients::All { " --clients all" } else { "" };
            print_failure(failure, &format!("cargo xtask test --only {step}{further}"));
            ExitCode::FAILURE
        }
    };
    report.print();
    Ok(code)
}

/// Which steps are wanted.
struct Plan {
    steps: Vec<&'static str>,
}

type Stopped = (&'static str, Failure);

impl Plan {
    fn of(only: Option<&str>) -> Result<Self> {
        let Some(only) = only else {
            return Ok(Self { steps: STEPS.iter().map(|(name, _)| *name).collect() });
        };
        let Some((name, needs)) = STEPS.iter().find(|(name, _)| *name == only) else {
            return Err(Failure::new(format!("there is no step called {only}"))
                .hint("`cargo xtask test --only list` names them"));
        };
        Ok(Self { steps: needs.iter().copied().chain([*name]).collect() })
    }

    /// Runs a step if it is wanted; otherwise its result is the default.
    fn step<T: Default>(
        &self,
        report: &mut Report,
        name: &'static str,
        run: impl FnOnce() -> Result<(T, Done)>,
    ) -> std::result::Result<T, Stopped> {
        if !self.steps.contains(&name) {
            return Ok(T::default());
        }
        report.step(name, run).map_err(|failure| (name, failure))
    }

    fn run(
        &self,
        shop: &Shop,
        wanted: Clients,
        report: &mut Report,
    ) -> std::result::Result<(), Stopped> {
        let plain = |done: Result<Done>| done.map(|done| ((), done));
        self.step(report, "tools", || Ok(((), Done::noted(tools::check()?))))?;
        let binaries = self.step(report, "services", || provision::services(shop))?;
        let python =
            self.step(report, "python", || provision::python_tools(shop, &provision::FUZZER))?;
        self.step(report, "fmt", || plain(cargo::format(shop)))?;
        self.step(report, "web-install", || plain(web::install(shop)))?;
        self.step(report, "web-check", || plain(web::check(shop)))?;
        self.step(report, "web-test", || plain(web::test(shop)))?;
        self.step(report, "web-build", || plain(web::build(shop)))?;
        self.step(report, "clippy", || plain(cargo::lints(shop)))?;
        self.step(report, "build", || plain(cargo::build(shop)))?;
        self.step(report, "tests", || {
            let engines = Engines::start(&binaries)?;
            plain(cargo::tests(shop, &engines))
        })?;
        self.step(report, "secrets", || plain(secrets::nowhere(shop)))?;
        self.step(report, "doc-tests", || plain(cargo::doc_tests(shop)))?;
        self.step(report, "fuzz", || plain(fuzz::api(shop, python.as_ref())))?;
        self.step(report, "clients", || plain(clients::real(shop, wanted)))?;
        self.step(report, "e2e", || plain(e2e::journeys(shop)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_brings_what_it_needs_in_order() {
        assert_eq!(Plan::of(Some("fuzz")).unwrap().steps, ["services", "python", "build", "fuzz"]);
        assert_eq!(Plan::of(Some("fmt")).unwrap().steps, ["fmt"]);
        assert_eq!(Plan::of(None).unwrap().steps.len(), STEPS.len());
        assert!(Plan::of(Some("nothing")).is_err());
    }

    #[test]
    fn every_need_is_a_step_that_runs_earlier() {
        for (at, (name, needs)) in STEPS.iter().enumerate() {
            for need in *needs {
                let known = STEPS[..at].iter().any(|(earlier, _)| earlier == need);
                assert!(known, "{name} needs {need}");
            }
        }
    }
}
