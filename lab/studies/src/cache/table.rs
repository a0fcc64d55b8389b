//! Slow-down tables: cycles of one access of a program, by who runs beside it.
//!
//! A figure is measured when it is first asked for: the programs are put on the modelled machine, run until the caches are warm,
//! then counted. What shares neither core nor colour with the program and fits into its own colour has no influence and is left out.

use super::{SERVICE, WORK};
use std::collections::HashMap;
use tactus_cache::corun::{Buffer, Corun, Pattern, Program};
use tactus_cache::{Colour, Colours, Geometry, Hierarchy, Owner};

/// What a program does: bytes and pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Load {
    /// Bytes of its array.
    pub bytes: u64,
    /// How it goes through them.
    pub pattern: Pattern,
}

/// What another program shares with this one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Relation {
    /// Nothing but perhaps the core.
    Nothing,
    /// The colour; the arrays are different.
    Colour,
    /// The array.
    Array,
}

/// Who runs beside a program. Loads are numbers that [`Table::load`] gave.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Beside {
    own: u8,
    sibling: u8,
    others: [u8; 6],
}

/// What an access costs and causes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Measured {
    /// Cycles, the program's own work included.
    pub cycles: f64,
    /// Times that it found the line modified in another core.
    pub hitm: f64,
}

/// The table of one machine with this number of colours.
#[derive(Debug)]
pub struct Table {
    geometry: Geometry,
    colours: Colours,
    loads: Vec<Load>,
    known: HashMap<Beside, Measured>,
    reloads: HashMap<(u8, bool), f64>,
}

impl Table {
    /// An empty table for the source's machine, where a line that another core has modified costs `coherence` cycles.
    ///
    /// # Panics
    /// Where the machine does not have that many colours.
    pub fn new(colours: u64, coherence: u32) -> Table {
        let mut geometry = Geometry::of("i7-2600").expect("it comes with Tactus");
        geometry.costs.remote_modified = coherence;
        let colours = Colours::new(&geometry, colours).expect("the machine has that many colours");
        Table { geometry, colours, loads: Vec::new(), known: HashMap::new(), reloads: HashMap::new() }
    }

    /// Cycles in a nanosecond.
    pub fn clock(&self) -> f64 {
        self.geometry.clock as f64 / 1e9
    }

    /// The number of a load.
    pub fn load(&mut self, load: Load) -> u8 {
        if let Some(at) = self.loads.iter().position(|known| *known == load) {
            return at as u8;
        }
        self.loads.push(load);
        (self.loads.len() - 1) as u8
    }

    /// What an access of `own` costs while a sibling thread and others run.
    pub fn measured(&mut self, own: u8, sibling: Option<(u8, Relation)>, others: &[(u8, Relation)]) -> Measured {
        let code = |(load, relation): (u8, Relation)| load * 3 + relation as u8 + 1;
        let mut beside = Beside { own, sibling: sibling.map_or(0, code), ..Beside::default() };
        let colour = self.colours.bytes_each(&self.geometry);
        let related = others
            .iter()
            .filter(|(load, relation)| *relation != Relation::Nothing || self.loads[usize::from(*load)].bytes > colour);
        for (place, other) in beside.others.iter_mut().zip(related) {
            *place = code(*other);
        }
        beside.others.sort_unstable();
        if let Some(known) = self.known.get(&beside) {
            return *known;
        }
        let measured = self.measure(&beside);
        self.known.insert(beside, measured);
        measured
    }

    /// How many figures have been measured.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing has been measured.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn program(&self, code: u8, processor: usize, place: u64) -> Program {
        let load = self.loads[usize::from((code - 1) / 3)];
        let (colour, skip) = match (code - 1) % 3 {
            0 => (1 + place as u16 % (self.colours.count() - 1), 0),
            1 => (0, 100 * (place + 1)),
            _ => (0, 0),
        };
        Program {
            processor,
            owner: Owner(place as u8 + 1),
            buffer: Buffer { colour: Colour(colour), span: 1, skip, bytes: load.bytes },
            pattern: load.pattern,
            regulation: None,
        }
    }

    fn corun(&self) -> Corun {
        let model = Hierarchy::with_owners(self.geometry.clone(), 16).expect("the geometry was checked");
        Corun::new(model, self.colours, WORK, SERVICE)
    }

    fn measure(&self, beside: &Beside) -> Measured {
        let mut corun = self.corun();
        let own = corun.start(self.program(beside.own * 3 + 3, 0, 0), 1);
        if beside.sibling != 0 {
            // In a colour whose pages have other sets of the second level, too, as seven of eight have.
            corun.start(self.program(beside.sibling, 1, 2), 2);
        }
        let others = beside.others.iter().filter(|code| **code != 0);
        for (place, (code, processor)) in others.zip([2, 4, 6, 3, 5, 7]).enumerate() {
            corun.start(self.program(*code, processor, place as u64 + 3), place as u64 + 3);
        }
        let lines = self.loads[usize::from(beside.own)].bytes / self.geometry.line();
        corun.run(own, 5 * lines + 5_000);
        let before = *corun.model().events(0);
        let progress = corun.run(own, 15_000);
        let hitm = corun.model().events(0).hitm - before.hitm;
        Measured { cycles: progress.cycles_each(), hitm: hitm as f64 / progress.accesses as f64 }
    }

    /// Cycles more that a program takes after another one ran on its core, or after it came from another core.
    pub fn reload(&mut self, own: u8, migrated: bool) -> f64 {
        if let Some(known) = self.reloads.get(&(own, migrated)) {
            return *known;
        }
        let load = self.loads[usize::from(own)];
        let accesses = 6 * load.bytes / self.geometry.line();
        let mut corun = self.corun();
        let number = corun.start(self.program(own * 3 + 3, 0, 0), 1);
        corun.run(number, accesses);
        let steady = corun.run(number, accesses).cycles;
        if migrated {
            corun.migrate(number, 2);
        } else {
            for line in 0..(512 << 10) / self.geometry.line() {
                let address = self.colours.place(Colour(1), 0, line * self.geometry.line());
                corun.model_mut().access(0, address, tactus_cache::Kind::Read, Owner(9));
            }
        }
        let delay = corun.run(number, accesses).cycles.saturating_sub(steady) as f64;
        self.reloads.insert((own, migrated), delay);
        delay
    }
}
