//! One processor: what each order of jobs can promise there.

pub mod any_order;
pub mod bursts;
pub mod edf_demand;
pub mod edf_response;
pub mod fifo;
pub mod fixed_priority;
pub mod harmonic;
pub mod laxity;
pub mod nonpreemptive_edf;
pub mod nonpreemptive_fp;
pub mod phased;
pub mod preemption_delay;
pub mod preemption_threshold;
pub mod round_robin;
pub mod transactions;
pub mod utilisation_bounds;

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, withheld, Sporadic, Withheld};
use crate::utilisation::Utilisation;

/// The longest busy period: the least L > 0 with L = B + Σ ⌈(L + Jᵢ)/Tᵢ⌉·Cᵢ + withheld(L).
///
/// `None` where it does not end or the effort did not do.
pub(crate) fn busy_period(tasks: &[Sporadic], b: i128, processor: &dyn Withheld, effort: &mut Effort) -> Option<i128> {
    if overloaded(tasks) {
        return None;
    }
    let mut l = (b + tasks.iter().map(Sporadic::c).sum::<i128>()).max(1);
    loop {
        if l > HORIZON || !effort.spend(tasks.len()) {
            return None;
        }
        let demand = b + tasks.iter().map(|τ| ceil_div(l + τ.j(), τ.t()) * τ.c()).sum::<i128>();
        let next = demand + withheld(processor, l);
        if next <= l {
            return Some(l);
        }
        l = next;
    }
}

/// Whether ΣUᵢ > 1, so that no busy period has to end.
pub(crate) fn overloaded<'t>(tasks: impl IntoIterator<Item = &'t Sporadic>) -> bool {
    !Utilisation::of(tasks.into_iter().map(|τ| (τ.execution, τ.period))).at_most(1)
}
