//! Admits drawn programs with the number of tasks that it is given, so that a tool can count the instructions:
//!
//!     cargo build --release -p tactus-package --example admission
//!     valgrind --tool=callgrind --toggle-collect='*one_admission*' target/release/examples/admission 32 fp
//!
//! With `long` instead of `fp` the tasks ask for the whole share, so that the search takes all its terms, and with `quick` there is no
//! search and the quick test looks at all deadlines. The figure is what the tool collected, by the number of admissions, which is printed with the terms of their searches.
#![allow(clippy::print_stdout)]

use std::env;
use tactus_package::admission::{admit_within, Demand, Order, Supply, Work};
use tactus_time::Duration;

const ADMISSIONS: u32 = 200;

#[inline(never)]
fn one_admission(tasks: &[Demand], order: Order, supply: &Supply, work: &mut Work) -> bool {
    admit_within(tasks, order, supply, work).is_ok()
}

fn main() {
    let mut arguments = env::args().skip(1);
    let count: u64 = arguments.next().and_then(|it| it.parse().ok()).unwrap_or(8);
    let how = arguments.next().unwrap_or_default();
    let order = match how.as_str() {
        "fp" => Order::FixedPriority,
        _ => Order::EarliestDeadline,
    };
    let mut state = 7_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let us = Duration::from_micros;
    let supply = Supply { budget: us(2_000), period: us(5_000), blackout: us(6_000) };
    let (mut admitted, mut terms) = (0, 0);
    for _ in 0..ADMISSIONS {
        let mut tasks: Vec<Demand> = (0..count)
            .map(|_| {
                let period = 20_000 + draw(480_000);
                // Up to nine tenths of the slot's share in all.
                let (part, early) = match how.as_str() {
                    "long" => (100, 0),
                    "quick" => (50, 0),
                    _ => (20 + draw(60), draw(period / 4)),
                };
                let execution = period * part / (count * 250) + u64::from(how != "long");
                let deadline = period - early;
                Demand { execution: us(execution), period: us(period), deadline: us(deadline), priority: 0 }
            })
            .collect();
        tasks.sort_by_key(|task| task.deadline);
        tasks.iter_mut().zip(0..).for_each(|(task, n)| task.priority = n);
        let most = if how == "quick" { Work(0) } else { Work::OF_AN_ADMISSION };
        let mut work = most;
        admitted += u32::from(one_admission(&tasks, order, &supply, &mut work));
        terms += most.0 - work.0;
    }
    println!("{ADMISSIONS} admissions of {count} tasks, {order:?}: {admitted} admitted, {terms} terms");
}
