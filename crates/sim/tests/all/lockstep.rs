//! The replay accepts every legitimate machine and refuses every trace that was tampered with.

use crate::common::*;
use std::ops::RangeInclusive;
use tactus_generate::generate;
use tactus_policy::{Decision, Event, Mc2, Policy, PolicyConfig, PolicySpec, Scheduler, Slot, Table, Task};
use tactus_record::{EntryReason, EventKind, Record, Sink};
use tactus_sim::lockstep::{lockstep, Agreement, Disagreement, What};
use tactus_sim::{simulate, Costs, Keep, Simulation};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};
use tactus_trace::Trace;

const TOLERANCE: Duration = Duration::from_micros(40);

/// Two cores, global EDF, busy enough for preemptions and events between cores.
fn example() -> (PolicyConfig, Trace) {
    let tasks = vec![
        task(None, ms(4), us(1_300)),
        task(None, ms(5), us(2_100)),
        task(None, ms(7), us(1_700)),
        task(None, ms(11), us(5_000)),
    ];
    let setup = PolicyConfig { cores: 2, kind: PolicySpec::GlobalEdf, tasks };
    let trace = simulate(&setup, ms(100), budgets(&setup), &small_costs()).unwrap();
    (setup, trace)
}

fn check(setup: &PolicyConfig, trace: &Trace) -> Result<Agreement, Disagreement> {
    lockstep(setup, |task, _| Some(setup.tasks[task.index()].budget), trace, TOLERANCE).unwrap()
}

/// What is said about the example after `change`.
fn spoiled(change: impl FnOnce(&mut Trace)) -> What {
    let (setup, mut trace) = example();
    let before = trace.cores.clone();
    change(&mut trace);
    assert!(trace.cores != before || trace.dropped.iter().any(|n| *n > 0), "nothing was changed");
    let disagreement = check(&setup, &trace).unwrap_err();
    assert!(!disagreement.to_string().is_empty());
    disagreement.what
}

/// A core, and the place of one of its calls in the middle of the run, from `Enter` to `Leave`.
fn call(trace: &Trace, wanted: impl Fn(&[Record]) -> bool) -> (usize, RangeInclusive<usize>) {
    let all = (0..2).flat_map(|core| calls(trace, core).map(move |range| (core, range)));
    let mut late = all.filter(|(core, range)| *range.start() > trace.cores[*core].len() / 3);
    late.find(|(core, range)| wanted(&trace.cores[*core][range.clone()])).expect("there is such a call")
}

/// The places of a core's calls.
fn calls(trace: &Trace, core: usize) -> impl Iterator<Item = RangeInclusive<usize>> + '_ {
    let records = &trace.cores[core];
    let enters = (0..records.len()).filter(|i| records[*i].kind == EventKind::Enter);
    enters.filter_map(|i| Some(i..=i + records[i..].iter().position(|r| r.kind == EventKind::Leave)?))
}

fn by(reason: EntryReason) -> impl Fn(&[Record]) -> bool {
    move |call| call[0].level == reason as u8
}

#[test]
fn a_machine_with_costs_agrees_with_the_policy() {
    let (setup, trace) = example();
    let agreement = check(&setup, &trace).unwrap();
    let count = |kind| trace.cores.iter().flatten().filter(|r| r.kind == kind).count() as u64;
    assert_eq!(agreement.calls, count(EventKind::Leave));
    assert_eq!(agreement.jobs, count(EventKind::Complete));
    let by_reason: u64 = agreement.lateness.iter().map(|l| l.count).sum();
    assert_eq!(by_reason, agreement.calls);
    assert_eq!(agreement.cut, 0);
    assert_eq!(agreement.turns.max, small_costs().schedule);
    // At most: the way through the switch, then the cost of noticing.
    assert!(agreement.largest_lateness() <= us(2 + 6), "{agreement}");
    assert!(agreement.lateness[EntryReason::Notify as usize].count > 10, "{agreement}");
}

#[test]
fn without_costs_nothing_is_ever_late() {
    let (setup, _) = example();
    let trace = simulate(&setup, ms(100), budgets(&setup), &Costs::default()).unwrap();
    assert_eq!(check(&setup, &trace).unwrap().largest_lateness(), Duration::ZERO);
}

