//! Answers of the eight tests of global EDF for sets on standard input, or how long each takes.
//!
//! A line is `m n c t d c t d …` in nanoseconds or any other unit; the answer has a digit for each test of `Test::ALL`. With the
//! argument `time`, prints the mean time of each test instead; with `schedcat`, FF-DBF and BAR search as coarsely as SchedCAT does;
//! with `qpa`, the answer is one digit, that of the demand test of EDF on one core. This is the format of the comparison with other tools
//! that docs/measured/analysis.md describes.

use std::io::Read;
use std::time::Instant;
use tactus_analysis::effort::Effort;
use tactus_analysis::global::edf::{bar, ff_dbf, Memory, Test};
use tactus_analysis::global::set::Set;
use tactus_analysis::task::{Dedicated, Sporadic};
use tactus_analysis::uniprocessor::edf_demand;
use tactus_time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let timing = std::env::args().any(|a| a == "time");
    let as_schedcat = std::env::args().any(|a| a == "schedcat");
    let one_core = std::env::args().any(|a| a == "qpa");
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut memory = Memory::default();
    let (mut forced, mut carried) = (ff_dbf::Memory::default(), bar::Memory::default());
    let mut spent = [std::time::Duration::ZERO; Test::ALL.len()];
    let mut accepted = [0u64; Test::ALL.len()];
    let mut sets = 0u32;
    let mut set = Set::new();
    for line in text.lines() {
        let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        let [m, _, tasks @ ..] = numbers.as_slice() else { continue };
        set.clear();
        tasks.chunks_exact(3).for_each(|task| set.push(task[0], task[1], task[2]));
        if one_core {
            let ns = Duration::from_nanos;
            let tasks: Vec<Sporadic> =
                tasks.chunks_exact(3).map(|task| Sporadic::new(ns(task[0]), ns(task[1]), ns(task[2]))).collect();
            let demand = edf_demand::schedulable(&tasks, Duration::ZERO, &Dedicated, &mut Effort::default());
            println!("{}", u8::from(demand == edf_demand::Demand::Fits));
            continue;
        }
        let mut answers = String::new();
        for (n, test) in Test::ALL.into_iter().enumerate() {
            let mut ask = || {
                let begun = Instant::now();
                let m = *m as usize;
                let answer = match test {
                    Test::FfDbf if as_schedcat => ff_dbf::search(&set, m, ff_dbf::Precision::SCHEDCAT, &mut forced),
                    Test::Bar if as_schedcat => bar::search(&set, m, bar::Points::Steps, &mut carried),
                    _ => test.accepts(&set, m, &mut memory),
                };
                (begun.elapsed(), answer)
            };
            let (mut least, answer) = ask();
            if timing {
                // The least of several is what the test itself takes on a machine that others use too.
                least = (0..9).map(|_| ask().0).min().unwrap_or(least).min(least);
            }
            spent[n] += least;
            accepted[n] += u64::from(answer);
            answers.push(if answer { '1' } else { '0' });
        }
        sets += 1;
        if !timing {
            println!("{answers}");
        }
    }
    if timing {
        for (n, test) in Test::ALL.into_iter().enumerate() {
            let mean = spent[n].as_secs_f64() * 1e6 / f64::from(sets.max(1));
            println!("{test} {mean:.3} us/set, accepted {} of {sets}", accepted[n]);
        }
    }
    Ok(())
}
