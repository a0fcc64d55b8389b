//! The simulated machine, seen by a policy that answers from a list.

use crate::common::*;
use std::cell::RefCell;
use tactus_policy::Event::{Complete, Notify, Start, Timer};
use tactus_record::{NoSink, Sink};
use tactus_sim::{Costs, Keep, Simulation};
use tactus_time::{Duration, TaskId};

fn calls(script: &Script, costs: &Costs, demand: u64, end: u64) -> Vec<(u8, u64, tactus_policy::Event)> {
    let demand = |_: TaskId, _| Duration::from_nanos(demand);
    let mut simulation = Simulation::new(script, script.cores(), 4, demand, costs);
    simulation.run_until(at(end), &mut NoSink).unwrap();
    script.asked()
}

#[test]
fn at_one_instant_completions_come_first_then_time_outs_then_events() {
    let script = Script::new(vec![
        vec![telling(&[2], wake(50)), telling(&[1, 2], wake(90))],
        vec![run(0, 0, 0, 200), wake(50), wake(60)],
        vec![wake(80), wake(80), run(1, 0, 0, 200)],
    ]);
    let expected = vec![
        (0, 0, Start),
        (1, 0, Start),
        (2, 0, Start),
        (2, 0, Notify),
        (1, 50, Complete),
        (0, 50, Timer),
        (1, 50, Timer),
        (1, 50, Notify),
        (2, 50, Notify),
    ];
    let found = calls(&script, &Costs::default(), 50, 90);
    assert_eq!(found[..expected.len()], expected);
}

#[test]
fn a_time_out_counts_only_until_the_next_decision() {
    let script = Script::new(vec![vec![run(0, 0, 0, 30), wake(70)]]);
    assert_eq!(calls(&script, &Costs::default(), 30, 1_000), [(0, 0, Start), (0, 30, Complete), (0, 70, Timer)]);
}

#[test]
fn a_job_goes_on_from_its_charge_and_is_asked_for_its_demand_once() {
    let script = Script::new(vec![vec![run(0, 5, 0, 40), run(1, 0, 0, 60), run(0, 5, 40, u64::MAX)]]);
    let asked = RefCell::new(Vec::new());
    let demand = |task: TaskId, job| {
        asked.borrow_mut().push((task.0, job));
        Duration::from_nanos(100)
    };
    let mut simulation = Simulation::new(&script, script.cores(), 2, demand, &Costs::default());
    let counts = simulation.run_until(at(1_000), &mut NoSink).unwrap();
    assert_eq!(script.asked(), [(0, 0, Start), (0, 40, Timer), (0, 60, Timer), (0, 120, Complete)]);
    assert_eq!(*asked.borrow(), [(0, 5), (1, 0)]);
    assert_eq!((counts.entries, counts.jobs), (4, 1));
}

#[test]
fn every_cost_is_paid_where_it_arises() {
    let costs = Costs {
        release: Duration::from_nanos(1),
        schedule: Duration::from_nanos(10),
        switch: Duration::from_nanos(100),
        inter_core: Duration::from_nanos(1_000),
        complete: Duration::from_nanos(10_000),
    };
    let script = Script::new(vec![vec![wake(50_000), telling(&[1], run(0, 0, 0, u64::MAX))], vec![idle()]]);
    let expected = [
        (0, 0, Start),
        (1, 0, Start),
        // release
        (0, 50_001, Timer),
        // sent when the turn ends (schedule), then inter_core
        (1, 50_001 + 10 + 1_000, Notify),
        // charged from the decision on, so that neither schedule nor switch come on top; then complete
        (0, 50_001 + 20_000 + 10_000, Complete),
    ];
    assert_eq!(calls(&script, &costs, 20_000, 1_000_000), expected);
}

#[test]
fn a_core_on_its_way_through_the_scheduler_is_not_entered() {
    let costs = Costs { release: Duration::from_nanos(1), schedule: Duration::from_nanos(10), ..Costs::default() };
    let costs = Costs { switch: Duration::from_nanos(100), ..costs };
    // The time-out falls into the turn, and the job is shorter than the way to it.
    let script = Script::new(vec![vec![wake(5), run(0, 0, 0, u64::MAX)]]);
    assert_eq!(calls(&script, &costs, 20, 1_000), [(0, 0, Start), (0, 111, Timer), (0, 221, Complete)]);
}

#[test]
fn events_that_wait_together_arrive_as_one() {
    let costs = Costs { inter_core: Duration::from_nanos(50), ..Costs::default() };
    let script = Script::new(vec![
        vec![telling(&[2], idle())],
        vec![telling(&[2], wake(10)), telling(&[2], idle())],
        vec![idle()],
    ]);
    let expected = [(0, 0, Start), (1, 0, Start), (2, 0, Start), (1, 10, Timer), (2, 50, Notify)];
    assert_eq!(calls(&script, &costs, 1, 1_000), expected);
}

#[test]
fn an_event_sent_while_another_arrives_is_not_lost() {
    let costs = Costs { schedule: Duration::from_nanos(10), inter_core: Duration::from_nanos(5), ..Costs::default() };
    // Core 1 is told at 30 and, by a turn that began at 31, at 41; it takes the first at 35.
    let script =
        Script::new(vec![vec![wake(20), telling(&[1], idle())], vec![idle()], vec![wake(31), telling(&[1], idle())]]);
    let calls = calls(&script, &costs, 1, 1_000);
    assert_eq!(calls[3..], [(0, 20, Timer), (2, 31, Timer), (1, 35, Notify), (1, 50, Notify)]);
}

#[test]
fn a_policy_that_does_not_let_time_pass_is_stopped_with_its_name() {
    let script = Script::new(vec![vec![wake(7); 200_000]]);
    let mut simulation = Simulation::new(&script, script.cores(), 1, |_, _| Duration::ZERO, &Costs::default());
    let stuck = simulation.run_until(at(1_000), &mut NoSink).unwrap_err();
    assert_eq!((stuck.core.0, stuck.now, stuck.event), (0, at(7), Timer));
    assert!(stuck.to_string().contains("core 0"), "{stuck}");
}

#[test]
fn a_run_in_pieces_is_the_run_in_one() {
    let tasks = vec![task(Some(0), ms(4), ms(1)), task(Some(0), ms(5), ms(2)), task(Some(1), ms(3), ms(2))];
    let setup = partitioned_edf(2, tasks);
    let whole = tactus_sim::simulate(&setup, ms(40), budgets(&setup), &small_costs()).unwrap();
    let (policy, cores) = tactus_policy::Scheduler::new(&setup).unwrap();
    let mut pieces = Simulation::new(&policy, cores, 3, budgets(&setup), &small_costs());
    let mut keep = Keep::new(2);
    for end in 1..=40_u64 {
        pieces.run_until(at(end * 1_000_000), &mut keep).unwrap();
    }
    pieces.end(at(40_000_000), &mut keep);
    assert_eq!(keep.into_trace().cores, whole.cores);
}

#[test]
fn a_record_of_no_core_is_counted_and_not_kept() {
    let setup = partitioned_edf(1, vec![task(Some(0), ms(4), ms(1))]);
    let trace = tactus_sim::simulate(&setup, ms(1), budgets(&setup), &Costs::default()).unwrap();
    let mut keep = Keep::new(1);
    let stray = tactus_record::Record { core: tactus_time::CoreId(3), ..trace.cores[0][0] };
    keep.record(stray);
    assert_eq!(keep.into_trace().dropped, [1]);
}
