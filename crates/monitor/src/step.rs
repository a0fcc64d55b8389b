//! The stepper: a monitor's state, moved by events. The same code in the simulator, on the machine and over an old trace.

use crate::table::Table;
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
#[derive(Clone, Copy, Debug)]
pub struct Stepper<'t> {
    descriptor: Descriptor<'t>,
    /// The states that conclude; [`NO_STATE`] where there is none.
    false_state: u32,
    true_state: u32,
    state: u32,
    stopped: bool,
}

/// No table has that many states.
const NO_STATE: u32 = u32::MAX;

impl<'t> Stepper<'t> {
    /// A monitor that has seen no event.
    pub fn new(descriptor: Descriptor<'t>) -> Self {
        let number = |state: Option<u32>| match state {
            Some(state) => state,
            None => NO_STATE,
        };
        let (false_state, true_state) = (number(descriptor.false_state), number(descriptor.true_state));
        Stepper { state: descriptor.initial, false_state, true_state, descriptor, stopped: false }
    }
    /// The present state.
    pub const fn state(&self) -> u32 {
        self.state
    }
    /// The verdict until now. A monitor that starts anew forgets it.
    #[inline(always)]
    pub fn verdict(&self) -> Verdict {
        if self.state == self.false_state {
            Verdict::False
        } else if self.state == self.true_state {
            Verdict::True
        } else {
            Verdict::NotYet
        }
    }
    /// Takes one event, by its column. An event without a column changes nothing.
    #[inline]
    pub fn step(&mut self, event: u32) -> Step {
        if self.stopped {
            return Step::Stopped;
        }
        self.state = self.descriptor.table.next(self.state, event);
        if self.state != self.false_state && self.state != self.true_state {
            return Step::Continues;
        }
        self.conclude()
    }
    #[cold]
    fn conclude(&mut self) -> Step {
        let verdict = self.verdict();
        if self.descriptor.reset {
            self.state = self.descriptor.initial;
        } else {
            self.stopped = true;
        }
        Step::Concluded(verdict)
    }
    /// Forgets all events.
    pub fn restart(&mut self) {
        (self.state, self.stopped) = (self.descriptor.initial, false);
    }
}
