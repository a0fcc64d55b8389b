//! Level A of MC² and the time that others take: no time-out for what cannot matter to it, and slots that are its own
//! from their nominal start.

use tactus_policy::{CoreState, Decision, Event, Mc2, Policy, PolicyConfig, PolicySpec, Scheduler, Slot, Table, Task};
use tactus_record::{EventKind, Record as Written, Sink};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

#[derive(Default)]
struct Kept(Vec<Written>);

impl Sink for Kept {
    fn record(&mut self, record: Written) {
        self.0.push(record);
    }
}

fn task(level: Level, offset: u64, period: u64, budget: u64) -> Task {
    let [offset, period, budget] = [offset, period, budget].map(Duration::from_nanos);
    let core = (level <= Level::B).then_some(CoreId(0));
    Task { level, core, offset, period, deadline: period, budget }
}

/// Level A has 10 to 60 of each 100 on core 0; B, C and D are released often.
fn system(cores: usize, offset: u64, budget: u64) -> PolicyConfig {
    let (start, end) = (Duration::from_nanos(10), Duration::from_nanos(60));
    let table = Table { cycle: Duration::from_nanos(100), slots: vec![Slot { task: TaskId(0), start, end }] };
    let tables = std::iter::once(table).chain(vec![Table::default(); cores - 1]).collect();
    PolicyConfig {
        cores,
        kind: PolicySpec::Mc2(Mc2 { enforce: true, slack_shifting: true, allowance: Duration::ZERO, tables }),
        tasks: vec![
            task(Level::A, offset, 100, budget),
            task(Level::B, 0, 7, 5),
            task(Level::C, 0, 9, 5),
            task(Level::D, 0, 11, 0),
        ],
    }
}

struct Core {
    scheduler: Scheduler,
    states: Vec<CoreState>,
    records: Kept,
}

impl Core {
    fn new(setup: &PolicyConfig) -> Core {
        let (scheduler, states) = Scheduler::new(setup).expect("the set-up is good");
        Core { scheduler, states, records: Kept::default() }
    }
    fn at(&mut self, now: u64, event: Event) -> Decision {
        self.records.0.clear();
        self.scheduler.handle(&mut self.states[0], Instant::from_nanos(now), event, &mut self.records)
    }
    /// Nominal times of the releases in the last decision, by task.
    fn released(&self) -> Vec<(u16, u64)> {
        let releases = self.records.0.iter().filter(|r| r.kind == EventKind::Release);
        releases.filter_map(|r| Some((r.task?.0, r.arg))).collect()
    }
    fn charges(&self, kind: EventKind) -> Vec<(u16, u64)> {
        self.records.0.iter().filter(|r| r.kind == kind).filter_map(|r| Some((r.task?.0, r.arg))).collect()
    }
}

fn runs(decision: &Decision) -> (u16, u64) {
    let run = decision.run.expect("a job has the core");
    (run.task.0, run.charged.as_nanos())
}

#[test]
fn a_lone_core_wants_no_time_out_for_lower_levels_while_level_a_has_it_and_makes_all_due_afterwards() {
    let mut core = Core::new(&system(1, 0, 50));
    assert_eq!(runs(&core.at(0, Event::Start)), (1, 0));
    let slot = core.at(10, Event::Timer);
    assert_eq!((runs(&slot), slot.timer), ((0, 0), Instant::from_nanos(60)));
    // An event without cause finds a job that goes on: nothing below is looked at.
    let again = core.at(20, Event::Notify);
    assert_eq!((runs(&again), again.timer, again.ticket), ((0, 10), Instant::from_nanos(60), 0));
    assert!(core.released().is_empty());
    let after = core.at(31, Event::Complete);
    assert_eq!(after.run.map(|run| run.task), Some(TaskId(1)));
    let b = core.released().into_iter().filter(|r| r.0 == 1).map(|r| r.1);
    assert_eq!(b.collect::<Vec<_>>(), [14, 21, 28], "in the order of their times; 7 was due at the slot's start");
    assert!(core.released().contains(&(2, 27)) && core.released().contains(&(3, 22)));
}

#[test]
fn core_0_of_several_goes_on_to_serve_the_releases_that_concern_others() {
    let mut core = Core::new(&system(2, 0, 50));
    core.at(0, Event::Start);
    let slot = core.at(10, Event::Timer);
    assert_eq!((runs(&slot), slot.timer), ((0, 0), Instant::from_nanos(11)));
    core.at(11, Event::Timer);
    assert_eq!(core.released(), [(3, 11)], "level B of the core waits");
}

#[test]
fn a_slot_that_is_noticed_late_is_its_owners_from_its_start_and_whoever_ran_is_charged_up_to_there() {
    let mut core = Core::new(&system(1, 0, 50));
    core.at(0, Event::Start);
    // The B job began at 0 and took more than its budget, of which nobody knew before 13.
    let slot = core.at(13, Event::Timer);
    assert_eq!((runs(&slot), slot.timer), ((0, 3), Instant::from_nanos(60)));
    core.at(33, Event::Complete);
    assert_eq!(core.charges(EventKind::Complete), [(0, 23)]);

    let mut core = Core::new(&system(1, 0, 50));
    core.at(0, Event::Start);
    core.at(12, Event::Complete);
    assert_eq!(core.charges(EventKind::Complete), [(1, 10)]);
}

#[test]
fn a_release_within_the_slot_that_is_noticed_late_counts_from_its_nominal_time() {
    let mut core = Core::new(&system(1, 30, 50));
    core.at(0, Event::Start);
    core.at(29, Event::Notify);
    assert_eq!(runs(&core.at(34, Event::Timer)), (0, 4));
    // So does the start of the core.
    let mut core = Core::new(&system(1, 0, 50));
    core.at(12, Event::Start);
    assert_eq!(runs(&core.at(15, Event::Notify)), (0, 5));
}

#[test]
fn an_entry_as_late_as_the_budget_costs_the_job_nothing_of_it() {
    let mut core = Core::new(&system(1, 0, 5));
    core.at(0, Event::Start);
    assert_eq!(runs(&core.at(15, Event::Timer)), (0, 0));
    let mut core = Core::new(&system(1, 0, 5));
    core.at(0, Event::Start);
    let slot = core.at(14, Event::Timer);
    assert_eq!((runs(&slot), slot.timer), ((0, 4), Instant::from_nanos(15)));
}
