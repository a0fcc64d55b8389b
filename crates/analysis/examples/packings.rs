//! What each heuristic of bin packing makes of sets on standard input, as SchedCAT's Python is asked by `oracle/schedcat_packings.py`.
//!
//! A line is `m n c t d c t d …`; the answer has a word for next, first, worst and best fit, each in the order given and by decreasing
//! utilisation: tasks of a core joined by `,`, cores by `|`, or `-` where a task does not fit.

use std::io::{Read, Write};
use tactus_analysis::partitioned::{pack, Fit, Order};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut packed = Vec::new();
    for line in text.lines() {
        let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u32>, _>>()?;
        let [m, _, tasks @ ..] = numbers.as_slice() else { continue };
        let sizes: Vec<f64> = tasks.chunks_exact(3).map(|task| f64::from(task[0]) / f64::from(task[1])).collect();
        let mut words = Vec::new();
        for fit in [Fit::Next, Fit::First, Fit::Worst, Fit::Best] {
            for order in [Order::Given, Order::Decreasing] {
                let with = |l: &f64, i: usize| l + sizes[i];
                words.push(if pack(*m as usize, 1.0, &sizes, order, fit, with, |l| *l, &mut packed) {
                    let core = |bin: &Vec<usize>| bin.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
                    packed.iter().map(core).collect::<Vec<_>>().join("|")
                } else {
                    "-".to_string()
                });
            }
        }
        writeln!(out, "{}", words.join(" "))?;
    }
    Ok(())
}
