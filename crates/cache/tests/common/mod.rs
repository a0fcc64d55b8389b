//! Small hierarchies and what must be true of any of them.
#![allow(dead_code)]

use std::collections::BTreeSet;
use tactus_cache::caches::Core;
use tactus_cache::{Costs, Geometry, Hierarchy, Inclusion, Level, Protocol, Shape, State};

/// A hierarchy with lines of 64 bytes: sizes in lines, (lines, ways).
#[derive(Debug)]
pub struct Small {
    pub cores: usize,
    pub first: (u64, usize),
    pub second: Option<(u64, usize, Inclusion)>,
    pub shared: (u64, usize, Inclusion),
    pub protocol: Protocol,
    pub next_line: bool,
}

impl Small {
    pub fn geometry(&self) -> Geometry {
        let level = |(lines, ways, inclusion): (u64, usize, Inclusion)| Level {
            shape: Shape::new(lines * 64, ways, 64),
            inclusion,
        };
        let first = Shape::new(self.first.0 * 64, self.first.1, 64);
        Geometry {
            name: "small".into(),
            cores: self.cores,
            threads: 1,
            instruction: first,
            data: first,
            second: self.second.map(level),
            shared: level(self.shared),
            protocol: self.protocol,
            next_line: self.next_line,
            page: 4096,
            clock: 1_000_000_000,
            costs: Costs {
                first: 4,
                second: 12,
                shared: 31,
                remote_clean: 43,
                remote_modified: 60,
                memory: 200,
                busy: 30,
            },
        }
    }
}

pub const PROTOCOLS: [Protocol; 3] = [Protocol::Mesi, Protocol::Mesif, Protocol::Moesi];

/// The copies of a line in one core's arrays: instruction, data, second level.
fn copies(core: &Core, number: u64) -> Vec<State> {
    let second = core.second.as_ref().map(|array| array.state(number));
    let all = [Some(core.instruction.state(number)), Some(core.data.state(number)), second];
    all.into_iter().flatten().filter(|state| *state != State::Invalid).collect()
}

/// Lines that are newer than memory.
pub fn dirty(hierarchy: &Hierarchy, numbers: u64) -> BTreeSet<u64> {
    let caches = hierarchy.caches();
    let is_dirty = |number: &u64| {
        caches.shared.state(*number).is_dirty() || caches.cores.iter().any(|core| core.state(*number).is_dirty())
    };
    (0..numbers).filter(is_dirty).collect()
}

/// What must be true of lines 0 to `numbers` − 1 after every access.
pub fn coherent(hierarchy: &Hierarchy, numbers: u64) -> Result<(), String> {
    let (caches, geometry) = (hierarchy.caches(), hierarchy.geometry());
    for number in 0..numbers {
        for (at, core) in caches.cores.iter().enumerate() {
            let copies = copies(core, number);
            if copies.windows(2).any(|two| two[0] != two[1]) {
                return Err(format!("core {at} holds line {number} in two states: {copies:?}"));
            }
            for (other, second) in caches.cores.iter().enumerate().skip(at + 1) {
                let (a, b) = (core.state(number), second.state(number));
                if !geometry.protocol.compatible(a, b) {
                    return Err(format!("line {number} is {a:?} in core {at} and {b:?} in core {other}"));
                }
            }
            let here = core.state(number);
            let below = caches.shared.lines().find(|line| line.is(number));
            match geometry.shared.inclusion {
                Inclusion::Inclusive
                    if here != State::Invalid && below.is_none_or(|line| line.sharers() >> at & 1 == 0) =>
                {
                    return Err(format!("line {number} is in core {at}, and the shared level does not know it"));
                }
                Inclusion::Victim if matches!(here, State::Exclusive | State::Modified) && below.is_some() => {
                    return Err(format!("line {number} is {here:?} in core {at} and in the shared level, too"));
                }
                _ => {}
            }
            if let (Some(level), Some(second)) = (geometry.second, &core.second) {
                let above = core.instruction.state(number).max(core.data.state(number));
                if level.inclusion == Inclusion::Inclusive && above != State::Invalid && second.state(number) != above {
                    return Err(format!("line {number} is above the second level of core {at} and not in it"));
                }
            }
        }
    }
    for array in caches.cores.iter().flat_map(|core| [Some(&core.data), Some(&core.instruction), core.second.as_ref()])
    {
        let lines: Vec<u64> = array.iter().flat_map(|array| array.lines()).map(|line| line.number()).collect();
        if lines.iter().collect::<BTreeSet<_>>().len() != lines.len() {
            return Err(format!("a line stands twice in one array: {lines:?}"));
        }
    }
    Ok(())
}
