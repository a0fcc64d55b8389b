//! Draws task sets for comparisons: lines `m n c t d c t d …`.
//!
//! Arguments: how many, seed, cores, unit in ns, `implicit` or `constrained`, and a number of tasks to draw instead of utilisations
//! (then utilisations are UUniFast's at 30 to 95 % of the cores).

use tactus_analysis::generate::{distributions as d, Random};

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let number = |n: usize, default: u64| a.get(n).and_then(|x| x.parse().ok()).unwrap_or(default);
    let (sets, seed, m, unit) = (number(1, 100), number(2, 1), number(3, 8), number(4, 1));
    let constrained = a.get(5).is_some_and(|x| x == "constrained");
    let fixed = number(6, 0);
    let mut tasks = Vec::new();
    let mut drawn = 0;
    let mut n = 0;
    while drawn < sets {
        n += 1;
        let mut random = Random::at(seed, &[n]);
        let periods = d::PERIODS[random.whole(0, 5) as usize].1;
        let cap = random.between(0.3, 0.95) * m as f64;
        if fixed > 0 {
            let Some(us) = tactus_analysis::generate::uunifast_discard(&mut random, fixed as usize, cap, 1.0, 10_000)
            else {
                continue;
            };
            tasks.clear();
            for u in us {
                let period = periods.draw(&mut random);
                let execution = ((u * period as f64) as u64).max(1);
                tasks.push(tactus_analysis::generate::Task { execution, period, deadline: period });
            }
        } else {
            let (_, utilisations, slack) = d::UTILISATIONS[random.whole(0, 8) as usize];
            if !d::fill(&mut tasks, &mut random, (utilisations, periods), cap, slack) {
                continue;
            }
        }
        print!("{m} {}", tasks.len());
        for task in &tasks {
            let (c, t) = ((task.execution / unit).max(1), task.period / unit);
            let d = if constrained { c + ((t - c) as f64 * random.between(0.3, 1.0)) as u64 } else { t };
            print!(" {c} {t} {d}");
        }
        println!();
        drawn += 1;
    }
}
