//! The variants beside a slow machine that works out each nanosecond anew.

use proptest::prelude::*;
use tactus_mc2_variants::{Fine, Machinery, Messages};
use tactus_policy::PolicySpec;
use tactus_slow_machine::levels::{demand_of, moments, slower, slowly, systems, Asked, END, SCALE};
use tactus_slow_machine::{exact, run_policy, Entry};
use tactus_time::Instant;

/// What of the source's machinery these switches turn on.
fn machinery([interrupt_master, timer_merging, work_redistribution]: [bool; 3]) -> Machinery {
    Machinery {
        interrupt_master,
        timer_merging: timer_merging && interrupt_master,
        work_redistribution: work_redistribution && interrupt_master,
    }
}

/// Back to the slow machine's scale.
fn rescaled(mut entries: Vec<Entry>) -> Vec<Entry> {
    let back = |time: &mut Instant| {
        assert_eq!(time.as_nanos() % SCALE, 0, "something happened between two instants");
        *time = Instant::from_nanos(time.as_nanos() / SCALE);
    };
    for entry in &mut entries {
        back(&mut entry.now);
        entry.records.iter_mut().for_each(|record| back(&mut record.time));
    }
    entries
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn with_a_lock_for_each_container_and_core_it_runs_the_same((setup, most) in systems(), switches in any::<[bool; 3]>()) {
        let demand = demand_of(&most);
        let longer = |task, job| demand(task, job) * SCALE;
        let (fine, cores) = Fine::new(&slower(&setup), machinery(switches)).expect("the set-up is good");
        let entries = rescaled(run_policy(&fine, cores, &longer, Instant::from_nanos(END * SCALE), exact()));
        let PolicySpec::Mc2(mc2) = &setup.kind else { unreachable!() };
        let (ours, d) = moments(&setup, &entries);
        slowly(&Asked::still(&setup, mc2), &demand, &ours, &d);
    }

    #[test]
    fn without_locks_it_runs_the_same((setup, most) in systems()) {
        let PolicySpec::Mc2(mc2) = &setup.kind else { unreachable!() };
        let demand = demand_of(&most);
        let (messages, cores) = Messages::new(&setup).expect("the set-up is good");
        let (ours, d) = moments(&setup, &run_policy(&messages, cores, &demand, Instant::from_nanos(END), exact()));
        slowly(&Asked::still(&setup, mc2), &demand, &ours, &d);
    }
}
