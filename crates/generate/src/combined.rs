//! Random systems with everything that is not periodic and independent at once: shared resources, waits, completions that release others, and
//! events that components raise.

use crate::raised::raise;
use crate::random::Random;
use crate::released::release_each_other;
use crate::waiting::{beside_resources, wait};
use tactus_model::System;

/// The system of this seed: one that shares resources ([`sharing`](crate::sharing), without preemption thresholds), of whose tasks
/// half wait and some release others. In every second one components raise events that release some of the rest.
pub fn combined(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x636f_6d62);
    let mut system = beside_resources(seed);
    wait(&mut random, &mut system);
    release_each_other(&mut random, &mut system);
    if seed % 2 == 1 {
        raise(&mut random, &mut system);
        let tasks = system.tasks.len();
        system.scheduling.sections.resize(tasks, Vec::new());
        system.scheduling.waits.resize(tasks, Vec::new());
    }
    system.name = format!("combined-{seed}");
    system
}
