//! The one place that writes to the terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use clap::builder::styling::{AnsiColor, Style};
use clap::error::ErrorKind;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use godel_model::{Report as _, code};
use serde::Serialize;
use serde_json::json;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::error::{Error, Result, root_cause};
use crate::exit::Exit;

/// Green, for what is well.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Yellow, for what deserves a look.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Red, for what is wrong.
pub const BAD: Style = AnsiColor::Red.on_default();
/// Bold, for what matters most.
pub const STRONG: Style = Style::new().bold();

/// Wraps text in a style; stripped again where colours are not wanted.
pub fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Writes answers to stdout and everything else to stderr.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    json: bool,
}

impl Output {
    /// Chooses between text for people and JSON for programs, and whether colours may be used.
    pub fn new(json: bool, no_color: bool) -> Self {
        if no_color {
            anstream::ColorChoice::Never.write_global();
        }
        Self { json }
    }

    /// Tells whether answers are JSON.
    pub fn is_json(self) -> bool {
        self.json
    }

    /// Writes a line of the answer.
    pub fn line(self, text: impl Display) -> Result<()> {
        self.text(format_args!("{text}\n"))
    }

    /// Writes a part of the answer as it is.
    pub fn text(self, text: impl Display) -> Result<()> {
        let mut stdout = anstream::stdout().lock();
        let written = write!(stdout, "{text}").and_then(|()| stdout.flush());
        written.map_err(|cause| match cause.kind() {
            io::ErrorKind::BrokenPipe => Error::Closed,
            _ => Error::file("stdout", "written", cause),
        })
    }

    /// Returns stdout for bytes that are no text; a terminal is refused.
    pub fn raw(self) -> Result<io::Stdout> {
        if io::stdout().is_terminal() {
            return Err(Error::usage(
                "this is no text for a terminal",
                "name a file, or send it into a pipe",
            ));
        }
        Ok(io::stdout())
    }

