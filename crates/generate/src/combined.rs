//! Random systems with everything that is not periodic and independent at once: shared resources, waits, completions that release others, and
//! events that components raise.

use crate::raised::raise;
use crate::random::Random;
use crate::released::release_each_other;
use crate::sharing::{sharing, sharing_on};
use crate::waiting::{beside_resources, wait};
use tactus_model::{Scheduling, System};
use tactus_time::Duration;

/// From this seed on systems have five to eight cores.
const LARGE: u64 = 1_000_000;
/// From this seed on their cores have so little to do that analysis accepts many of them.
const LIGHT: u64 = 2_000_000;
/// As long do their jobs hold at most what jobs of other cores spin for.
const SHORT: Duration = Duration::from_micros(200);

/// The system of this seed: one that shares resources ([`sharing`](crate::sharing), without preemption thresholds), of whose tasks
/// half wait and some release others. In every second one components raise events that release some of the rest. It has one to four
/// cores; from seed 1,000,000 on five to eight, and from seed 2,000,000 on each of these is lightly loaded.
pub fn combined(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x636f_6d62);
    let mut system = beside_resources(match seed {
        ..LARGE => sharing(seed),
        LARGE..LIGHT => sharing_on(seed, 5..=8, (0.3, 0.6)),
        LIGHT.. => sharing_on(seed, 5..=8, (0.05, 0.2)),
    });
    if seed >= LIGHT {
        let Scheduling { resources, sections, .. } = &mut system.scheduling;
        for section in sections.iter_mut().flatten().filter(|it| resources[it.resource].protocol.spans_cores()) {
            section.length = section.length.min(SHORT);
        }
    }
    wait(&mut random, &mut system);
    release_each_other(&mut random, &mut system);
    // Of each of the four orders in turn, some with events and some without.
    let raises = if seed < LIGHT { seed % 2 == 1 } else { seed / 4 % 2 == 1 };
    if raises {
        raise(&mut random, &mut system);
        let tasks = system.tasks.len();
        system.scheduling.sections.resize(tasks, Vec::new());
        system.scheduling.waits.resize(tasks, Vec::new());
    }
    system.name = format!("combined-{seed}");
    system
}
