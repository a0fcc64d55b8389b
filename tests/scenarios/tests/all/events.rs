//! Threads of rt-app that wait for each other, on the machine and when simulated.

use tactus_record::{EventKind, InputKind};
use tactus_scenarios::{file, Finished};

/// Each thread of the example goes round once for each job of the one that ticks, and nothing is promised.
#[test]
fn threads_hand_over_to_each_other() {
    let example = file("examples/rt-app/hand-over.json");
    for run in [Finished::run(&example, &[]), Finished::simulate(&example, &[])] {
        assert_eq!(run.summary.outcome(), "nothing_promised", "{}", run.said.output);
        for task in ["consumer", "statistics", "logger", "display"] {
            let completed = run.summary.task(task).completed();
            assert!((48..=52).contains(&completed), "{task}: {completed}: {}", run.said.output);
        }
        let records = run.trace().cores.concat();
        let inputs =
            |kind: InputKind| records.iter().filter(|r| r.kind == EventKind::Input && r.level == kind as u8).count();
        // The producer's lock; the consumer's lock, queue, lock and barrier; a barrier; a semaphore; a suspension: eight each time round.
        let awaited = inputs(InputKind::Await);
        assert!((380..=420).contains(&awaited), "{awaited}");
        assert_eq!(run.summary.json["dropped"], 0);
    }
}
