//! Reading a backup back: nothing of it is believed before it was checked.

use std::io::Read;

use flate2::bufread::ZlibDecoder;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::format::{
    CHUNK_HEAD, CHUNK_MAX_BYTES, Column, FORMAT, HEADER, Header, MAGIC, ROWS, TRAILER, Trailer,
    Values,
};
use crate::statement::Param;
use crate::{Error, Result};

/// How long the header and the trailer may be.
const JSON_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Reads a backup, chunk by chunk.
pub(crate) struct Reader<R> {
    source: R,
    hash: Sha256,
    bytes: u64,
    stored: Vec<u8>,
    unpacked: Vec<u8>,
    rows: Vec<u64>,
    pub(crate) header: Header,
}

/// Some rows of one table.
pub(crate) struct Chunk<'a> {
    /// Which table of the header.
    pub(super) table: usize,
    rows: u32,
    values: &'a [u8],
}

fn damaged(why: impl Into<String>) -> Error {
    Error::BackupDamaged(why.into())
}

fn read_failed(cause: std::io::Error) -> Error {
    match cause.kind() {
        std::io::ErrorKind::UnexpectedEof => damaged("it ends too early, as if it was cut off"),
        _ => Error::BackupFile { done: "read", cause },
    }
}

impl<'a> Chunk<'a> {
    /// Calls `take` with the values of each row.
    pub(crate) fn each(
        &self,
        columns: &[Column],
        mut take: impl FnMut(&[Param<'a>]) -> Result<()>,
    ) -> Result<()> {
        let mut values = Values(self.values);
        let mut row = Vec::with_capacity(columns.len());
        for _ in 0..self.rows {
            row.clear();
            for column in columns {
                let value = values.next(column.kind);
                row.push(value.ok_or_else(|| damaged("a row is not as it should be"))?);
            }
            take(&row)?;
        }
        if values.0.is_empty() { Ok(()) } else { Err(damaged("a row is longer than it should be")) }
    }

    /// Returns how many rows it has.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.into()
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    pub(super) fn open(source: R) -> Result<Self> {
        let header = Header {
            godel: String::new(),
            engine: String::new(),
            made_at: jiff::Timestamp::UNIX_EPOCH,
            schema: 0,
            migrations: Vec::new(),
            tables: Vec::new(),
        };
        let mut reader = Self {
            source,
            hash: Sha256::new(),
            bytes: 0,
            stored: Vec::new(),
            unpacked: Vec::new(),
            rows: Vec::new(),
            header,
        };
        let mut magic = [0; 8];
        reader.fill(&mut magic)?;
        if &magic[..7] != MAGIC {
            return Err(damaged("it does not begin as a backup of godel does"));
        }
        if magic[7] != FORMAT {
            let found = magic[7];
            return Err(damaged(format!("it has format {found}, this godel reads {FORMAT}")));
        }
        let (kind, _) = reader.frame()?;
        if kind != HEADER {
            return Err(damaged("it has no header"));
        }
        reader.header = json(&reader.stored)?;
        reader.rows = vec![0; reader.header.tables.len()];
        Ok(reader)
    }

    /// Reads the next rows; at the end it checks that nothing is missing or changed.
    pub(super) fn next(&mut self) -> Result<Option<Chunk<'_>>> {
        let (kind, size) = self.frame()?;
        match kind {
            ROWS => self.unpack(size).map(Some),
            TRAILER => self.end().map(|()| None),
            _ => Err(damaged("a part of it is of no known kind")),
        }
    }

    fn unpack(&mut self, size: usize) -> Result<Chunk<'_>> {
        self.unpacked.clear();
        let mut decoder = ZlibDecoder::new(self.stored.as_slice()).take(size as u64 + 1);
        let unpacked = decoder.read_to_end(&mut self.unpacked);
        if unpacked.is_err() || self.unpacked.len() != size || size < CHUNK_HEAD {
            return Err(damaged("some rows cannot be unpacked"));
        }
        let (head, values) = self.unpacked.split_at(CHUNK_HEAD);
        let (table, rows) = (number(&head[..4]), number(&head[4..]));
        let table = usize::try_from(table).unwrap_or(usize::MAX);
        let count =
            self.rows.get_mut(table).ok_or_else(|| damaged("rows belong to no table of it"))?;
        *count += u64::from(rows);
        Ok(Chunk { table, rows, values })
    }

