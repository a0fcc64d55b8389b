//! Random trees of servers: whatever they are, budgets are kept, no core idles beside a job that it could run, and no job
//! waits while a less urgent one of its queue runs.

use crate::common::{run, time_of, trees};
use proptest::prelude::*;
use tactus_policy::PolicyConfig;
use tactus_time::{Duration, Instant, TaskId};

const END: u64 = 150;

fn check(setup: &PolicyConfig) {
    let demand = |task: TaskId, job: u32| {
        let most = setup.tasks[task.index()].budget.as_nanos() + u64::from(task.0 % 3);
        Duration::from_nanos(time_of(most, task, job))
    };
    let entries = run(setup, &demand, Instant::from_nanos(END));
    trees::check(setup, &entries, END);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn budgets_are_kept_and_the_most_urgent_jobs_run_in_random_trees(setup in trees::trees(20)) {
        check(&setup);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes minutes: evidence, not a daily test"]
    fn budgets_are_kept_in_ten_thousand_random_trees(setup in trees::trees(20)) {
        check(&setup);
    }
}