#[test]
fn generated_systems_agree_on_a_machine_with_costs() {
    let mut seen = (0, 0);
    for seed in 0..21 {
        let system = generate(seed);
        let setup = setup_of(&system, Duration::ZERO);
        let mut demand = demands(&system);
        let trace = simulate(&setup, ms(300), demand, &small_costs()).unwrap();
        let said = lockstep(&setup, |task, job| Some(demand(task, job)), &trace, TOLERANCE).unwrap();
        let agreement = said.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        seen = (seen.0 + agreement.calls, seen.1 + agreement.jobs);
    }
    assert!(seen.0 > 10_000 && seen.1 > 3_000, "{seen:?}");
}

#[test]
fn other_records_are_passed_over() {
    let (setup, mut trace) = example();
    let refused = Record { kind: EventKind::Refused, ..trace.cores[1][40] };
    trace.cores[1].insert(40, refused);
    assert!(check(&setup, &trace).is_ok());
}

#[test]
fn records_that_stop_inside_a_call_are_replayed_up_to_there() {
    let (setup, mut trace) = example();
    let (core, range) = call(&trace, by(EntryReason::Timer));
    let now = trace.cores[core][*range.start()].time;
    trace.cores[core].truncate(range.start() + 1);
    trace.cores[1 - core].retain(|r| r.time <= now);
    let agreement = check(&setup, &trace).unwrap();
    assert!((1..4).contains(&agreement.cut), "{agreement}");
}

#[test]
fn a_changed_record_is_found() {
    let change = |change: fn(&mut Record)| {
        spoiled(|trace| {
            let (core, range) = call(trace, |call| call.iter().any(|r| r.kind == EventKind::Dispatch));
            let records = &mut trace.cores[core][range];
            change(records.iter_mut().find(|r| r.kind == EventKind::Dispatch).unwrap());
        })
    };
    let changes: [fn(&mut Record); 5] = [
        |r| r.job += 1,
        |r| r.task = Some(TaskId(3 - r.task.unwrap().0)),
        |r| r.kind = EventKind::Preempt,
        |r| r.arg ^= 1,
        |r| r.level = 2,
    ];
    for one in changes {
        assert!(matches!(change(one), What::Record { .. }));
    }
    assert!(matches!(change(|r| r.time = r.time.saturating_add(Duration::from_nanos(1))), What::Shape(_)));
    assert!(matches!(change(|r| r.core = CoreId(1 - r.core.0)), What::Shape(_)));
}

#[test]
fn a_lost_an_added_and_an_exchanged_record_are_found() {
    let policy_call = |trace: &Trace| call(trace, |call| call.len() > 4 && call[1] != call[2]);
    let lost = spoiled(|trace| {
        let (core, range) = policy_call(trace);
        trace.cores[core].remove(range.start() + 1);
    });
    assert!(matches!(lost, What::Record { .. }), "{lost}");
    let twice = spoiled(|trace| {
        let (core, range) = policy_call(trace);
        let record = trace.cores[core][range.end() - 1];
        trace.cores[core].insert(*range.end(), record);
    });
    assert!(matches!(twice, What::Record { expected: None, .. }), "{twice}");
    let exchanged = spoiled(|trace| {
        let (core, range) = policy_call(trace);
        trace.cores[core].swap(range.start() + 1, range.start() + 2);
    });
    assert!(matches!(exchanged, What::Record { .. }), "{exchanged}");
}

#[test]
fn a_changed_decision_is_found() {
    let changes: [fn(&mut Record); 3] =
        [|r| r.arg += 1, |r| r.job += 1, |r| r.task = Some(TaskId(r.task.map_or(0, |t| t.0 ^ 1)))];
    for change in changes {
        let what = spoiled(|trace| {
            let (core, range) = call(trace, |call| call.last().is_some_and(|r| r.arg != u64::MAX && r.task.is_some()));
            change(&mut trace.cores[core][*range.end()]);
        });
        assert!(matches!(what, What::Decision { .. }), "{what}");
    }
}

