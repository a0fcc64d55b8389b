//! The stepper: a monitor's state, moved by events. The same code in the simulator, on the machine and over an old trace.

use crate::table::{Encoding, Table};
use crate::verdict::Verdict;

/// What does not change about a monitor.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor<'t> {
    /// Its transitions.
    pub table: Table<'t>,
    /// The state before the first event.
    pub initial: u32,
    /// The state in which the property is satisfied for good, if there is one.
    pub true_state: Option<u32>,
    /// The state in which it is violated for good, if there is one.
    pub false_state: Option<u32>,
    /// Whether the monitor starts anew after a verdict; otherwise it stops.
    ///
    /// A monitor that starts anew takes its automata to be in their initial states, whatever state the system is in.
    pub reset: bool,
}

/// What an event did to a monitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// No verdict yet.
    Continues,
    /// This event brought the verdict.
    Concluded(Verdict),
    /// An earlier event brought the verdict; this one was not looked at.
    Stopped,
}

/// A monitor at work.
///
/// A step in a plain table is a look-up and two comparisons: whether there is such an event, and whether the state concludes. All
/// else is done aside.
#[derive(Clone, Copy, Debug)]
pub struct Stepper<'t> {
    state: u32,
    /// How many events there are.
    events: u32,
    /// The states that conclude lie from this one on. Others may lie behind it; a step into one of those takes longer.
    first_final: u32,
    /// The table, where it is plain and the monitor has not stopped; else nothing.
    plain: &'t [u8],
    stopped: bool,
    /// The state in which the event that brought the last verdict found it.
    left: u32,
    descriptor: Descriptor<'t>,
}

/// No table has that many states.
const NO_STATE: u32 = u32::MAX;

/// The bytes of a table in which a look-up takes one of them.
fn plain<'t>(table: &Table<'t>) -> &'t [u8] {
    match table.layout().encoding {
        Encoding::Plain => table.bytes(),
        _ => &[],
    }
}

impl<'t> Stepper<'t> {
    /// A monitor that has seen no event.
    pub fn new(descriptor: Descriptor<'t>) -> Self {
        let Descriptor { table, initial, true_state, false_state, .. } = descriptor;
        let first_final = true_state.unwrap_or(NO_STATE).min(false_state.unwrap_or(NO_STATE));
        let events = table.layout().events;
        let plain = plain(&table);
        Stepper { state: initial, events, first_final, plain, stopped: false, left: initial, descriptor }
    }
    /// The present state.
    pub const fn state(&self) -> u32 {
        self.state
    }
    /// The state in which the event that brought the last verdict found the monitor.
    pub const fn left(&self) -> u32 {
        self.left
    }
    /// The verdict until now. A monitor that starts anew forgets it.
    #[inline(always)]
    pub fn verdict(&self) -> Verdict {
        if Some(self.state) == self.descriptor.false_state {
            Verdict::False
        } else if Some(self.state) == self.descriptor.true_state {
            Verdict::True
        } else {
            Verdict::NotYet
        }
    }
    /// Takes one event, by its column. An event without a column changes nothing.
    #[inline]
    pub fn step(&mut self, event: u32) -> Step {
        if event < self.events {
            let index = self.state.wrapping_mul(self.events).wrapping_add(event);
            if let Some(&next) = self.plain.get(index as usize) {
                return self.enter(next.into());
            }
        }
        self.look_up(event)
    }
    /// As [`Stepper::step`], in any table, of a monitor that may have stopped.
    #[inline(never)]
    fn look_up(&mut self, event: u32) -> Step {
        if self.stopped {
            return Step::Stopped;
        }
        self.enter(self.descriptor.table.next(self.state, event))
    }
    #[inline(always)]
    fn enter(&mut self, state: u32) -> Step {
        if state < self.first_final {
            self.state = state;
            return Step::Continues;
        }
        self.conclude(state)
    }
    #[cold]
    #[inline(never)]
    fn conclude(&mut self, state: u32) -> Step {
        let left = core::mem::replace(&mut self.state, state);
        let verdict = self.verdict();
        if verdict == Verdict::NotYet {
            return Step::Continues;
        }
        self.left = left;
        if self.descriptor.reset {
            self.state = self.descriptor.initial;
        } else {
            (self.stopped, self.plain) = (true, &[]);
        }
        Step::Concluded(verdict)
    }
    /// Forgets all events.
    pub fn restart(&mut self) {
        *self = Stepper::new(self.descriptor);
    }
}
