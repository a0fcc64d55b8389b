//! Tables 1 to 4 of JUNIPER D3.6 again: misses of two applications under virtual platforms and under throttling.
//!
//! ```console
//! $ cargo run --release -p tactus-sim --example bdm
//! ```

use tactus_sim::bdm::{linux, run, Outcome, Scheme, SOURCE};
use tactus_time::Duration;

fn main() -> Result<(), tactus_sim::Error> {
    let (seeds, length) = (20, Duration::from_secs(120));
    println!("two cores, {seeds} seeds (offsets), {length} each: misses per run, mean and most, of tasks 1 to 5");
    for (scheme, source) in [(Scheme::Platforms, [[0; 5]; 2]), (Scheme::Throttling, SOURCE)] {
        for background in [false, true] {
            let outcomes: Vec<Outcome> =
                (1..=seeds).map(|seed| run(scheme, background, seed, length)).collect::<Result<_, _>>()?;
            let each = |n: usize| {
                let all = outcomes.iter().map(|outcome| outcome.missed[n]);
                let mean = f64::from(all.clone().sum::<u32>()) / f64::from(seeds as u32);
                format!("{mean:>6.1} ({:>3})", all.max().unwrap_or(0))
            };
            let misses: Vec<String> = (0..5).map(each).collect();
            let decisions: u64 = outcomes.iter().map(|outcome| outcome.decisions).sum::<u64>() / seeds;
            let beside = if background { "with background   " } else { "without background" };
            let source = source[usize::from(background)];
            let name = format!("{scheme:?}");
            println!("{name:<10} {beside} {}  {decisions:>6} decisions   source: {source:?}", misses.join(" "));
        }
    }
    for background in [false, true] {
        let runs: Vec<_> = (1..=seeds).map(|seed| linux::run(background, seed, length)).collect();
        let mean = |n: usize| runs.iter().map(|it| f64::from(it.outcome.missed[n])).sum::<f64>() / seeds as f64;
        let misses: Vec<String> = (0..5).map(|n| format!("{:.1}", mean(n))).collect();
        let spun: Duration = runs.iter().map(|it| it.spun).sum();
        let beside = if background { "with background   " } else { "without background" };
        let spun = spun.as_secs_f64() / seeds as f64;
        let source = SOURCE[usize::from(background)];
        println!("Linux      {beside} {}  reschedules for {spun:.1} s   source: {source:?}", misses.join(" "));
    }
    Ok(())
}