#[test]
fn a_changed_entry_is_found() {
    let changed = |wanted: EntryReason, change: fn(&mut Record)| {
        spoiled(|trace| {
            let (core, range) = call(trace, |c| c[0].level == wanted as u8 && c[0].task.is_some());
            change(&mut trace.cores[core][*range.start()]);
        })
    };
    assert!(matches!(changed(EntryReason::Timer, |r| r.task = None), What::Running { .. }));
    assert!(matches!(changed(EntryReason::Timer, |r| r.arg += 2_000), What::TimeOut { .. }));
    assert!(matches!(changed(EntryReason::Timer, |r| r.level = EntryReason::Complete as u8), What::Early { .. }));
    assert!(matches!(changed(EntryReason::Timer, |r| r.level = EntryReason::Fault as u8), What::Record { .. }));
    assert!(matches!(changed(EntryReason::Timer, |r| r.level = 9), What::Shape(_)));
}

#[test]
fn a_ticket_that_is_missing_or_comes_twice_is_found() {
    for ticket in [|t: u32| t + 1_000_000, |t: u32| t - 1] {
        let what = spoiled(|trace| {
            let (core, range) = call(trace, |call| call.last().is_some_and(|r| r.ticket > 1));
            let leave = &mut trace.cores[core][*range.end()];
            leave.ticket = ticket(leave.ticket);
        });
        assert!(matches!(what, What::Ticket { .. }), "{what}");
    }
}

/// Shifts a whole call in time.
fn shift(trace: &mut Trace, (core, range): (usize, RangeInclusive<usize>), by: i64) {
    for record in &mut trace.cores[core][range] {
        record.time = Instant::from_nanos(record.time.as_nanos().saturating_add_signed(by));
    }
}

#[test]
fn what_comes_before_its_cause_is_found() {
    for reason in [EntryReason::Timer, EntryReason::Complete] {
        let what = spoiled(|trace| {
            let range = call(trace, by(reason));
            shift(trace, range, -12_000);
        });
        assert!(matches!(what, What::Early { .. }), "{reason:?}: {what}");
    }
    let what = spoiled(|trace| {
        let range = call(trace, by(EntryReason::Notify));
        shift(trace, range, -16_000);
    });
    assert!(matches!(what, What::NotSent), "{what}");
}

#[test]
fn what_comes_too_late_is_found() {
    for reason in [EntryReason::Timer, EntryReason::Complete, EntryReason::Notify] {
        let what = spoiled(|trace| {
            // One that leaves room for the shift.
            let roomy = |core: usize, range: &RangeInclusive<usize>| {
                let records = &trace.cores[core];
                let next = records[*range.end() + 1..].iter().find(|r| r.kind == EventKind::Enter);
                next.is_some_and(|next| next.time.since(records[*range.start()].time) > us(100))
            };
            let calls = (0..2).flat_map(|core| calls(trace, core).map(move |range| (core, range)));
            let wanted = |(core, range): &(usize, RangeInclusive<usize>)| {
                trace.cores[*core][*range.start()].level == reason as u8 && roomy(*core, range)
            };
            let range = calls.skip(10).find(wanted).expect("there is such a call");
            shift(trace, range, 50_000);
        });
        assert!(matches!(what, What::Late { reason: late, .. } if late == reason), "{reason:?}: {what}");
    }
}

#[test]
fn a_call_without_cause_is_found() {
    let invented = |reason: EntryReason| {
        spoiled(move |trace| {
            // Core 1 in the middle of a long stretch of one job.
            let records = &mut trace.cores[1];
            let at = (30..records.len() - 1).find(|i| {
                records[*i].kind == EventKind::Leave && records[i + 1].time.since(records[*i].time) > us(300)
            });
            let at = at.unwrap();
            let leave = Record { time: records[at].time.saturating_add(us(150)), ticket: 0, ..records[at] };
            let enter = Record { kind: EventKind::Enter, level: reason as u8, ..leave };
            records.splice(at + 1..at + 1, [enter, leave]);
        })
    };
    assert!(matches!(invented(EntryReason::Timer), What::Early { .. }));
    assert!(matches!(invented(EntryReason::Complete), What::Early { .. } | What::NothingRuns));
    assert!(matches!(invented(EntryReason::Notify), What::NotSent));
    assert!(matches!(invented(EntryReason::Start), What::Shape(_)));
}

