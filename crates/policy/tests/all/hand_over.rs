//! The short way of a critical section's end beside the long one: the same decisions and records, for random systems whose jobs enter
//! and leave sections by inheritance and under ceilings as they like, also too long ones and ones that they may not enter.

use crate::common::{Chance, Kept};
use tactus_policy::{
    EarlyArrival, Event, Input, Policy, PolicyConfig, PolicySpec, Release, Resource, ResourceTree, ResourceUser,
    Scheduler, Server, Task, TaskPlacement, Tree, MOST_RECORDS,
};
use tactus_task::{Overrun, ResourceProtocol, Sections, TaskOrder};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

fn ns(time: u64) -> Duration {
    Duration::from_nanos(time)
}

/// Up to seven tasks on a core or two with up to three resources each, of which jobs of all of them or of some wait by inheritance.
fn system(chance: &mut Chance) -> PolicyConfig {
    let cores = 1 + chance.below(2);
    let orders =
        [TaskOrder::FixedPriority, TaskOrder::EarliestDeadline, TaskOrder::RateMonotonic, TaskOrder::DeadlineMonotonic];
    let root = Server {
        parent: 0,
        cores: CoreSet::first(cores as usize),
        order: orders[chance.below(6).saturating_sub(2) as usize],
        queues: (0..cores).map(|core| CoreSet::from_bits(1 << core)).collect(),
        quantum: ns(1),
        supply: None,
        priority: 0,
        background: false,
    };
    let (mut tasks, mut places, mut releases, mut resources) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..2 + chance.below(6) {
        let (core, period) = (CoreId(chance.below(cores) as u8), ns(12 + chance.below(40)));
        let offset = ns(chance.below(12));
        let (level, deadline, budget) = (Level::A, period, ns(1 + chance.below(9)));
        tasks.push(Task { level, core: Some(core), offset, period, deadline, budget });
        let overrun = [Overrun::Continue, Overrun::Skip][chance.below(2) as usize];
        places.push(TaskPlacement { server: 0, priority: chance.below(4) as u32, overrun });
        let early = EarlyArrival::ALL[chance.below(3) as usize];
        releases.push(if chance.below(3) == 0 { Release::Sporadic(early) } else { Release::Periodic });
    }
    for core in 0..cores {
        let inherits = chance.below(4) != 0;
        for _ in 0..1 + chance.below(3) {
            let others = [ResourceProtocol::Ceiling, ResourceProtocol::NonPreemptive, ResourceProtocol::Msrp];
            let protocol = if inherits { ResourceProtocol::Inheritance } else { others[chance.below(3) as usize] };
            let of_core = (0..).zip(&tasks).filter(|(_, task)| task.core == Some(CoreId(core as u8)));
            let users = of_core.filter(|_| chance.below(4) != 0).map(|(task, _)| TaskId(task)).collect::<Vec<_>>();
            let users = users.into_iter().map(|task| ResourceUser { task, longest: ns(1 + chance.below(20)) });
            let (users, order) = (users.collect(), resources.len() as u16);
            resources.push(Resource { protocol, order, withdrawn: chance.below(3) == 0, users });
        }
    }
    let thresholds = vec![None; tasks.len()];
    let tree = Tree { servers: vec![root], places, releases, waits: Vec::new(), line: Duration::ZERO, seed: 0 };
    let kind = PolicySpec::Resources(ResourceTree { tree, thresholds, resources, events: Vec::new() });
    PolicyConfig { cores: cores as usize, kind, tasks }
}

/// How often of all ends of sections that were awaited the short way was taken.
#[derive(Default, Debug)]
struct Ends {
    all: u32,
    short: u32,
}

#[test]
fn a_resource_handed_over_the_short_way_is_one_the_long_way() {
    let mut ends = Ends::default();
    for seed in 0..3_000 {
        compare(&mut Chance::of(seed), seed, &mut ends);
    }
    println!("{ends:?}");
    assert!(ends.short > 1_000 && ends.all > ends.short, "{ends:?}");
}

fn compare(chance: &mut Chance, seed: u64, ends: &mut Ends) {
    let setup = system(chance);
    let PolicySpec::Resources(all) = &setup.kind else { panic!("{setup:?}") };
    let resources = all.resources.len() as u64;
    let make = || Scheduler::new(&setup).unwrap_or_else(|error| panic!("{setup:?}: {error}"));
    let ((long, mut of_long), (short, mut of_short)) = (make(), make());
    let mut runs = vec![None; setup.cores];
    // What each task's job says that it holds.
    let mut says = vec![Sections::NONE; setup.tasks.len()];
    let mut now = Instant::ZERO;
    for step in 0..300 {
        let core = if step < setup.cores { step } else { chance.below(setup.cores as u64) as usize };
        now += ns(chance.below(5));
        let mut inputs = Vec::new();
        let event = match (runs[core], chance.below(9)) {
            _ if step < setup.cores => Event::Start,
            (Some(task), 0) => {
                says[TaskId::index(task)] = Sections::NONE;
                Event::Complete
            }
            (Some(task), 1..=3) if says[task.index()] == Sections::NONE || chance.below(4) == 0 => {
                let word = &mut says[task.index()];
                let Some(held) = word.enter(chance.below(resources) as u8) else { continue };
                *word = held;
                inputs.push(Input::Section { held, since: now });
                Event::Lock
            }
            (Some(task), 4..=6) if says[task.index()] != Sections::NONE => {
                let word = &mut says[task.index()];
                *word = if chance.below(4) == 0 { word.leave() } else { Sections::NONE };
                inputs.push(Input::Section { held: *word, since: now });
                if long.awaits_unlock(&of_long[core]) {
                    Event::Unlock
                } else {
                    Event::Timer
                }
            }
            (_, 7) => {
                let task = TaskId(chance.below(setup.tasks.len() as u64) as u16);
                inputs.push(Input::Arrival { task, at: now });
                Event::Arrival
            }
            _ => Event::Timer,
        };
        let (mut by_long, mut by_short) = (Kept::default(), Kept::default());
        inputs.iter().for_each(|input| long.input(&mut of_long[core], *input));
        let expected = long.handle(&mut of_long[core], now, event, &mut by_long);
        let left = inputs == [Input::Section { held: Sections::NONE, since: now }];
        let awaited = event == Event::Unlock && left;
        let handed = awaited.then(|| short.unlock(&mut of_short[core], now, &mut by_short)).flatten();
        ends.all += u32::from(awaited);
        let decision = match handed {
            Some(decision) => {
                assert!(by_short.0.len() <= MOST_RECORDS);
                ends.short += 1;
                decision
            }
            None => {
                assert!(by_short.0.is_empty());
                inputs.iter().for_each(|input| short.input(&mut of_short[core], *input));
                short.handle(&mut of_short[core], now, event, &mut by_short)
            }
        };
        assert_eq!((expected, by_long.0), (decision, by_short.0), "seed {seed}, step {step}, {event:?} {inputs:?}");
        let long = (long.awaits_unlock(&of_long[core]), long.locked(&of_long[core]));
        let short = (short.awaits_unlock(&of_short[core]), short.locked(&of_short[core]));
        assert_eq!(long, short, "seed {seed}, step {step}, {event:?} {inputs:?}");
        runs[core] = decision.run.map(|running| running.task);
    }
}
