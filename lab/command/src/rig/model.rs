//! What a structure's operations would cost on more cores than there are. A model: what goes in is measured here or
//! read off the structure's own files, and both is printed beside what comes out.

use super::arguments::Model;
use tactus_machine::failure::{Failure, Outcome};
use tactus_rig::names;
use tactus_terminal::lines;
use tactus_terminal::progress::Wait;

/// How a structure moves lines of the cache, and who waits.
struct Made {
    name: &'static str,
    /// Lines that a change takes from other cores, on n cores.
    change: fn(f64) -> f64,
    /// Lines that a look takes.
    look: fn(f64) -> f64,
    /// The part of changes that have to wait for one another from their beginning to their end.
    change_waits: fn(f64) -> f64,
    /// The same of looks.
    look_waits: f64,
    /// Lines that all who change write with locked instructions, without a lock.
    written_by_all: f64,
}

/// Levels of a heap or a tree of n.
fn levels(n: f64) -> f64 {
    (n + 1.0).log2().ceil()
}

/// Lines on a path through an array heap of n with an index: entries of 16 bytes, places of 4.
fn path(n: f64) -> f64 {
    (n / 4.0).ceil().min(levels(n)) + (n / 16.0).ceil().min(levels(n))
}

fn all(_: f64) -> f64 {
    1.0
}

fn none(_: f64) -> f64 {
    0.0
}

const STRUCTURES: [Made; 12] = [
    // Its own number, which others have looked at; all others' numbers.
    Made { name: "scan", change: all, look: |n| n - 1.0, change_waits: none, look_waits: 0.0, written_by_all: 0.0 },
    // Old level, new level; where nobody is idle, all levels: 102 of 16 bytes.
    Made { name: "cpupri", change: |_| 2.0, look: |_| 26.0, change_waits: none, look_waits: 0.0, written_by_all: 1.0 },
    Made {
        name: "cpupri-linux",
        change: |_| 2.0,
        look: |_| 26.0,
        change_waits: none,
        look_waits: 0.0,
        written_by_all: 1.0,
    },
    // Lock, idle set, root, own number, a path; idle set, root, the root's number.
    Made {
        name: "cpudl",
        change: |n| 4.0 + path(n),
        look: |_| 3.0,
        change_waits: all,
        look_waits: 0.0,
        written_by_all: 0.0,
    },
    // Own number, list, root, the root's number; two in n change the root: lock and a path.
    Made {
        name: "fast-heap",
        change: |n| 4.0 + 2.0 / n * (1.0 + path(n)),
        look: |_| 2.0,
        change_waits: |n| (2.0 / n).min(1.0),
        look_waits: 0.0,
        written_by_all: 1.0,
    },
    // Lock, and two nodes a level.
    Made {
        name: "skip-list",
        change: |n| 2.0 + 2.0 * levels(n),
        look: |_| 2.0,
        change_waits: all,
        look_waits: 0.0,
        written_by_all: 0.0,
    },
    // Own card, list, answer; the combiner has the heap, so its share of each is a card and a number.
    Made {
        name: "flat-combining",
        change: |_| 5.0,
        look: |_| 2.0,
        change_waits: all,
        look_waits: 0.0,
        written_by_all: 1.0,
    },
    // Own number, inbox; the owner takes both, which counts as the change's too.
    Made {
        name: "delegation",
        change: |_| 4.0,
        look: |_| 2.0,
        change_waits: none,
        look_waits: 0.0,
        written_by_all: 1.0,
    },
    // A node a level, each read and written twice at most; the root and the two below are everybody's.
    Made {
        name: "tournament",
        change: levels,
        look: |_| 2.0,
        change_waits: none,
        look_waits: 0.0,
        written_by_all: 2.0,
    },
    // Own number, marks; lock, marks, a path for what was marked, its number.
    Made {
        name: "marks",
        change: |_| 2.0,
        look: |n| 3.0 + path(n),
        change_waits: none,
        look_waits: 1.0,
        written_by_all: 1.0,
    },
    // Lock, a number; lock, all numbers, eight on a line.
    Made {
        name: "locked-row",
        change: |_| 2.0,
        look: |n| 1.0 + (n / 8.0).ceil(),
        change_waits: all,
        look_waits: 1.0,
        written_by_all: 0.0,
    },
    Made {
        name: "locked-heap",
        change: |n| 1.0 + path(n),
        look: |_| 2.0,
        change_waits: all,
        look_waits: 1.0,
        written_by_all: 0.0,
    },
];

/// How often an operation is done to time it.
const ROUNDS: u64 = 20_000;