struct Kept(Vec<Record>);

impl Sink for Kept {
    fn record(&mut self, record: Record) {
        self.0.push(record);
    }
}

/// Calls of a policy on one core at chosen instants, and the trace that a machine writes of them.
fn called(setup: &PolicyConfig, calls: &[(EntryReason, Instant)]) -> Trace {
    let (scheduler, mut cores) = Scheduler::new(setup).unwrap();
    let mut trace = Trace { cores: vec![Vec::new()], dropped: vec![0], ..Trace::default() };
    let mut last = Decision { run: None, timer: Instant::ZERO, notify: CoreSet::EMPTY, ticket: 0 };
    for (reason, now) in calls.iter().copied() {
        let task = |decision: &Decision| decision.run.map(|it| it.task);
        let arg = if reason == EntryReason::Timer { last.timer.as_nanos() } else { 0 };
        let (kind, level, core) = (EventKind::Enter, reason as u8, CoreId(0));
        let enter = Record { time: now, arg, job: 0, task: task(&last), kind, level, core, ticket: 0 };
        let mut records = Kept(vec![enter]);
        let event = match reason {
            EntryReason::Start => Event::Start,
            EntryReason::Complete => Event::Complete,
            _ => Event::Timer,
        };
        last = scheduler.handle(&mut cores[0], now, event, &mut records);
        let (job, arg) = (last.run.map_or(0, |it| it.job), last.timer.as_nanos());
        let (kind, task, ticket) = (EventKind::Leave, task(&last), last.ticket);
        records.0.push(Record { kind, task, job, arg, ticket, ..enter });
        trace.cores[0].append(&mut records.0);
    }
    trace
}

/// The slot of level A begins at 10 ms and is noticed late. The policy charges the job of level C up to the slot alone; but the job went on,
/// and had done its work. It has the core again behind the slot's job, and is finished at once.
#[test]
fn a_job_that_did_its_work_in_the_slot_of_another_before_that_was_noticed_is_finished_when_it_has_the_core_again() {
    let of_level = |level, core, period, budget| Task { level, core, ..task(None, period, budget) };
    let tasks = vec![of_level(Level::A, Some(CoreId(0)), ms(10), ms(2)), of_level(Level::C, None, ms(40), ms(9))];
    let slots = [(0, 2)].map(|(start, end)| Slot { task: TaskId(0), start: ms(start), end: ms(end) }).to_vec();
    let tables = vec![Table { cycle: ms(10), slots }];
    let mc2 = Mc2 { enforce: true, slack_shifting: true, allowance: Duration::ZERO, tables };
    let setup = PolicyConfig { cores: 1, kind: PolicySpec::Mc2(mc2), tasks };
    let at = |micros: u64| Instant::ZERO + us(micros);
    let calls = |noticed: u64, ends: u64| {
        use EntryReason::{Complete, Start, Timer};
        let calls = [(Start, 0), (Complete, 2_000), (Timer, noticed), (Complete, noticed + 1_000), (Complete, ends)];
        called(&setup, &calls.map(|(reason, micros)| (reason, at(micros))))
    };
    let held = |trace: &Trace| lockstep(&setup, |task, _| (task.0 == 1).then_some(us(8_100)), trace, ms(1)).unwrap();
    // It has done 8.3 ms of 8.1 by 10.3 ms, and is charged 8.
    held(&calls(10_300, 11_301)).unwrap_or_else(|wrong| panic!("{wrong}"));
    // It has done 8.05 ms, and is not finished.
    let wrong = held(&calls(10_050, 11_051)).unwrap_err();
    assert!(matches!(wrong.what, What::Early { .. }), "{wrong}");
}

