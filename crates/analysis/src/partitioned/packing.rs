//! Bin packing: next, first, best and worst fit, in several orders.
//!
//! The heuristics of the literature on partitioned scheduling (for instance Lopez, Diaz and Garcia, Real-Time Systems 28,
//! 2004). A task goes to the chosen bin in which it fits; where it fits in none, packing has failed.

/// Which bin of those in which a task fits is taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fit {
    /// The bin that was used last, else the next one; bins passed by stay closed.
    Next,
    /// The first.
    First,
    /// The one with least room left; the first of equals.
    Best,
    /// The one with most room left; the first of equals.
    Worst,
}

/// In which order tasks are placed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// As they come.
    Given,
    /// Largest size first; of equals the first.
    Decreasing,
    /// Smallest size first; of equals the first.
    Increasing,
}

/// Packs things of these sizes into `bins` bins of a capacity; false where one does not fit.
///
/// What lies in a bin is summed up in an `L`: `with` adds the i-th thing to it and `total` says how full it is. Where packing
/// succeeds, `packed` holds for each bin which things lie in it, in the order in which they were placed.
#[allow(clippy::too_many_arguments)]
pub fn pack<L: Clone + Default>(
    bins: usize,
    capacity: f64,
    sizes: &[f64],
    order: Order,
    fit: Fit,
    with: impl Fn(&L, usize) -> L,
    total: impl Fn(&L) -> f64,
    packed: &mut Vec<Vec<usize>>,
) -> bool {
    packed.resize_with(bins, Vec::new);
    packed.truncate(bins);
    packed.iter_mut().for_each(Vec::clear);
    let mut places: Vec<usize> = (0..sizes.len()).collect();
    match order {
        Order::Given => {}
        Order::Decreasing => places.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a])),
        Order::Increasing => places.sort_by(|&a, &b| sizes[a].total_cmp(&sizes[b])),
    }
    let mut loads: Vec<L> = vec![L::default(); bins];
    let mut full: Vec<f64> = loads.iter().map(&total).collect();
    let mut open = 0;
    for i in places {
        let fits = |bin: usize| total(&with(&loads[bin], i)) <= capacity;
        let bin = match fit {
            Fit::Next => {
                let found = (open..bins).find(|&bin| fits(bin));
                open = found.unwrap_or(bins);
                found
            }
            Fit::First => (0..bins).find(|&bin| fits(bin)),
            // `min_by` takes the first of equals, `max_by` the last: hence the order turned round.
            Fit::Best => (0..bins).filter(|&bin| fits(bin)).min_by(|&a, &b| full[b].total_cmp(&full[a])),
            Fit::Worst => (0..bins).filter(|&bin| fits(bin)).min_by(|&a, &b| full[a].total_cmp(&full[b])),
        };
        let Some(bin) = bin else { return false };
        loads[bin] = with(&loads[bin], i);
        full[bin] = total(&loads[bin]);
        packed[bin].push(i);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bins: usize, sizes: &[f64], order: Order, fit: Fit) -> Option<Vec<Vec<usize>>> {
        let mut packed = Vec::new();
        pack(bins, 1.0, sizes, order, fit, |l: &f64, i| l + sizes[i], |l| *l, &mut packed).then_some(packed)
    }

    #[test]
    fn each_heuristic_takes_the_bin_that_its_name_says() {
        let sizes = [0.5, 0.7, 0.3, 0.2, 0.3];
        assert_eq!(packed(3, &sizes, Order::Given, Fit::First).unwrap(), [vec![0, 2, 3], vec![1, 4], vec![]]);
        assert_eq!(packed(3, &sizes, Order::Given, Fit::Best).unwrap(), [vec![0, 3, 4], vec![1, 2], vec![]]);
        assert_eq!(packed(3, &sizes, Order::Given, Fit::Worst).unwrap(), [vec![0, 4], vec![1], vec![2, 3]]);
        assert_eq!(packed(3, &sizes, Order::Given, Fit::Next).unwrap(), [vec![0], vec![1, 2], vec![3, 4]]);
    }

    #[test]
    fn five_tasks_of_just_over_a_half_do_not_fit_four_cores() {
        for fit in [Fit::Next, Fit::First, Fit::Best, Fit::Worst] {
            assert_eq!(packed(4, &[0.51; 5], Order::Decreasing, fit), None);
            assert!(packed(5, &[0.51; 5], Order::Decreasing, fit).is_some());
        }
    }
}
