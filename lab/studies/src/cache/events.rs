//! The counters of chapter 8, the snoops of section 3.3 and the reload times of section 6.6, on the model.

use super::WORK;
use tactus_cache::corun::{Buffer, Corun, Pattern, Program};
use tactus_cache::{Colour, Colours, Events, Geometry, Hierarchy, Kind, Owner, Served};

/// What two programs on two cores make one of them count in a second.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Rates {
    /// Reads that found a line modified elsewhere.
    pub hitm: f64,
    /// Reads that found a clean copy elsewhere.
    pub hit_remote: f64,
    /// Reads that hit the shared level, which thought that another core had a copy.
    pub remote_miss: f64,
    /// Lines that came in where an invalidated copy stood.
    pub lines_in_invalid: f64,
    /// Lines that came in shared.
    pub lines_in_shared: f64,
    /// Requests of others that the core answered.
    pub snooped: f64,
    /// All events of a processor on which nothing runs.
    pub idle: u64,
}

/// Two programs with random reads and every second access a write, one array in one colour (`sharing`) or an array in a colour each.
pub fn rates(bytes: u64, sharing: bool, accesses: u64) -> Rates {
    let geometry = Geometry::of("i7-2600").expect("it comes with Tactus");
    let colours = Colours::new(&geometry, 16).expect("the machine has that many colours");
    let model = Hierarchy::with_owners(geometry, 4).expect("the geometry was checked");
    let mut corun = Corun::new(model, colours, WORK, 0);
    for (number, processor) in [2, 4].into_iter().enumerate() {
        let colour = Colour(if sharing { 1 } else { number as u16 + 1 });
        let buffer = Buffer { colour, span: 1, skip: 0, bytes };
        let (owner, pattern) = (Owner(number as u8 + 1), Pattern::Random { write_every: 2 });
        corun.start(Program { processor, owner, buffer, pattern, regulation: None }, number as u64 + 1);
    }
    corun.run(0, accesses / 4);
    let before = *corun.model().events(2);
    let progress = corun.run(0, accesses);
    let (now, idle) = (*corun.model().events(2), *corun.model().events(7));
    let seconds = progress.cycles as f64 / corun.model().geometry().clock as f64;
    let rate = |of: fn(&Events) -> u64| (of(&now) - of(&before)) as f64 / seconds;
    Rates {
        hitm: rate(|events| events.hitm),
        hit_remote: rate(|events| events.hit_remote),
        remote_miss: rate(|events| events.remote_miss),
        lines_in_invalid: rate(|events| events.lines_in_invalid),
        lines_in_shared: rate(|events| events.lines_in_shared),
        snooped: rate(|events| events.snooped),
        idle: idle.accesses() + idle.hitm + idle.hit_remote + idle.remote_miss + idle.snooped + idle.invalidated,
    }
}

/// Microseconds that everything that missed the first level costs in the first sweep after all caches were emptied: the source's
/// measure of a preemption's delay; and its bound.
pub fn reload(bytes: u64, prefetch: bool) -> (f64, f64) {
    let mut geometry = Geometry::of("i7-2600").expect("it comes with Tactus");
    geometry.next_line = prefetch;
    let micros = |cycles: u64| cycles as f64 / geometry.clock as f64 * 1e6;
    let bound = micros(geometry.reload_all(bytes));
    let mut model = Hierarchy::with_owners(geometry.clone(), 1).expect("the geometry was checked");
    let mut worst = 0;
    // Before every sweep the program has run elsewhere, and all caches are emptied.
    for processor in [0, 2, 4, 6] {
        model.flush();
        let mut cycles = 0;
        for word in 0..bytes / 4 {
            let served = model.access(processor, word * 4, Kind::Read, Owner(0));
            cycles += if served == Served::First { 0 } else { u64::from(model.cost(served)) };
        }
        worst = worst.max(cycles);
    }
    (micros(worst), bound)
}
