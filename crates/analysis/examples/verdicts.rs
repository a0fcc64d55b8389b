//! What the check says of random systems, a line for each: `cargo run --release -p tactus-analysis --example verdicts -- 200`.
//!
//! Of each generator as many systems as the number says, without costs and with costs. Two versions of the check are compared by the
//! difference of their outputs. A task is `r` or `t` and its bound in nanoseconds, in brackets where that does not keep its promise, `-`
//! where nothing is promised and `x` where a test fails without a bound.

use std::env::args;
use tactus_analysis::{check, Bound, TaskCheck};
use tactus_generate as generate;
use tactus_model::{Costs, System};
use tactus_time::Duration;

type Generator = fn(u64) -> Option<System>;

const GENERATORS: [(&str, Generator); 11] = [
    ("generate", |seed| Some(generate::generate(seed))),
    ("tree", |seed| Some(generate::tree(seed))),
    ("combined", |seed| Some(generate::combined(seed))),
    ("light", |seed| Some(generate::combined(2_000_000 + seed))),
    ("waiting", |seed| Some(generate::waiting(seed))),
    ("sharing", |seed| Some(generate::sharing(seed))),
    ("released", generate::released),
    ("raised", generate::raised),
    ("changing", generate::changing),
    ("levels", |seed| Some(generate::changing_levels(seed))),
    ("partitions", |seed| Some(generate::partitions(seed))),
];

fn verdict(task: &TaskCheck) -> String {
    let bound = task.bound().map(|bound| match bound {
        Bound::Response(bound) => format!("r{}", bound.as_nanos()),
        Bound::Tardiness(bound) => format!("t{}", bound.as_nanos()),
    });
    match (task.fails(), bound) {
        (false, bound) => bound.unwrap_or("-".into()),
        (true, Some(bound)) => format!("({bound})"),
        (true, None) => "x".into(),
    }
}

fn main() {
    let count = args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    let us = Duration::from_micros;
    let machine = Costs { release: us(3), schedule: us(5), switch: us(2), inter_core: us(4), complete: us(1) };
    for (name, generator) in GENERATORS {
        for (seed, system) in (0..count).filter_map(|seed| Some((seed, generator(seed)?))) {
            for (label, costs) in [("free", Costs::default()), ("costs", machine)] {
                let found = check(&system, &costs);
                let tasks: Vec<String> = found.tasks.iter().map(verdict).collect();
                let accepted = if found.accepted { "accepted" } else { "refused" };
                println!("{name} {seed} {label} {accepted} {} {}", found.findings.len(), tasks.join(" "));
            }
        }
    }
}
