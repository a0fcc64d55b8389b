//! Semi-partitioned EDF: a task that fits on no core is split, its first pieces with deadlines equal to their execution times.
//!
//! Burns, Davis, Wang and Zhang, "Partitioned EDF scheduling for multiprocessors using a C=D scheme", Real-Time Systems 48, 2012.
//! A piece with C = D runs at once when it is released and ends C later at the latest, so that the next piece, on another core, is released exactly then.
//! Every core is an ordinary EDF core of sporadic tasks, and is judged by the exact demand test. A piece is made as large as
//! the core's test allows (to a nanosecond-wide bisection, judged by the exact test at the end).

use super::assign::{fits, Local, Unplaced};
use crate::effort::Effort;
use crate::task::Sporadic;
use crate::utilisation::Utilisation;
use tactus_time::Duration;

/// A piece of a task on one core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Which task.
    pub task: usize,
    /// How long after the job's release the piece is released.
    pub offset: Duration,
    /// The piece as a task of its own: its execution time, the task's period, its deadline counted from its own release.
    pub piece: Sporadic,
}

/// Pieces shorter than this are not worth a migration.
pub const SHORTEST: Duration = Duration::from_micros(10);

/// Places tasks by decreasing utilisation, whole where one fits (first fit), else in pieces.
///
/// # Errors
/// The task that does not fit in pieces either, or whose deadline is not within its period.
pub fn split(tasks: &[Sporadic], cores: usize) -> Result<Vec<Vec<Piece>>, Unplaced> {
    let size = |i: &usize| Utilisation::of([(tasks[*i].execution, tasks[*i].period)]).millionths();
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(size(i)));
    let mut placed: Vec<Vec<Piece>> = vec![Vec::new(); cores];
    for task in order {
        let τ = &tasks[task];
        if τ.deadline > τ.period || !τ.jitter.is_zero() || τ.execution > τ.deadline {
            return Err(Unplaced(task));
        }
        let whole = Piece { task, offset: Duration::ZERO, piece: *τ };
        if let Some(core) = (0..cores).find(|&core| accepts(&placed[core], &whole)) {
            placed[core].push(whole);
            continue;
        }
        in_pieces(&mut placed, task, τ)?;
    }
    Ok(placed)
}

fn accepts(core: &[Piece], more: &Piece) -> bool {
    let tasks: Vec<Sporadic> = core.iter().chain([more]).map(|p| p.piece).collect();
    fits(&tasks, Local::Edf, &mut Effort::default())
}

/// Fills core after core with a piece with C = D, until the rest fits.
fn in_pieces(placed: &mut [Vec<Piece>], task: usize, τ: &Sporadic) -> Result<(), Unplaced> {
    let (mut left, mut offset) = (τ.execution, Duration::ZERO);
    let mut taken = Vec::new();
    // Fullest cores first would waste pieces; the core that takes the largest piece is taken each time.
    loop {
        let rest = Piece { task, offset, piece: Sporadic::new(left, τ.period, τ.deadline.saturating_sub(offset)) };
        let free = |core: &usize| !taken.contains(core);
        if let Some(core) = (0..placed.len()).filter(free).find(|&core| accepts(&placed[core], &rest)) {
            placed[core].push(rest);
            return Ok(());
        }
        let largest = (0..placed.len())
            .filter(free)
            .map(|core| (largest_piece(&placed[core], task, offset, left, τ.period), core))
            .max_by_key(|(c, core)| (*c, std::cmp::Reverse(*core)));
        let Some((c, core)) = largest.filter(|(c, _)| *c >= SHORTEST) else {
            placed.iter_mut().for_each(|core| core.retain(|p| p.task != task));
            return Err(Unplaced(task));
        };
        placed[core].push(Piece { task, offset, piece: Sporadic::new(c, τ.period, c) });
        taken.push(core);
        left = left.saturating_sub(c);
        offset += c;
    }
}

/// The largest C = D below `left` that the core takes.
fn largest_piece(core: &[Piece], task: usize, offset: Duration, left: Duration, period: Duration) -> Duration {
    let takes = |c: u64| {
        let c = Duration::from_nanos(c);
        accepts(core, &Piece { task, offset, piece: Sporadic::new(c, period, c) })
    };
    let (mut low, mut high) = (0, left.as_nanos());
    while high - low > 1_000 {
        let middle = low + (high - low) / 2;
        if takes(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Duration::from_nanos(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn five_tasks_of_just_over_a_half_fit_four_cores_in_pieces() {
        let tasks = [Sporadic::implicit(Duration::from_micros(5_100), ms(10)); 5];
        let placed = split(&tasks, 4).expect("C=D splits the fifth");
        let total: Duration = placed.iter().flatten().filter(|p| p.task == 4).map(|p| p.piece.execution).sum();
        assert_eq!(total, tasks[4].execution);
        assert!(placed.iter().flatten().filter(|p| p.task == 4).count() >= 2, "{placed:?}");
    }

    #[test]
    fn pieces_follow_each_other_on_different_cores() {
        let tasks = [Sporadic::implicit(ms(6), ms(10)); 3];
        let placed = split(&tasks, 2).expect("1.8 of 2");
        let mut pieces: Vec<(usize, Piece)> = placed
            .iter()
            .enumerate()
            .flat_map(|(core, pieces)| pieces.iter().map(move |p| (core, *p)))
            .filter(|(_, p)| p.task == 2)
            .collect();
        pieces.sort_by_key(|(_, p)| p.offset);
        assert_eq!(pieces.len(), 2, "{placed:?}");
        let ((a, first), (b, second)) = (pieces[0], pieces[1]);
        assert_ne!(a, b);
        assert_eq!(first.piece.execution, first.piece.deadline);
        assert_eq!(second.offset, first.piece.execution);
        assert_eq!(second.offset + second.piece.deadline, ms(10));
    }

    #[test]
    fn more_than_all_cores_is_refused() {
        assert!(split(&[Sporadic::implicit(ms(9), ms(10)); 3], 2).is_err());
    }
}