    /// Writes the answer as one line of JSON.
    pub fn value(self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value)
            .map_err(|cause| Error::file("the answer", "written as JSON", cause.into()))?;
        self.line(text)
    }

    /// Writes rows in columns.
    pub fn table<const N: usize>(self, header: [&str; N], rows: Vec<[String; N]>) -> Result<()> {
        self.line(columns(Some(header), rows))
    }

    /// Writes rows in as many columns as there are names; those in `right` hold numbers.
    pub fn numbers(
        self,
        header: Vec<String>,
        rows: Vec<Vec<String>>,
        right: std::ops::Range<usize>,
    ) -> Result<()> {
        let mut table = table(Some(header), rows);
        for column in table.column_iter_mut().take(right.end).skip(right.start) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        self.line(table.trim_fmt())
    }

    /// Writes lines of comma-separated values.
    pub fn csv(self, lines: &[Vec<String>]) -> Result<()> {
        self.text(csv(lines))
    }

    /// Writes rows in columns; the last one is cut so that each row fits on a line of the terminal.
    pub fn listing<const N: usize>(
        self,
        header: [&str; N],
        mut rows: Vec<[String; N]>,
    ) -> Result<()> {
        if let Some(width) = self.width() {
            fit(&header, &mut rows, width);
        }
        self.table(header, rows)
    }

    /// Writes rows as a listing, the cells of one column in the colours of what they say.
    pub fn painted<const N: usize>(
        self,
        header: [&str; N],
        mut rows: Vec<[String; N]>,
        (column, colour): (usize, impl Fn(&str) -> Style),
    ) -> Result<()> {
        if let Some(width) = self.width() {
            fit(&header, &mut rows, width);
        }
        let cells: Vec<String> = rows.iter().map(|row| plain(&row[column])).collect();
        let widths = (0..column).map(|before| {
            let cells = rows.iter().map(|row| plain(&row[before]).width());
            cells.chain([header[before].len()]).max().unwrap_or_default() + 2
        });
        let from = widths.sum();
        let text = columns(Some(header), rows);
        let mut lines = text.lines();
        self.line(lines.next().unwrap_or_default())?;
        lines
            .zip(cells)
            .try_for_each(|(line, cell)| self.line(paint(line, from, &cell, colour(&cell))))
    }

    /// Writes rows in columns without a header, cut as those of a listing.
    pub fn bare<const N: usize>(self, rows: &mut [[String; N]]) -> Result<()> {
        if let Some(width) = self.width() {
            fit(&[""; N], rows, width);
        }
        self.line(columns(None, rows.to_vec()))
    }

    /// Returns how many characters fit on a line, if there is a terminal.
    pub fn width(self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|width| *width > 0)
    }

    /// Returns how many characters and lines there are, if a picture can be drawn over itself.
    pub fn screen(self) -> Option<(usize, usize)> {
        let stdout = io::stdout();
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        // Where no colours are wanted, what moves the cursor is taken out as well.
        let strips = anstream::AutoStream::choice(&stdout) == anstream::ColorChoice::Never;
        if self.json || dumb || strips || !stdout.is_terminal() {
            return None;
        }
        let size = rustix::termios::tcgetwinsize(stdout).ok()?;
        let (width, height) = (usize::from(size.ws_col), usize::from(size.ws_row));
        Some((width, height)).filter(|(width, height)| *width > 0 && *height > 1)
    }

    /// Draws lines in place of the last so many, each at most as wide as the terminal.
    pub fn redraw(self, before: usize, lines: &[String]) -> Result<()> {
        let up = if before > 0 { format!("\x1b[{before}A\r\x1b[J") } else { String::new() };
        self.text(format_args!("{up}{}\n", lines.join("\n")))
    }

    /// Writes a text that others wrote, a little to the right.
    pub fn quote(self, text: &str) -> Result<()> {
        text.lines().try_for_each(|line| {
            let line = plain(&line.replace('\t', "    "));
            self.line(format_args!("  {line}").to_string().trim_end())
        })
    }

    /// Writes names and values in two columns, a little to the right.
    pub fn pairs(self, rows: Vec<[String; 2]>) -> Result<()> {
        let text = columns(None, rows);
        text.lines().try_for_each(|line| self.line(format_args!("  {line}")))
    }

    /// Tells a person what is going on; programs that read the answer do not see it.
    pub fn note(self, text: impl Display) {
        // A note that nobody can read is no reason to fail.
        writeln!(anstream::stderr().lock(), "{text}").ok();
    }

    /// Asks a person for something, on the same line as the answer.
    pub fn ask(self, question: &str) {
        let mut stderr = anstream::stderr().lock();
        // A question that nobody can read gets no answer; the reading finds out.
        write!(stderr, "{question}").and_then(|()| stderr.flush()).ok();
    }

    /// Tells what is going on, if a person is watching.
    pub fn remark(self, text: impl Display) {
        if io::stderr().is_terminal() && !self.json {
            self.note(text);
        }
    }

    /// Writes a failure, and returns how to end.
    pub fn failure(self, error: &Error) -> Exit {
        if matches!(error, Error::Closed) {
            return Exit::Done;
        }
        if self.json {
            self.note(failure_json(error));
        } else {
            self.note(failure_text(error));
        }
        error.kind().into()
    }

    /// Writes help, a version or what is wrong with the arguments, and returns how to end.
    pub fn usage(self, usage: &clap::Error) -> Exit {
        let asked = matches!(usage.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        if asked || !self.json {
            // Help into a closed pipe is no failure.
            usage.print().ok();
        } else {
            let text = usage.render().to_string();
            let message = text.trim().trim_start_matches("error: ");
            let (message, _) = message.split_once("\n\n").unwrap_or((message, ""));
            let hint = "`godel --help` shows how the command is used";
            self.note(body(code::INVALID_REQUEST.name(), message, Some(hint.to_owned()), None));
        }
        if asked { Exit::Done } else { Exit::Usage }
    }
}

fn columns<const N: usize>(header: Option<[&str; N]>, rows: Vec<[String; N]>) -> String {
    let header = header.map(|header| header.map(ToOwned::to_owned).to_vec());
    table(header, rows.into_iter().map(Vec::from).collect()).trim_fmt()
}

