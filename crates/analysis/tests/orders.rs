//! Cores by themselves in every order that the check has a test for: promises against the policies, with costs and without.

mod common;

use common::Dice;
use std::path::Path;
use tactus_analysis::{check, Bound};
use tactus_model::{Costs, System};
use tactus_record::{Kind, Record, Sink};
use tactus_time::Duration;

/// Systems per order; unoptimised code gets fewer.
const ROUNDS: u32 = if cfg!(debug_assertions) { 25 } else { 200 };

struct Responses<'s>(&'s System, Vec<Duration>);

impl Sink for Responses<'_> {
    fn record(&mut self, record: Record) {
        if let (Kind::Complete, Some(task)) = (record.kind, record.task) {
            let t = &self.0.tasks[task.index()];
            let release = t.offset + t.period * u64::from(record.job);
            let response = Duration::from_nanos(record.time.as_nanos()) - release;
            self.1[task.index()] = self.1[task.index()].max(response);
        }
    }
}

/// Ties of periods, deadlines and priorities are frequent.
fn drawn(dice: &mut Dice, order: &str) -> System {
    let cores = dice.between(1, 3);
    let mut text =
        format!("[system]\nname = 's'\ncores = {cores}\nduration = '200 ms'\n[policy]\nkind = 'partitioned-{order}'\n");
    for core in 0..cores {
        let n = dice.between(2, 5);
        let percent = dice.between(40, 90);
        for i in 0..n {
            let period = dice.pick(&[4_000, 5_000, 8_000, 10_000, 16_000, 20_000]);
            let time = (period * percent / n / 100).max(50);
            let deadline = dice.pick(&[period, period * 3 / 4, period / 2]).max(time);
            let offset = dice.pick(&[0, 0, 1_000, 2_500]);
            text += &format!(
                "[[task]]\nname = 't{core}{i}'\ncore = {core}\nperiod = '{period} us'\nexecution = '{time} us'\n\
                 deadline = '{deadline} us'\noffset = '{offset} us'\n"
            );
            if order == "fp" {
                text += &format!("priority = {}\n", dice.between(1, 4));
            }
        }
    }
    System::parse_toml(&text, Path::new("s.toml")).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// Systems accepted, bounds held.
fn hold(order: &str, costs: &Costs) -> (u32, u32) {
    let mut dice = Dice::new(71);
    let (mut accepted, mut held) = (0, 0);
    for _ in 0..ROUNDS {
        let system = drawn(&mut dice, order);
        let check = check(&system, costs);
        let setup = tactus_sim::setup(&system, Vec::new(), &check.allowances);
        let mut seen = Responses(&system, vec![Duration::ZERO; system.tasks.len()]);
        let demand = |task: tactus_time::TaskId, _| system.tasks[task.index()].execution[0].unwrap();
        tactus_sim::simulate_into(&setup, system.duration, demand, costs, &mut seen).expect("the policy takes it");
        accepted += u32::from(check.accepted);
        for (n, verdict) in check.tasks.iter().enumerate() {
            if let Bound::Response(bound) = verdict.bound {
                assert!(seen.1[n] <= bound, "{} took {} against {bound}\n{check}", verdict.name, seen.1[n]);
                held += 1;
            }
        }
    }
    (accepted, held)
}

#[test]
fn fixed_priorities_of_any_kind_and_deadlines_keep_their_promises() {
    let us = Duration::from_micros;
    let costs = Costs { release: us(3), schedule: us(5), switch: us(2), inter_core: us(4), complete: us(1) };
    for order in ["rm", "dm", "fp", "edf"] {
        for costs in [Costs::default(), costs] {
            let (accepted, held) = hold(order, &costs);
            assert!(accepted > ROUNDS / 20 && held > ROUNDS, "{order}: {accepted} accepted, {held} held");
        }
    }
}
