//! What may be on a disk when the power goes: everything that was synced, and anything of the rest.

use std::collections::BTreeMap;

use super::super::load::Chance;

/// One step that a process took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Bytes were written somewhere in a file.
    Write(String, usize, Vec<u8>),
    /// A file was cut to a length.
    Cut(String, usize),
    /// What was written to a file is safe.
    Sync(String),
    /// The names of the files are safe.
    SyncNames,
    /// A file lost its name.
    Remove(String),
}

/// Reads a trace: each step, and how long the trace was after it.
pub(super) fn read(mut trace: &[u8]) -> Vec<(u64, Step)> {
    let (mut steps, whole) = (Vec::new(), trace.len());
    while let Some((head, rest)) = trace.split_at_checked(14) {
        let at = u64::from_ne_bytes(head[2..10].try_into().unwrap()).try_into().unwrap();
        let length = u32::from_ne_bytes(head[10..14].try_into().unwrap()) as usize;
        let length = if head[0] == b'w' { length } else { 0 };
        let Some((name, rest)) = rest.split_at_checked(head[1].into()) else { break };
        // One that was killed may leave half a step; nobody was told of anything after it.
        let Some((bytes, rest)) = rest.split_at_checked(length) else { break };
        let name = String::from_utf8(name.to_vec()).unwrap();
        let step = match head[0] {
            b'w' => Step::Write(name, at, bytes.to_vec()),
            b't' => Step::Cut(name, at),
            b's' if name == "data" => Step::SyncNames,
            b's' => Step::Sync(name),
            b'r' => Step::Remove(name),
            other => panic!("a step is {other}"),
        };
        trace = rest;
        steps.push(((whole - trace.len()) as u64, step));
    }
    steps
}

/// A file, by whatever name.
#[derive(Debug, Clone, Default)]
struct File {
    safe: Vec<u8>,
    /// Writes and cuts since the last sync.
    loose: Vec<Step>,
}

fn apply(bytes: &mut Vec<u8>, step: &Step, torn: bool) {
    match step {
        Step::Write(_, at, new) => {
            // A sector is written whole or not at all.
            let kept =
                if torn { (new.len() / 2).next_multiple_of(512).min(new.len()) } else { new.len() };
            bytes.resize(bytes.len().max(at + kept), 0);
            bytes[*at..at + kept].copy_from_slice(&new[..kept]);
        }
        Step::Cut(_, length) => bytes.resize(*length, 0),
        _ => {}
    }
}

/// What is left of the steps since the last sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    Everything,
    /// Some of them, in any order.
    Some,
    /// Some of them, and some of those torn.
    Torn,
}

pub(super) const LEFT: [Left; 4] = [Left::Nothing, Left::Everything, Left::Some, Left::Torn];

/// A disk after some steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk {
    files: Vec<File>,
    names: BTreeMap<String, usize>,
    /// The names when they were last synced.
    safe_names: BTreeMap<String, usize>,
}

impl Disk {
    pub(super) fn take(&mut self, step: &Step) {
        match step {
            Step::Write(name, ..) | Step::Cut(name, _) => {
                let next = self.files.len();
                let file = *self.names.entry(name.clone()).or_insert(next);
                if file == next {
                    self.files.push(File::default());
                }
                self.files[file].loose.push(step.clone());
            }
            Step::Sync(name) => {
                if let Some(file) = self.names.get(name) {
                    let File { safe, loose } = &mut self.files[*file];
                    loose.drain(..).for_each(|step| apply(safe, &step, false));
                }
            }
            Step::SyncNames => self.safe_names = self.names.clone(),
            Step::Remove(name) => drop(self.names.remove(name)),
        }
    }

    /// How many steps are not safe.
    pub(super) fn loose(&self) -> usize {
        let of = |names: &BTreeMap<String, usize>| -> usize {
            names.values().map(|file| self.files[*file].loose.len()).sum()
        };
        of(&self.names).max(of(&self.safe_names)) + usize::from(self.names != self.safe_names)
    }

    /// Cuts the power: the files that are found afterwards.
    pub(super) fn cut(&self, left: Left, chance: &mut Chance) -> BTreeMap<String, Vec<u8>> {
        let newest = match left {
            Left::Nothing => false,
            Left::Everything => true,
            Left::Some | Left::Torn => chance.percent(50),
        };
        let names = if newest { &self.names } else { &self.safe_names };
        let mut found = BTreeMap::new();
        for (name, file) in names {
            let File { safe, loose } = &self.files[*file];
            let mut bytes = safe.clone();
            for step in loose {
                let kept = match left {
                    Left::Nothing => false,
                    Left::Everything => true,
                    Left::Some | Left::Torn => chance.percent(50),
                };
                if kept {
                    apply(&mut bytes, step, left == Left::Torn && chance.percent(30));
                }
            }
            found.insert(name.clone(), bytes);
        }
        found
    }
}