fn table(header: Option<Vec<String>>, rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    if let Some(header) = header {
        table.set_header(header);
    }
    table.add_rows(
        rows.into_iter().map(|row| row.iter().map(|cell| plain(cell)).collect::<Vec<_>>()),
    );
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// Writes values as RFC 4180 has it; a text that a table program would take for a formula gets a
/// mark in front.
pub fn csv(lines: &[Vec<String>]) -> String {
    let field = |field: &String| {
        let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let mark = if formula && field.parse::<f64>().is_err() { "'" } else { "" };
        match field.contains([',', '"', '\n', '\r']) {
            true => format!("\"{mark}{}\"", field.replace('"', "\"\"")),
            false => format!("{mark}{field}"),
        }
    };
    let line = |line: &Vec<String>| line.iter().map(field).collect::<Vec<_>>().join(",") + "\r\n";
    lines.iter().map(line).collect()
}

/// What a title gets on the narrowest terminal.
const CUT_MIN_WIDTH: usize = 20;

/// Cuts the last column so that the whole row is at most so wide.
fn fit<const N: usize>(header: &[&str; N], rows: &mut [[String; N]], width: usize) {
    let others = (0..N.saturating_sub(1)).map(|column| {
        let cells = rows.iter().map(|row| row[column].width());
        cells.chain([header[column].len()]).max().unwrap_or_default() + 2
    });
    let room = width.saturating_sub(others.sum()).max(CUT_MIN_WIDTH);
    for row in rows {
        if let Some(last) = row.last_mut() {
            *last = cut(last, room);
        }
    }
}

/// Colours the text that begins at a column of a line.
fn paint(line: &str, from: usize, text: &str, style: Style) -> String {
    let mut width = 0;
    let begins = |(_, char): &(usize, char)| {
        let is_there = width >= from;
        width += char.width().unwrap_or(0);
        is_there
    };
    let start = line.char_indices().find(begins).map_or(line.len(), |(at, _)| at);
    match line[start..].strip_prefix(text) {
        Some(rest) => format!("{}{}{rest}", &line[..start], styled(style, text)),
        None => line.to_owned(),
    }
}

/// Cuts a text to a width, with a mark that something is missing.
pub fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |char: &char| {
        used += char.width().unwrap_or(1);
        used <= room
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Takes out what would move the cursor, change colours or turn the direction of writing around:
/// other people chose some of the texts.
pub fn plain(text: &str) -> String {
    let bad = |char: char| {
        char.is_control() || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if bad(c) { '\u{fffd}' } else { c }).collect()
}

fn failure_text(error: &Error) -> String {
    let mut text = format!("{} {error}", styled(BAD.bold(), "error:"));
    if let Some(cause) = root_cause(error) {
        text.push_str(&format!("\n  cause: {cause}"));
    }
    if let Some(hint) = error.hint() {
        let lines: Vec<&str> = hint.lines().collect();
        text.push_str(&format!("\n  hint: {}", lines.join("\n        ")));
    }
    text.push_str(&format!("\n  more: godel explain {}", error.code()));
    text
}

fn failure_json(error: &Error) -> String {
    let details = root_cause(error).map(|cause| json!({ "cause": cause }));
    body(error.code().name(), &error.to_string(), error.hint(), details)
}

fn body(
    code: &str,
    message: &str,
    hint: Option<String>,
    details: Option<serde_json::Value>,
) -> String {
    let (code, message) = (code.to_owned(), message.to_owned());
    let error = godel_api::ErrorBody { code, message, hint, field: None, details };
    json!({ "success": false, "error": error }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_why_and_what_next() {
        let error = Error::file("/tmp/x", "read", io::Error::other("no luck"));
        let text = anstream::adapter::strip_str(&failure_text(&error)).to_string();
        assert_eq!(
            text,
            "error: /tmp/x could not be read\n  cause: no luck\n  \
             hint: check that it exists and that you may use it\n  more: godel explain file_failed"
        );
        let body: serde_json::Value = serde_json::from_str(&failure_json(&error)).unwrap();
        assert_eq!(body["success"], false);
        assert_eq!(body["error"]["code"], "file_failed");
        assert_eq!(body["error"]["details"]["cause"], "no luck");
    }

    #[test]
    fn columns_are_aligned_without_blanks_at_the_end() {
        let rows = vec![["a".to_owned(), "b".to_owned()], ["long".to_owned(), String::new()]];
        assert_eq!(columns(Some(["X", "Y"]), rows), "X     Y\na     b\nlong");
    }

    #[test]
    fn only_the_cell_that_is_meant_is_coloured() {
        let rows = vec![["日本".to_owned(), "failed".to_owned(), "failed".to_owned()]];
        let line = columns(None, rows);
        let painted = paint(&line, 6, "failed", BAD);
        assert_eq!(painted, format!("日本  {}  failed", styled(BAD, "failed")));
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), line);
        assert_eq!(paint("short", 9, "x", BAD), "short");
    }

    #[test]
    fn values_with_commas_quotes_and_formulas_stay_what_they_are() {
        let line = ["a,b", "say \"x\"", "=1+1", "-1.5", "-x", "two\nlines", ""];
        assert_eq!(
            csv(&[line.map(ToOwned::to_owned).to_vec()]),
            "\"a,b\",\"say \"\"x\"\"\",'=1+1,-1.5,'-x,\"two\nlines\",\r\n"
        );
    }

    #[test]
    fn a_long_title_is_cut_to_the_line() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("a longer title", 9), "a longer…");
        assert_eq!(cut("日本語の題", 6), "日本…");
        let mut rows = vec![["ab".to_owned(), "x".repeat(100)]];
        fit(&["ID", "TITLE"], &mut rows, 40);
        assert_eq!(rows[0][1].chars().count(), 36);
    }

    #[test]
    fn what_others_wrote_cannot_command_a_terminal() {
        let rows = vec![["a\u{1b}[2Jb\nc".to_owned()]];
        assert_eq!(columns(None, rows), "a\u{fffd}[2Jb\u{fffd}c");
    }
}