    fn end(&mut self) -> Result<()> {
        let trailer: Trailer = json(&self.stored)?;
        if trailer.rows != self.rows {
            return Err(damaged("rows are missing"));
        }
        let wanted = self.hash.clone().finalize();
        let mut found = [0; 32];
        self.fill(&mut found)?;
        if wanted.as_slice() != found {
            return Err(damaged("its checksum does not match its content"));
        }
        match self.source.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(damaged("something follows its end")),
            Err(cause) => Err(read_failed(cause)),
        }
    }

    /// Returns how many rows each table has had so far, and how many bytes were read.
    pub(super) fn counts(self) -> (Header, Vec<u64>, u64) {
        (self.header, self.rows, self.bytes)
    }

    /// Reads one frame into `stored`; returns its kind and its size unpacked.
    fn frame(&mut self) -> Result<(u8, usize)> {
        let mut head = [0; 9];
        self.fill(&mut head)?;
        let kind = head[0];
        let (size, stored) = (number(&head[1..5]) as usize, number(&head[5..]) as usize);
        let most = if kind == ROWS { CHUNK_MAX_BYTES } else { JSON_MAX_BYTES };
        // What cannot be packed grows a little.
        if size > most || stored > size + size / 8 + 1_024 {
            return Err(damaged("a part of it has an absurd size"));
        }
        self.stored.clear();
        // Read as it comes: a wrong size must not claim memory.
        let read = (&mut self.source).take(stored as u64).read_to_end(&mut self.stored);
        read.map_err(read_failed)?;
        if self.stored.len() != stored {
            return Err(read_failed(std::io::ErrorKind::UnexpectedEof.into()));
        }
        self.hash.update(&self.stored);
        self.bytes += stored as u64;
        Ok((kind, size))
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.source.read_exact(bytes).map_err(read_failed)?;
        self.hash.update(&*bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|_| damaged("its header or trailer cannot be read"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::format::{Kind, Table, Writer};
    use super::super::verify_blocking;
    use super::*;

    /// Makes a backup of one table with a column of each kind.
    fn backup(rows: usize) -> Vec<u8> {
        let kinds = [Kind::Int, Kind::Bool, Kind::Text, Kind::Bytes, Kind::Uuid];
        let columns = kinds.map(|kind| Column { name: format!("{kind:?}"), kind });
        let table = Table { name: "t".to_owned(), columns: columns.to_vec() };
        let header = Header {
            godel: "0".to_owned(),
            engine: "test".to_owned(),
            made_at: jiff::Timestamp::UNIX_EPOCH,
            schema: 1,
            migrations: vec![],
            tables: vec![table],
        };
        let mut file = Vec::new();
        let mut writer = Writer::begin(&mut file, &header).unwrap();
        writer.table(0).unwrap();
        for row in 0..rows {
            writer.value(Param::Int(if row % 2 == 0 { i64::MIN } else { i64::MAX }));
            writer.value(Param::Null);
            writer.value(Param::Text("é"));
            writer.value(Param::Bytes(&[0, 255]));
            writer.value(Param::Uuid(uuid::Uuid::from_u128(row as u128)));
            writer.end_row().unwrap();
        }
        writer.finish().unwrap();
        file
    }

    /// Gives bytes the checksum that they should have.
    fn sealed(mut file: Vec<u8>) -> Vec<u8> {
        let end = file.len().saturating_sub(32);
        file.truncate(end);
        let hash = Sha256::digest(&file);
        file.extend_from_slice(&hash);
        file
    }

    #[test]
    fn values_come_back_as_they_went() {
        let file = backup(3);
        let mut reader = Reader::open(file.as_slice()).unwrap();
        let columns = reader.header.tables[0].columns.clone();
        let chunk = reader.next().unwrap().unwrap();
        let mut seen = Vec::new();
        let mut see = |row: &[Param<'_>]| seen.push(format!("{row:?}"));
        chunk
            .each(&columns, |row| {
                see(row);
                Ok(())
            })
            .unwrap();
        assert_eq!(seen.len(), 3);
        let nil = uuid::Uuid::nil();
        let first = format!("[Int({}), Null, Text(\"é\"), Bytes([0, 255]), Uuid({nil})]", i64::MIN);
        assert_eq!(seen[0], first);
        assert!(seen[1].contains(&i64::MAX.to_string()));
        assert!(reader.next().unwrap().is_none());
    }

    proptest! {
        // The checksum would hide the code behind it, so it is made to fit.
        #[test]
        fn nothing_that_has_the_right_checksum_makes_the_reader_panic(
            places in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<prop::sample::Index>(),
            whole in any::<bool>(),
        ) {
            let mut file = backup(50);
            for (place, byte) in places {
                let place = place.index(file.len());
                file[place] = byte;
            }
            if !whole {
                file.truncate(cut.index(file.len()));
            }
            drop(verify_blocking(sealed(file).as_slice()));
        }

        #[test]
        fn a_changed_or_cut_file_is_refused(
            place in any::<prop::sample::Index>(),
            change in 1..=255_u8,
            cut in any::<bool>(),
        ) {
            let mut file = backup(20);
            let place = place.index(file.len());
            if cut { file.truncate(place) } else { file[place] ^= change }
            let read = verify_blocking(file.as_slice());
            prop_assert!(matches!(read, Err(Error::BackupDamaged(_))), "{read:?}");
        }

        #[test]
        fn any_bytes_at_all_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(verify_blocking(bytes.as_slice()).is_err());
            let begun = [b"GODELBK\x01".as_slice(), &bytes].concat();
            prop_assert!(verify_blocking(begun.as_slice()).is_err());
        }
    }
}
