//! The example of `docs/adding-a-policy.md`: first come, first served on each core, as a policy of its own, with its
//! golden schedule. It is here so that the page cannot go stale.

use crate::common::{core, draw, invariants, ms};
use tactus_policy::{Decision, Event, Policy, PolicyConfig, PolicySpec, Running, Task};
use tactus_record::{EventKind, Record, Sink};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

// BEGIN first come, first served
/// First come, first served: jobs run in the order of their release, to the end.
pub struct FirstCome;

/// One core: what is released, in that order, what comes next of each task, and what runs.
pub struct Core {
    id: CoreId,
    tasks: Vec<(TaskId, Task, Instant, u32)>,
    queue: std::collections::VecDeque<Running>,
    last: Instant,
    idle: bool,
}

impl FirstCome {
    /// Makes all cores.
    pub fn new(setup: &PolicyConfig) -> (Self, Vec<Core>) {
        let core = |n: usize| {
            let mine = setup.tasks.iter().enumerate().filter(|(_, task)| task.core == Some(CoreId(n as u8)));
            let first = |(id, task): (usize, &Task)| (TaskId(id as u16), *task, Instant::ZERO + task.offset, 0);
            let (tasks, queue) = (mine.map(first).collect(), Default::default());
            Core { id: CoreId(n as u8), tasks, queue, last: Instant::ZERO, idle: false }
        };
        (FirstCome, (0..setup.cores).map(core).collect())
    }
}

impl Policy for FirstCome {
    type Core = Core;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        let id = core.id;
        let mut write = |kind, task: Option<TaskId>, job, arg| {
            records.record(Record { time: now, arg, job, task, kind, level: 0, core: id, ticket: 0 });
        };
        let before = core.queue.front().map(|job| (job.task, job.job));
        if let Some(job) = core.queue.front_mut() {
            job.charged += now.since(core.last);
            if matches!(event, Event::Complete | Event::Remove) {
                let kind = if event == Event::Complete { EventKind::Complete } else { EventKind::Removed };
                write(kind, Some(job.task), job.job, if event == Event::Complete { job.charged.as_nanos() } else { 0 });
                let gone = core.queue.pop_front();
                if let (Event::Remove, Some(gone)) = (event, gone) {
                    core.tasks.retain(|(task, ..)| *task != gone.task);
                    core.queue.retain(|job| job.task != gone.task);
                }
            }
        }
        core.last = now;
        while let Some((task, what, next, number)) = core.tasks.iter_mut().min_by_key(|task| task.2) {
            if *next > now {
                break;
            }
            write(EventKind::Release, Some(*task), *number, next.as_nanos());
            core.queue.push_back(Running { task: *task, job: *number, charged: Duration::ZERO, arrived: None });
            (*next, *number) = (*next + what.period, *number + 1);
        }
        let run = core.queue.front().copied();
        match run {
            Some(job) if before != Some((job.task, job.job)) => write(EventKind::Dispatch, Some(job.task), job.job, 0),
            None if !core.idle => write(EventKind::Idle, None, 0, 0),
            _ => {}
        }
        core.idle = run.is_none();
        let timer = core.tasks.iter().map(|task| task.2).min().unwrap_or(Instant::NEVER);
        Decision { run, timer, notify: CoreSet::EMPTY, ticket: 0 }
    }
}
// END first come, first served

#[test]
fn jobs_run_in_the_order_of_their_release_to_the_end() {
    let task = |on, offset, period| Task {
        level: Level::A,
        core: core(on),
        offset: ms(offset),
        period: ms(period),
        deadline: ms(period),
        budget: Duration::ZERO,
    };
    // The kind only names a policy of the list; this one is made by hand.
    let setup = PolicyConfig { cores: 1, kind: PolicySpec::PartitionedEdf, tasks: vec![task(0, 1, 4), task(0, 0, 10)] };
    let demand = [1, 5];
    let (policy, cores) = FirstCome::new(&setup);
    let entries = crate::common::run_policy(
        &policy,
        cores,
        &|task, _| ms(demand[task.index()]),
        Instant::ZERO + ms(20),
        crate::common::exact(),
    );
    invariants::check(&setup, &entries);
    crate::kept::compare("first_come.txt", &draw::draw(&setup, &entries, 20, &|task| format!("T{}", task.0 + 1)));
}

#[test]
fn the_page_shows_this_very_code() {
    let between = |text: &'static str| {
        let code = text.split("// BEGIN first come, first served\n").nth(1).expect("it begins");
        code.split("// END first come, first served\n").next().expect("and ends")
    };
    let page = include_str!("../../../../docs/adding-a-policy.md");
    assert!(page.contains(between(include_str!("first_come.rs"))), "docs/adding-a-policy.md shows other code");
}
