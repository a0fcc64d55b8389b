//! Semi-partitioned EDF: what C=D splitting places meets its deadlines in schedules where each piece of a job follows the one before.

use crate::common::Dice;
use tactus_analysis::partitioned::semi::{split, Piece};
use tactus_analysis::task::Sporadic;
use tactus_time::Duration;

/// The unit of drawn times: pieces may be as short as this.
const UNIT: u64 = 10_000;

fn drawn(dice: &mut Dice) -> (Vec<Sporadic>, usize) {
    let m = dice.between(2, 4) as usize;
    let n = dice.between(m as u64 + 1, 3 * m as u64) as usize;
    let weights: Vec<u64> = (0..n).map(|_| dice.between(30, 100)).collect();
    let percent = dice.between(75, 100) * m as u64;
    let constrained = dice.between(0, 2) == 0;
    let tasks = weights.iter().map(|w| {
        let t = dice.pick(&[100, 120, 150, 200, 300, 400]);
        let c = (t * percent * w / weights.iter().sum::<u64>() / 100).clamp(1, t);
        let d = if constrained { dice.between(c.max(t * 3 / 4), t) } else { t };
        Sporadic::new(Duration::from_nanos(c * UNIT), Duration::from_nanos(t * UNIT), Duration::from_nanos(d * UNIT))
    });
    (tasks.collect(), m)
}

/// A piece of a job that is ready or runs.
struct Ready {
    deadline: u64,
    task: usize,
    released: u64,
    /// Which of the task's pieces.
    piece: usize,
    /// What is left of the piece, and of the job after it.
    left: u64,
    after: u64,
}

/// The longest response of each task up to `end`; every core runs EDF on its pieces.
fn simulate(
    tasks: &[Sporadic],
    placed: &[Vec<Piece>],
    first: &[u64],
    late: u64,
    end: u64,
    dice: &mut Dice,
) -> Vec<u64> {
    let mut route: Vec<Vec<(usize, Piece)>> = vec![Vec::new(); tasks.len()];
    for (core, pieces) in placed.iter().enumerate() {
        pieces.iter().for_each(|p| route[p.task].push((core, *p)));
    }
    route.iter_mut().for_each(|pieces| pieces.sort_by_key(|(_, p)| p.offset));
    let mut next = first.to_vec();
    let mut cores: Vec<Vec<Ready>> = placed.iter().map(|_| Vec::new()).collect();
    let mut worst = vec![0; tasks.len()];
    let mut now = 0;
    let start = |cores: &mut Vec<Vec<Ready>>, task: usize, piece: usize, released: u64, left: u64| {
        let (core, p) = route[task][piece];
        let own = left.min(p.piece.execution.as_nanos());
        let deadline = released + (p.offset + p.piece.deadline).as_nanos();
        cores[core].push(Ready { deadline, task, released, piece, left: own, after: left - own });
    };
    while now < end {
        for task in 0..tasks.len() {
            if next[task] == now {
                let full = tasks[task].execution.as_nanos();
                let takes = if dice.between(0, 3) == 0 { dice.between(1, full) } else { full };
                start(&mut cores, task, 0, now, takes);
                next[task] += tasks[task].period.as_nanos() + dice.between(0, late);
            }
        }
        for core in &mut cores {
            core.sort_by_key(|r| (r.deadline, r.task));
        }
        let ends = cores.iter().filter_map(|core| core.first()).map(|r| now + r.left);
        let until = ends.chain(next.iter().copied()).min().expect("tasks come again");
        let mut done = Vec::new();
        for core in &mut cores {
            if let Some(running) = core.first_mut() {
                running.left -= until - now;
                if running.left == 0 {
                    done.push(core.remove(0));
                }
            }
        }
        now = until;
        for r in done {
            if r.after > 0 {
                start(&mut cores, r.task, r.piece + 1, r.released, r.after);
            } else {
                worst[r.task] = worst[r.task].max(now - r.released);
            }
        }
    }
    for r in cores.iter().flatten() {
        worst[r.task] = worst[r.task].max(end.saturating_sub(r.released));
    }
    worst
}

/// Sets placed, those of them with a task in pieces, and schedules.
fn falsify(seed: u64, sets: u64) -> (u64, u64, u64) {
    let mut dice = Dice::new(seed);
    let (mut accepted, mut in_pieces, mut schedules) = (0, 0, 0);
    while accepted < sets {
        let (tasks, m) = drawn(&mut dice);
        let Ok(placed) = split(&tasks, m) else { continue };
        accepted += 1;
        in_pieces += u64::from(placed.iter().map(Vec::len).sum::<usize>() > tasks.len());
        for run in 0..3 {
            let first: Vec<u64> =
                tasks.iter().map(|τ| if run == 0 { 0 } else { dice.between(0, τ.period.as_nanos()) }).collect();
            let late = if run == 2 { 50 * UNIT } else { 0 };
            let seen = simulate(&tasks, &placed, &first, late, 3_000 * UNIT, &mut dice);
            for (τ, seen) in tasks.iter().zip(seen) {
                assert!(seen <= τ.deadline.as_nanos(), "{seen} > {}: {tasks:?} {placed:?} from {first:?}", τ.deadline);
            }
            schedules += 1;
        }
    }
    (accepted, in_pieces, schedules)
}

#[test]
fn whatever_is_placed_in_pieces_meets_its_deadlines() {
    let (accepted, in_pieces, _) = falsify(81, if cfg!(debug_assertions) { 100 } else { 500 });
    assert!(in_pieces > accepted / 10, "{in_pieces} of {accepted}");
}

#[test]
#[ignore = "the long run of evidence"]
fn whatever_is_placed_in_pieces_meets_its_deadlines_in_50_000_sets() {
    println!("{:?} sets, in pieces, schedules", falsify(181, 50_000));
}
