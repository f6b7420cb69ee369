//! The file: a header, rows in compressed chunks, a trailer, and a SHA-256 over all of it.
//!
//! ```text
//! "GODELBK" and one byte for the version of the format
//! frames    kind (1), size unpacked (4), size stored (4), content
//!   'H'     the header, JSON
//!   'R'     rows of one table, zlib: table (4), rows (4), then the values of each row
//!   'E'     the trailer, JSON: how many rows each table has
//! SHA-256 of everything before it, and nothing behind it
//! ```
//!
//! A value is one byte for what it is and its content. Numbers of four bytes are little endian.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::statement::Param;
use crate::{Error, Result};

pub(super) const MAGIC: &[u8; 7] = b"GODELBK";
pub(super) const FORMAT: u8 = 1;
pub(super) const HEADER: u8 = b'H';
pub(super) const ROWS: u8 = b'R';
pub(super) const TRAILER: u8 = b'E';
/// A chunk ends with the row that makes it as large as this.
const CHUNK_BYTES: usize = 256 * 1024;
/// How large a chunk may be, which is how large a single row may be.
pub(super) const CHUNK_MAX_BYTES: usize = 256 * 1024 * 1024;
/// Table and number of rows, at the start of a chunk.
pub(super) const CHUNK_HEAD: usize = 8;

const NULL: u8 = 0;
const INT: u8 = 1;
const TEXT: u8 = 2;
const BYTES: u8 = 3;
const UUID: u8 = 4;

/// What a column holds, on every engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Int,
    Bool,
    Text,
    Bytes,
    Uuid,
}

impl Kind {
    /// Understands a type as either engine names it.
    pub(crate) fn of(table: &str, column: &str, declared: &str) -> Result<Self> {
        let plain = declared.to_ascii_lowercase();
        let plain = plain.split('(').next().unwrap_or_default().trim();
        Ok(match plain {
            "bigint" | "integer" | "int" | "smallint" => Self::Int,
            "boolean" | "bool" => Self::Bool,
            "text" | "character varying" | "varchar" => Self::Text,
            "bytea" | "blob" => Self::Bytes,
            "uuid" => Self::Uuid,
            _ => {
                let cause = format!("{table}.{column} has the type {declared}").into();
                return Err(Error::Unreadable { what: "column for the backup", cause });
            }
        })
    }

    const fn tag(self) -> u8 {
        match self {
            Self::Int | Self::Bool => INT,
            Self::Text => TEXT,
            Self::Bytes => BYTES,
            Self::Uuid => UUID,
        }
    }
}

/// A column and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// A table and its columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
}

/// What a backup is of.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Header {
    /// The version of the Godel that made it.
    pub(crate) godel: String,
    pub(crate) engine: String,
    pub(crate) made_at: Timestamp,
    /// The version of the schema.
    pub(crate) schema: i64,
    /// The migrations that made the schema: version and checksum.
    pub(crate) migrations: Vec<(i64, String)>,
    pub(crate) tables: Vec<Table>,
}

/// What must have come before the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trailer {
    /// How many rows each table of the header has.
    pub(super) rows: Vec<u64>,
}

/// Writes a backup, chunk by chunk: its memory does not grow with the database.
pub(crate) struct Writer<W> {
    sink: W,
    hash: Sha256,
    rows: Vec<u64>,
    table: usize,
    chunk: Vec<u8>,
    chunk_rows: u32,
    encoder: ZlibEncoder<Vec<u8>>,
    bytes: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a backup with its header.
    pub(crate) fn begin(sink: W, header: &Header) -> Result<Self> {
        let mut writer = Self {
            sink,
            hash: Sha256::new(),
            rows: vec![0; header.tables.len()],
            table: 0,
            chunk: vec![0; CHUNK_HEAD],
            chunk_rows: 0,
            // The cheapest level: a backup must not take the processor away from writers.
            encoder: ZlibEncoder::new(Vec::new(), Compression::fast()),
            bytes: 0,
        };
        writer.put(&[MAGIC.as_slice(), &[FORMAT]].concat())?;
        writer.put_json(HEADER, header)?;
        Ok(writer)
    }

    /// Goes to a table of the header.
    pub(crate) fn table(&mut self, index: usize) -> Result<()> {
        self.flush()?;
        self.table = index;
        Ok(())
    }