/// What one operation takes that nobody disturbs (ns): the shortest mean of several trials.
fn undisturbed(structure: &str, operation: &str, cores: usize) -> f64 {
    let time = |operation| {
        let trials = (0..9).filter_map(|_| names::count_directory(structure, operation, cores, ROUNDS));
        trials.map(|(_, took)| took.as_nanos() as f64).fold(f64::INFINITY, f64::min) / ROUNDS as f64
    };
    (time(operation) - time("loop")).max(0.1)
}

/// Works it out and prints it.
pub fn model(arguments: &Model) -> Result<Outcome, Failure> {
    let wait = Wait::new("model", "a line of the cache between two cores");
    let transfer = match arguments.transfer {
        Some(given) => given.as_nanos() as f64,
        None => match tactus_rig::transfer() {
            Some(took) => took.as_nanos() as f64,
            None => {
                return Err(Failure::Input(
                    "one core only: how long a line of the cache takes to another cannot be measured; give --transfer, as in \
                     --transfer '60 ns'"
                        .to_string(),
                ))
            }
        },
    };
    let mut rows: [Vec<Vec<String>>; 3] = [const { Vec::new() }; 3];
    // By number of cores: the least sum yet, when all act at other times and when all act at once.
    let mut best: Vec<[(f64, &str); 2]> = vec![[(f64::INFINITY, ""); 2]; arguments.cores.len()];
    for made in &STRUCTURES {
        let mut cells: [Vec<String>; 3] = [const { Vec::new() }; 3];
        for (place, cores) in arguments.cores.iter().enumerate() {
            let n = *cores as f64;
            wait.tell(&format!("{} · {cores} cores", made.name));
            let alone = |operation| undisturbed(made.name, operation, *cores as usize);
            let (change_alone, look_alone) = (alone("modify"), alone("find"));
            let lines = |count: f64| if *cores > 1 { count * transfer } else { 0.0 };
            let change = change_alone + lines((made.change)(n));
            let look = look_alone + lines((made.look)(n));
            let others = (n - 1.0) / 2.0;
            let change_once = change
                + others * ((made.change_waits)(n) * change + made.look_waits * look + made.written_by_all * transfer);
            let look_once = look + others * made.look_waits * (look + change * (made.change_waits)(n));
            cells[0].push(format!("{change:.0} / {change_once:.0}"));
            cells[1].push(format!("{look:.0} / {look_once:.0}"));
            cells[2].push(format!("{:.0} / {:.0}", change + look, change_once + look_once));
            for (which, sum) in [change + look, change_once + look_once].into_iter().enumerate() {
                // Levels are no deadlines.
                if !made.name.starts_with("cpupri") && sum < best[place][which].0 {
                    best[place][which] = (sum, made.name);
                }
            }
        }
        for (rows, cells) in rows.iter_mut().zip(cells) {
            rows.push(std::iter::once(made.name.to_string()).chain(cells).collect());
        }
    }
    wait.end();
    lines::line(
        "model",
        "no measurement: what one operation takes in ns, apart from all others / when all cores do one at once",
    );
    let heads: Vec<String> = arguments.cores.iter().map(|n| format!("{n} cores")).collect();
    for (title, rows) in ["change", "look", "both"].into_iter().zip(&rows) {
        let mut head = vec![title];
        head.extend(heads.iter().map(String::as_str));
        lines::put(&lines::table(&head, rows));
        lines::put("\n");
    }
    for (which, title) in ["apart", "at once"].into_iter().enumerate() {
        let list: Vec<String> =
            arguments.cores.iter().zip(&best).map(|(n, best)| format!("{n}: {}", best[which].1)).collect();
        lines::line("least", format!("{title}: {} (for deadlines)", list.join(", ")));
    }
    lines::line(
        "apart",
        "C(n) + L(n)·t: C measured here without contention at n cores, L lines that others wrote last",
    );
    lines::line(
        "at once",
        "apart + (n−1)/2·(w·apart + r·t): w the part that waits for a lock, r lines that all write with locked instructions",
    );
    let from = if arguments.transfer.is_some() { "given" } else { "measured between two cores here" };
    lines::line(
        "t",
        format!("{transfer:.0} ns for a line from one core to another, {from}; L, w and r by each structure's file"),
    );
    Ok(Outcome::Held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_structure_of_the_rig_is_in_the_model() {
        let mut known: Vec<&str> = STRUCTURES.iter().map(|made| made.name).collect();
        let mut all = names::DIRECTORIES.to_vec();
        known.sort_unstable();
        all.sort_unstable();
        assert_eq!(known, all);
    }

    #[test]
    fn a_path_is_no_longer_than_its_heap_is_high() {
        assert_eq!((path(2.0), path(8.0), path(48.0)), (2.0, 3.0, 9.0));
    }
}
