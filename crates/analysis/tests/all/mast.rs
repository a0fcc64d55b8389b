//! The example `controller` of MAST, a suite of analyses for real-time systems (University of Cantabria), beside ours.
//!
//! The results are those that MAST 1.2 writes itself and brings along (`docs/controller.out` of its distribution, of 2002-10-31). That
//! file has no model. The periods, execution times and sections here are those of the sample problem of Sha, Klein and Goodenough, "Rate
//! monotonic analysis for real-time systems" (CMU/SEI-91-TR-6), typed in from memory and not compared with its text. What a job costs
//! beside that, two switches of 0.25 ms, is fitted: it is the one value with which all eight figures come out.

use tactus_analysis::blocking::{ceiling, Request, Sections, Sharing};
use tactus_analysis::effort::Effort;
use tactus_analysis::task::Sporadic;
use tactus_time::Duration;

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

#[test]
fn the_controller_of_mast_responds_as_mast_says() {
    const SWITCHES: u64 = 500;
    const MS: u64 = 1_000;
    let (data, communication) = (0, 1);
    let task = |[execution, period, deadline]: [u64; 3], sections: &[(usize, u64)]| Sharing {
        task: Sporadic::new(us(execution * MS + SWITCHES), us(period * MS), us(deadline * MS)),
        core: 0,
        requests: sections.iter().map(|&(resource, ms)| Request { resource, length: us(ms * MS), count: 1 }).collect(),
    };
    // Emergency, control, planning, status: the most urgent first.
    let tasks = [
        task([5, 50, 6], &[]),
        task([20, 100, 100], &[(data, 2)]),
        task([40, 150, 130], &[(data, 20), (communication, 10)]),
        task([100, 350, 350], &[(communication, 10)]),
    ];
    let sections = Sections::of(&tasks);
    let blocking = [0, 1, 2, 3].map(|n| ceiling::blocking(&sections, n));
    // MAST's `Worst_Blocking_Time` and `Worst_Global_Response_Times`.
    assert_eq!(blocking, [0, 20, 10, 0].map(|ms| us(ms * MS)));
    let responses = ceiling::responses(&tasks, &mut Effort::default());
    assert_eq!(responses, [5_500, 46_000, 82_000, 276_000].map(|response| Some(us(response))));
}