    /// Adds a value to the row that is being written.
    pub(crate) fn value(&mut self, value: Param<'_>) {
        let chunk = &mut self.chunk;
        match value {
            Param::Null => chunk.push(NULL),
            Param::Int(int) => {
                chunk.push(INT);
                // Zigzag: small numbers are short, whatever their sign.
                put_varint(chunk, ((int << 1) ^ (int >> 63)).cast_unsigned());
            }
            Param::Text(text) => put_bytes(chunk, TEXT, text.as_bytes()),
            Param::Bytes(bytes) => put_bytes(chunk, BYTES, bytes),
            Param::Uuid(uuid) => {
                chunk.push(UUID);
                chunk.extend_from_slice(uuid.as_bytes());
            }
        }
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) -> Result<()> {
        self.chunk_rows += 1;
        if self.chunk.len() >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.chunk_rows == 0 {
            return Ok(());
        }
        if self.chunk.len() > CHUNK_MAX_BYTES {
            let cause = format!("it has {} bytes", self.chunk.len()).into();
            return Err(Error::Unreadable { what: "row for the backup", cause });
        }
        self.rows[self.table] += u64::from(self.chunk_rows);
        self.chunk[..4].copy_from_slice(&(self.table as u32).to_le_bytes());
        self.chunk[4..CHUNK_HEAD].copy_from_slice(&self.chunk_rows.to_le_bytes());
        let packed = self.encoder.write_all(&self.chunk);
        let packed = packed.and_then(|()| self.encoder.reset(Vec::new())).map_err(failed)?;
        self.put_frame(ROWS, self.chunk.len(), &packed)?;
        self.chunk.truncate(CHUNK_HEAD);
        self.chunk_rows = 0;
        Ok(())
    }

    /// Ends the backup; returns how many rows each table has, and the size in bytes.
    pub(crate) fn finish(mut self) -> Result<(Vec<u64>, u64)> {
        self.flush()?;
        let trailer = Trailer { rows: self.rows.clone() };
        self.put_json(TRAILER, &trailer)?;
        let hash = self.hash.finalize();
        self.sink.write_all(&hash).and_then(|()| self.sink.flush()).map_err(failed)?;
        Ok((trailer.rows, self.bytes + hash.len() as u64))
    }

    fn put_json(&mut self, kind: u8, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(value).map_err(|cause| failed(cause.into()))?;
        self.put_frame(kind, text.len(), &text)
    }

    fn put_frame(&mut self, kind: u8, unpacked: usize, stored: &[u8]) -> Result<()> {
        let mut frame = Vec::with_capacity(9 + stored.len());
        frame.push(kind);
        frame.extend_from_slice(&(unpacked as u32).to_le_bytes());
        frame.extend_from_slice(&(stored.len() as u32).to_le_bytes());
        frame.extend_from_slice(stored);
        self.put(&frame)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.sink.write_all(bytes).map_err(failed)
    }
}

fn failed(cause: std::io::Error) -> Error {
    Error::BackupFile { done: "written", cause }
}

fn put_varint(chunk: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        chunk.push(number as u8 | 0x80);
        number >>= 7;
    }
    chunk.push(number as u8);
}

fn put_bytes(chunk: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    chunk.push(tag);
    put_varint(chunk, bytes.len() as u64);
    chunk.extend_from_slice(bytes);
}

/// Reads values off the front of a chunk.
pub(super) struct Values<'a>(pub(super) &'a [u8]);

impl<'a> Values<'a> {
    /// Reads a value of a column; `None` if there is none that fits.
    pub(super) fn next(&mut self, kind: Kind) -> Option<Param<'a>> {
        let tag = self.take(1)?[0];
        if tag == NULL {
            return Some(Param::Null);
        }
        if tag != kind.tag() {
            return None;
        }
        Some(match tag {
            INT => {
                let number = self.varint()?;
                Param::Int((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
            }
            TEXT => Param::Text(std::str::from_utf8(self.sized()?).ok()?),
            BYTES => Param::Bytes(self.sized()?),
            _ => Param::Uuid(Uuid::from_slice(self.take(16)?).ok()?),
        })
    }

    fn sized(&mut self) -> Option<&'a [u8]> {
        let size = self.varint()?;
        self.take(usize::try_from(size).ok()?)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }
}
