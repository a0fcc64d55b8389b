//! Instructions of the structures' operations without contention. This program runs under valgrind's counter, switched
//! on in the counted rounds only; what going round costs is taken off. The counts are the same on every run.

use super::arguments::Compare;
use std::fs;
use std::process::{Command, Stdio};
use tactus_machine::failure::{Failure, Outcome};
use tactus_rig::count::{COUNTED, DIRECTORY_OPERATIONS, QUEUE_OPERATIONS};
use tactus_rig::names::{DIRECTORIES, QUEUES};
use tactus_terminal::lines;
use tactus_terminal::progress::Work;

/// How often an operation is done in a count.
const ROUNDS: u64 = 2_000;

const CORES: [usize; 6] = [2, 4, 8, 16, 32, 48];
const TASKS: [usize; 3] = [10, 100, 1_000];

/// Counts everything, and prints tables.
pub fn count(arguments: &Compare) -> Result<Outcome, Failure> {
    let cores = if arguments.cores.is_empty() { CORES.to_vec() } else { arguments.cores.clone() };
    if let Some(n) = cores.iter().find(|n| !(1..=64).contains(*n)) {
        return Err(Failure::Input(format!("--cores: {n} processors; 1 to 64 can be counted")));
    }
    let mut stored = Vec::new();
    let names: Vec<&str> = DIRECTORIES
        .iter()
        .copied()
        .filter(|name| arguments.structures.is_empty() || arguments.structures.iter().any(|wanted| wanted == name))
        .collect();
    let kinds =
        [("cores", names, DIRECTORY_OPERATIONS, cores), ("tasks", QUEUES.to_vec(), QUEUE_OPERATIONS, TASKS.to_vec())];
    let of = |(_, names, operations, sizes): &(_, Vec<&str>, &[&str], Vec<usize>)| {
        1 + names.len() * sizes.len() * operations.iter().filter(|operation| **operation != "loop").count()
    };
    let total = kinds.iter().map(of).sum();
    let mut count = Count { work: Work::new("count", total as u64), done: 0, total };
    for (unit, names, operations, sizes) in kinds {
        // What a round costs by itself.
        let empty = instructions(&mut count, names[0], "loop", sizes[0])?;
        for operation in operations.iter().filter(|operation| **operation != "loop") {
            let mut rows = Vec::new();
            for name in &names {
                let mut row = vec![(*name).to_string()];
                for size in &sizes {
                    let all = instructions(&mut count, name, operation, *size)?;
                    let each = all.saturating_sub(empty) as f64 / ROUNDS as f64;
                    row.push(format!("{each:.1}"));
                    stored.push(serde_json::json!({
                        "structure": name, "operation": operation, unit: size, "instructions": each
                    }));
                }
                rows.push(row);
            }
            let heads: Vec<String> = sizes.iter().map(|size| format!("{size} {unit}")).collect();
            let mut head = vec![*operation];
            head.extend(heads.iter().map(String::as_str));
            count.work.aside(|| lines::put(&format!("{}\n", lines::table(&head, &rows))));
        }
    }
    drop(count);
    let text: String = stored.iter().map(|line| format!("{line}\n")).collect();
    let path = arguments.out.join("instructions.jsonl");
    let wrote = fs::create_dir_all(&arguments.out).and_then(|()| fs::write(&path, text));
    wrote.map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))?;
    lines::line("unit", format!("instructions of one operation, the mean of {ROUNDS} that nobody disturbs"));
    lines::line("results", path.display());
    Ok(Outcome::Held)
}

/// How far it is.
struct Count {
    work: Work,
    done: usize,
    total: usize,
}

fn instructions(count: &mut Count, structure: &str, operation: &str, size: usize) -> Result<u64, Failure> {
    let Count { work, done, total } = count;
    let words = || format!("{structure} · {operation} · {size}, count {} of {total}", *done + 1);
    work.tell(*done as u64, words);
    *done += 1;
    let program = std::env::current_exe().map_err(|error| Failure::Machine(error.to_string()))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect=*{COUNTED}*"))
        .arg(program)
        .args(["rig", "counted", structure, operation, &size.to_string(), &ROUNDS.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            Failure::Machine(format!("valgrind does not start: {error}; install it (apt-get install valgrind)"))
        })?;
    let words = String::from_utf8_lossy(&output.stderr);
    let counted = words.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<u64>().ok());
    match counted {
        Some(count) if output.status.success() && count > 0 => Ok(count),
        _ => Err(Failure::Machine(format!("valgrind did not count {operation} of {structure}: {}", words.trim()))),
    }
}