#[test]
fn a_core_that_is_never_called_again_is_found() {
    let setup = partitioned_edf(2, vec![task(Some(0), ms(4), ms(1)), task(Some(1), ms(5), ms(2))]);
    let whole = simulate(&setup, ms(100), budgets(&setup), &small_costs()).unwrap();
    assert!(check(&setup, &whole).is_ok());
    let calls = whole.cores[1].iter().filter(|r| r.kind == EventKind::Enter).count();
    for kept in 1..calls {
        let mut trace = whole.clone();
        let end = trace.cores[1].pop();
        let mut seen = 0;
        trace.cores[1].retain(|r| {
            seen += usize::from(r.kind == EventKind::Enter);
            seen <= kept
        });
        trace.cores[1].extend(end);
        let late = check(&setup, &trace).unwrap_err();
        assert!(matches!(late.what, What::Late { .. }), "{kept} of {calls}: {late}");
        assert_eq!(late.core, Some(CoreId(1)));
    }
}

#[test]
fn a_call_that_is_missing_in_the_middle_is_found() {
    let what = spoiled(|trace| {
        let (core, range) = call(trace, by(EntryReason::Timer));
        trace.cores[core].drain(range);
    });
    assert!(matches!(what, What::Ticket { .. } | What::Late { .. }), "{what}");
}

#[test]
fn dropped_records_and_other_machines_are_refused() {
    assert_eq!(spoiled(|trace| trace.dropped[1] = 3), What::Dropped(3));
    assert_eq!(spoiled(|trace| drop(trace.cores.pop())), What::Cores { expected: 2, found: 1 });
    let shape = spoiled(|trace| trace.cores[0].clear());
    assert!(matches!(shape, What::Shape("the core never started")), "{shape}");
}

#[test]
fn an_unfinished_job_is_found_only_where_its_demand_is_known() {
    let setup = partitioned_edf(1, vec![task(Some(0), ms(10), ms(2))]);
    let trace = simulate(&setup, ms(50), |_, _| ms(5), &small_costs()).unwrap();
    let known = check(&setup, &trace).unwrap_err();
    assert!(matches!(known.what, What::Late { reason: EntryReason::Complete, .. }), "{known}");
    assert!(lockstep(&setup, |_, _| None, &trace, TOLERANCE).unwrap().is_ok());
}

#[test]
fn a_disagreement_tells_a_person_what_was_expected_and_what_was_found() {
    let (setup, mut trace) = example();
    let (core, range) = call(&trace, |call| call.last().is_some_and(|r| r.task.is_some()));
    trace.cores[core][*range.end()].job += 7;
    let said = check(&setup, &trace).unwrap_err().to_string();
    for part in [&format!("core {core}"), " ns", "expected  run task", "found     run task", "job"] {
        assert!(said.contains(part), "{part:?} is missing in: {said}");
    }
}

#[test]
fn no_record_can_be_taken_out_or_doubled_unnoticed() {
    let (setup, whole) = example();
    let mut tried = 0;
    for core in 0..2 {
        // At the very end a trace may stop anywhere.
        let last = whole.cores[core].iter().rposition(|r| r.kind == EventKind::Enter).unwrap();
        for at in 0..last {
            let mut less = whole.clone();
            less.cores[core].remove(at);
            assert!(check(&setup, &less).is_err(), "core {core}, record {at} taken out");
            let mut more = whole.clone();
            more.cores[core].insert(at, whole.cores[core][at]);
            assert!(check(&setup, &more).is_err(), "core {core}, record {at} doubled");
            tried += 2;
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn what_is_sent_to_a_core_that_has_not_begun_waits_for_it_from_then_on() {
    let (setup, _) = example();
    let (scheduler, cores) = Scheduler::new(&setup).unwrap();
    let mut late = Simulation::new(&scheduler, cores, setup.tasks.len(), budgets(&setup), &small_costs());
    late.start_at(&[Instant::ZERO, Instant::ZERO + TOLERANCE * 3]);
    let (mut keep, end) = (Keep::new(2), Instant::ZERO + ms(100));
    late.run_until(end, &mut keep).unwrap();
    late.end(end, &mut keep);
    let trace = keep.into_trace();
    let sent = trace.cores[0].iter().find(|r| r.kind == EventKind::Notify).unwrap().time;
    assert!(trace.cores[1][0].time.since(sent) > TOLERANCE * 2);
    assert!(check(&setup, &trace).is_ok());
}
