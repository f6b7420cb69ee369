//! What was measured, as a table or as JSON.

use std::fmt;

use serde::Serialize;

/// What a number must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bar {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
    /// Less than this.
    Below(f64),
}

impl Bar {
    fn is_met(self, measured: f64) -> bool {
        match self {
            Self::AtMost(most) => measured <= most,
            Self::AtLeast(least) => measured >= least,
            Self::Below(limit) => measured < limit,
        }
    }
}

/// One number.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    what: String,
    measured: f64,
    unit: &'static str,
    bar: Option<Bar>,
}

impl Row {
    /// Makes a number that is only told.
    pub(crate) fn told(what: impl Into<String>, measured: f64, unit: &'static str) -> Self {
        Self { what: what.into(), measured, unit, bar: None }
    }

    /// Adds what the number must be.
    pub(crate) fn bar(mut self, bar: Bar) -> Self {
        self.bar = Some(bar);
        self
    }

    /// Makes it a number that is only told.
    pub(crate) fn without_bar(mut self) -> Self {
        self.bar = None;
        self
    }

    fn is_met(&self) -> Option<bool> {
        // What is no number at all (0 / 0) meets nothing.
        self.bar.map(|bar| bar.is_met(self.measured))
    }

    fn cells(&self) -> [String; 4] {
        let verdict = match self.is_met() {
            None => "",
            Some(true) => "ok",
            Some(false) => "MISSED",
        };
        let bar = self.bar.map(|bar| match bar {
            Bar::AtMost(most) => format!("<= {}", number(most)),
            Bar::AtLeast(least) => format!(">= {}", number(least)),
            Bar::Below(limit) => format!("< {}", number(limit)),
        });
        [
            self.what.clone(),
            format!("{} {}", number(self.measured), self.unit),
            bar.unwrap_or_default(),
            verdict.to_owned(),
        ]
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [what, measured, bar, verdict] = self.cells();
        write!(f, "{what}: {} {bar} {verdict}", measured.trim_end())
    }
}

/// Writes a number with as many digits as say something.
fn number(value: f64) -> String {
    match value.abs() {
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        large if large >= 1_000.0 => format!("{value:.0}"),
        middle if middle >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// All that was measured.
#[derive(Debug, Default)]
pub(crate) struct Table {
    parts: Vec<(String, Vec<Row>)>,
}

#[derive(Serialize)]
struct Entry<'a> {
    part: &'a str,
    what: &'a str,
    measured: f64,
    unit: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bar: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
}

impl Table {
    /// Adds the numbers of one part.
    pub(crate) fn add(&mut self, part: String, rows: Vec<Row>) {
        self.parts.push((part, rows));
    }

    /// Tells whether no bar was missed.
    pub(crate) fn is_met(&self) -> bool {
        let mut rows = self.parts.iter().flat_map(|(_, rows)| rows);
        rows.all(|row| row.is_met() != Some(false))
    }

    /// Returns a table for people.
    pub(crate) fn text(&self) -> String {
        let head = ["part", "what", "measured", "bar", "verdict"].map(str::to_owned);
        let mut lines = vec![head];
        for (part, rows) in &self.parts {
            for row in rows {
                let [what, measured, bar, verdict] = row.cells();
                lines.push([part.clone(), what, measured, bar, verdict]);
            }
        }
        let mut widths = [0; 5];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let shown = lines.iter().map(|line| {
            let cells = line.iter().zip(widths);
            let cells: Vec<String> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
            cells.join("  ").trim_end().to_owned()
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    /// Returns all numbers for programs.
    pub(crate) fn json(&self) -> String {
        let mut entries = Vec::new();
        for (part, rows) in &self.parts {
            entries.extend(rows.iter().map(|row| {
                let [_, _, bar, _] = row.cells();
                Entry {
                    part,
                    what: &row.what,
                    measured: row.measured,
                    unit: row.unit,
                    bar: row.bar.map(|_| bar),
                    ok: row.is_met(),
                }
            }));
        }
        serde_json::to_string_pretty(&entries).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(measured: f64) -> Table {
        let mut table = Table::default();
        let rows = vec![
            Row::told("cost", 12.345, "us"),
            Row::told("ratio", measured, "x").bar(Bar::AtMost(3.0)),
        ];
        table.add("rest".to_owned(), rows);
        table
    }

    #[test]
    fn a_bar_is_met_up_to_its_edge() {
        assert!(table(3.0).is_met());
        assert!(!table(3.001).is_met());
        assert!(!table(f64::NAN).is_met());
        assert!(Bar::AtLeast(10.0).is_met(10.0) && !Bar::AtLeast(10.0).is_met(9.9));
        assert!(Bar::Below(10.0).is_met(9.9) && !Bar::Below(10.0).is_met(10.0));
    }

    #[test]
    fn people_and_programs_read_the_same() {
        let text = "part  what   measured  bar   verdict\n\
                    rest  cost   12.35 us\n\
                    rest  ratio  3.50 x    <= 3  MISSED";
        assert_eq!(table(3.5).text(), text);
        let json: serde_json::Value = serde_json::from_str(&table(3.5).json()).unwrap();
        assert_eq!(json[0]["measured"], 12.345);
        assert!(json[0].get("ok").is_none());
        assert_eq!(json[1]["ok"], false);
        assert_eq!(json[1]["bar"], "<= 3");
    }
}
