//! Optimal priorities: Audsley's bottom-up assignment.
//!
//! Audsley, "Optimal priority assignment and feasibility of static priority tasks with arbitrary start times", YCS-164,
//! 1991. Optimal for every test in which a task's verdict depends on the set of tasks above it, but not on their order,
//! and grows no worse with a task less above it. That holds for [`super::smc`] and [`super::amc_rtb`], and, where all
//! critical tasks above are in time, for [`super::amc_max`] (conditions: Davis and Burns, "Improved priority
//! assignment for global fixed priority pre-emptive scheduling in multiprocessor real-time systems", Real-Time
//! Systems 47, 2011).

/// The places of n tasks from the most to the least urgent, or nothing if no order passes. `fits(task, above)`: whether
/// `task` keeps its promise beneath the tasks `above`. At most n² questions.
pub fn audsley(n: usize, mut fits: impl FnMut(usize, &[usize]) -> bool) -> Option<Vec<usize>> {
    let mut open: Vec<usize> = (0..n).collect();
    let mut order = Vec::with_capacity(n);
    while !open.is_empty() {
        let lowest = (0..open.len()).find(|&i| {
            let above: Vec<usize> = open.iter().copied().filter(|&j| j != open[i]).collect();
            fits(open[i], &above)
        })?;
        order.push(open.remove(lowest));
    }
    order.reverse();
    Some(order)
}
