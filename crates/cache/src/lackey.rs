//! Address traces of valgrind's tool lackey (`--trace-mem=yes`), and the hierarchy of its tool cachegrind.
//!
//! Two programs that others wrote look at the same run: lackey says what was accessed, cachegrind what missed. So the model
//! can be held against cachegrind.

use crate::coherence::Protocol;
use crate::events::{Events, Kind};
use crate::geometry::{Costs, Geometry, Inclusion, Level, Shape};
use crate::hierarchy::Hierarchy;
use crate::line::Owner;

/// What a line of the trace says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// One access.
    One(Kind),
    /// Reads and writes the same bytes.
    Modify,
}

/// Reads one line: ` L 1fff000d58,8`, `I  0401ab70,3`. What is no access is nothing.
pub fn parse(line: &[u8]) -> Option<(Access, u64, u64)> {
    let access = match line.get(..3)? {
        b"I  " => Access::One(Kind::Fetch),
        b" L " => Access::One(Kind::Read),
        b" S " => Access::One(Kind::Write),
        b" M " => Access::Modify,
        _ => return None,
    };
    let text = core::str::from_utf8(&line[3..]).ok()?;
    let (address, size) = text.trim_end().split_once(',')?;
    Some((access, u64::from_str_radix(address, 16).ok()?, size.parse().ok()?))
}

/// One processor with cachegrind's two first levels and its last level: neither includes the other, and what the first level
/// drops changes nothing below. Shapes as cachegrind's options `--I1`, `--D1`, `--LL` give them; lines are of equal length.
pub fn cachegrind(instruction: Shape, data: Shape, last: Shape) -> Geometry {
    Geometry {
        name: "cachegrind".into(),
        cores: 1,
        threads: 1,
        instruction,
        data,
        second: None,
        shared: Level { shape: last, inclusion: Inclusion::NonInclusive },
        protocol: Protocol::Mesi,
        next_line: false,
        page: 4096,
        clock: 1_000_000_000,
        costs: Costs { first: 1, second: 1, shared: 10, remote_clean: 10, remote_modified: 10, memory: 100, busy: 100 },
    }
}

/// Misses as cachegrind's last line tells them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Instructions.
    pub instructions: u64,
    /// Misses of the first level, instructions.
    pub first_instruction: u64,
    /// Misses of the last level, instructions.
    pub last_instruction: u64,
    /// Accesses to data.
    pub data: u64,
    /// Misses of the first level, data.
    pub first_data: u64,
    /// Misses of the last level, data.
    pub last_data: u64,
}

impl Totals {
    /// From the file that cachegrind writes: the line `summary: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw`.
    pub fn from_cachegrind(file: &str) -> Option<Totals> {
        let summary = file.lines().find_map(|line| line.strip_prefix("summary:"))?;
        let mut numbers = [0u64; 9];
        let mut words = summary.split_whitespace();
        for number in &mut numbers {
            *number = words.next()?.parse().ok()?;
        }
        let [instructions, first_instruction, last_instruction, dr, d1mr, dlmr, dw, d1mw, dlmw] = numbers;
        Some(Totals {
            instructions,
            first_instruction,
            last_instruction,
            data: dr + dw,
            first_data: d1mr + d1mw,
            last_data: dlmr + dlmw,
        })
    }
}

/// A hierarchy that is fed a trace and counts as cachegrind does.
#[derive(Clone, Debug)]
pub struct Replay {
    model: Hierarchy,
    totals: Totals,
}

impl Replay {
    /// Before the first access.
    pub const fn new(model: Hierarchy) -> Replay {
        let totals =
            Totals { instructions: 0, first_instruction: 0, last_instruction: 0, data: 0, first_data: 0, last_data: 0 };
        Replay { model, totals }
    }

    /// One access. Like cachegrind, takes nothing for longer than a line.
    pub fn access(&mut self, access: Access, address: u64, size: u64) {
        let kind = if let Access::One(kind) = access { kind } else { Kind::Read };
        let misses = |events: &Events| events.shared_misses;
        let before = misses(self.model.events(0));
        let size = size.min(self.model.geometry().line());
        self.model.access_span(0, address, size, kind, Owner(0));
        let missed = misses(self.model.events(0)) - before;
        if kind == Kind::Fetch {
            self.totals.instructions += 1;
            self.totals.last_instruction += missed;
        } else {
            self.totals.data += 1;
            self.totals.last_data += missed;
        }
        if access == Access::Modify {
            self.model.access_span(0, address, size, Kind::Write, Owner(0));
        }
    }

    /// What has been counted.
    pub fn totals(&self) -> Totals {
        let events = self.model.events(0);
        Totals { first_instruction: events.instruction_misses, first_data: events.data_misses, ..self.totals }
    }
}
