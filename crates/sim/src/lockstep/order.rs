//! Puts the calls of all cores into one order.
//!
//! Calls with a ticket touched shared state and go in ticket order. The others touched their own core only, so any
//! order that keeps each core's own is as good; the earliest goes first.

use super::calls::Call;
use super::report::{Disagreement, What};
use tactus_time::{CoreId, Instant};

/// Hands out the calls one by one.
pub struct Order<'c, 't> {
    calls: &'c [Vec<Call<'t>>],
    heads: Vec<usize>,
    ticket: u32,
}

impl<'c, 't> Order<'c, 't> {
    /// Nothing handed out yet.
    pub fn new(calls: &'c [Vec<Call<'t>>]) -> Self {
        Order { calls, heads: vec![0; calls.len()], ticket: 1 }
    }

    /// The next call, or nothing at the end. The end comes early, and without fault, where a core's records stop
    /// inside a call: that call's ticket is not known, and what follows it cannot be replayed.
    pub fn next(&mut self) -> Result<Option<Call<'t>>, Disagreement> {
        let mut first: Option<(Call<'t>, usize)> = None;
        for (core, calls) in self.calls.iter().enumerate() {
            let Some(call) = calls.get(self.heads[core]) else { continue };
            let Some(leave) = call.leave else { continue };
            let ready = leave.ticket == 0 || leave.ticket == self.ticket;
            if ready && first.as_ref().is_none_or(|(f, _)| call.enter.time < f.enter.time) {
                first = Some((*call, core));
            }
        }
        match first {
            Some((call, core)) => {
                self.heads[core] += 1;
                self.ticket += u32::from(call.leave.is_some_and(|l| l.ticket != 0));
                Ok(Some(call))
            }
            None if self.blocked().next().is_some() && self.cut().next().is_none() => {
                let Some(call) = self.blocked().min_by_key(|c| c.enter.time) else { return Ok(None) };
                Err(Disagreement::in_call(call, What::Ticket { missing: self.ticket }))
            }
            None => Ok(None),
        }
    }

    /// How many calls have not been handed out.
    pub fn left(&self) -> usize {
        self.calls.iter().zip(&self.heads).map(|(calls, head)| calls.len() - head).sum()
    }

    /// The instant of the first call of the core that has not been handed out.
    pub fn served_until(&self, core: CoreId) -> Option<Instant> {
        self.calls[core.index()].get(self.heads[core.index()]).map(|c| c.enter.time)
    }

    fn waiting(&self) -> impl Iterator<Item = &Call<'t>> {
        self.calls.iter().zip(&self.heads).filter_map(|(calls, head)| calls.get(*head))
    }

    fn blocked(&self) -> impl Iterator<Item = &Call<'t>> {
        self.waiting().filter(|c| c.leave.is_some())
    }

    fn cut(&self) -> impl Iterator<Item = &Call<'t>> {
        self.waiting().filter(|c| c.leave.is_none())
    }
}
