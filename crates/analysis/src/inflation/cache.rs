//! Cache-related preemption and migration delay: the bound from the size of the working set.
//!
//! Gracioli (EPOS), section 6.6: a job that resumes may have to load every line of its working set again, each at the cost
//! of a miss in the last cache: ⌈WSS/line⌉·cost. An upper bound for one preemption; prefetching hides much of it.

use tactus_cache::bounds::ReloadFrom;
use tactus_cache::Colours;
use tactus_model::System;
use tactus_time::Duration;

/// What a miss costs on a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Misses {
    /// Bytes in a cache line; greater than zero.
    pub line: u64,
    /// Cycles of one miss in the last cache.
    pub cycles: u64,
    /// Cycles per second; greater than zero.
    pub hertz: u64,
}

impl Misses {
    /// The machine of the EPOS measurements (i7-2600): 64 bytes, 200 cycles, 3.4 GHz.
    pub const I7_2600: Misses = Misses { line: 64, cycles: 200, hertz: 3_400_000_000 };

    /// The longest that a resumed job spends on reloading a working set of so many bytes, rounded up.
    pub fn delay(&self, working_set: u64) -> Duration {
        let lines = u128::from(working_set.div_ceil(self.line.max(1)));
        let ns = (lines * u128::from(self.cycles) * 1_000_000_000).div_ceil(u128::from(self.hertz.max(1)));
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// The longest that any task of the system spends on reloading its memory on the machine with the caches that the file names; nothing if it
/// names none.
///
/// Lines come from the shared cache if the task's colours are nobody else's and hold all its memory, else from memory.
pub fn longest_delay(system: &System) -> Option<Duration> {
    let geometry = &system.platform.caches.as_ref()?.geometry;
    let each = Colours::new(geometry, system.platform.colours.into()).ok()?.bytes_each(geometry);
    let cycles = |(number, task): (usize, &tactus_model::Task)| {
        let own = system.platform.colour_assignment.as_ref().map(|assigned| {
            let others = assigned.tasks.iter().enumerate().filter(|(n, _)| *n != number).map(|(_, bits)| bits);
            let own = assigned.tasks[number];
            let taken =
                others.chain(&assigned.components).fold(assigned.kernel | assigned.rest, |all, bits| all | bits);
            (own & taken == 0, each * u64::from(own.count_ones()))
        });
        let from = match own {
            Some((true, bytes)) if task.memory <= bytes => ReloadFrom::Shared,
            _ => ReloadFrom::Memory,
        };
        geometry.reload(task.memory.div_ceil(geometry.line()), from)
    };
    let cycles = system.tasks.iter().enumerate().map(cycles).max().unwrap_or(0);
    let ns = (u128::from(cycles) * 1_000_000_000).div_ceil(u128::from(geometry.clock.max(1)));
    Some(Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_reloads_from_the_shared_cache_what_its_own_colours_hold_and_else_from_memory() {
        let system = |colours: &str| {
            let text = format!(
                "[system]\nname = \"x\"\ncores = 1\nduration = \"1 s\"\n[policy]\nkind = \"partitioned-edf\"\n[machine]\n\
                 geometry = \"i7-2600\"\ncolours = 64\n[[task]]\nname = \"a\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n\
                 memory = \"256 KiB\"\n{colours}"
            );
            System::parse_toml(&text, std::path::Path::new("x.toml")).unwrap_or_else(|problems| panic!("{problems}"))
        };
        let delay = |colours: &str| longest_delay(&system(colours)).map(|it| it.as_nanos());
        // 4,096 lines of 200 or of 31 cycles at 3.4 GHz.
        assert_eq!(delay(""), Some(240_942));
        assert_eq!(delay("colours = [1, 2]\n"), Some(37_346));
        // One colour holds half of it; and one that the kernel has, too, is not its own.
        assert_eq!(delay("colours = [1]\n"), Some(240_942));
        assert_eq!(delay("colours = [1, 2]\n[kernel]\ncolours = [2]\n"), Some(240_942));
    }

    #[test]
    fn the_cache_delay_is_120_5_us_at_128_kib_and_9_64_ms_at_10_mib() {
        let delay = |bytes| Misses::I7_2600.delay(bytes).as_nanos();
        assert_eq!(delay(128 << 10).div_ceil(100), 1_205, "120.5 µs");
        assert_eq!((delay(10 << 20) + 5_000) / 10_000, 964, "9.64 ms");
        // The whole published row, in tenths of a microsecond.
        let row = [4, 32, 64, 128, 256, 512, 1024, 8192, 10_240].map(|k| (delay(k << 10) + 50) / 100);
        assert_eq!(row, [38, 301, 602, 1205, 2409, 4819, 9638, 77_101, 96_376]);
    }
}
