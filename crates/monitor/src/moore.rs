//! Moore machines: an output in each state, a next state for each pair of state and input.

use crate::budget::{Budget, OverBudget};
use std::collections::HashMap;
use std::hash::Hash;

/// A complete deterministic machine. Inputs and states are numbers from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moore<O> {
    /// The number of inputs.
    pub inputs: usize,
    /// The state before the first input.
    pub initial: u32,
    /// The next state of state `s` on input `i`, at `s * inputs + i`.
    pub next: Vec<u32>,
    /// The output of each state.
    pub outputs: Vec<O>,
}

impl<O: Copy + Eq + Hash> Moore<O> {
    /// The number of states.
    pub fn states(&self) -> usize {
        self.outputs.len()
    }
    /// The state after `input` in `state`; both must exist.
    pub fn step(&self, state: u32, input: usize) -> u32 {
        self.next[state as usize * self.inputs + input]
    }
    /// The next states of `state`, by input.
    pub fn row(&self, state: u32) -> &[u32] {
        &self.next[state as usize * self.inputs..][..self.inputs]
    }
    /// The output of `state`.
    pub fn output(&self, state: u32) -> O {
        self.outputs[state as usize]
    }

    /// The machine with the fewest states and the same outputs after every sequence of inputs.
    ///
    /// States are first told apart by output, then by the classes of their next states, until nothing more is told apart
    /// (Moore, "Gedanken-experiments on sequential machines", 1956). States that cannot be reached are left out, and the others
    /// are numbered in the order in which a search by breadth from the initial state meets them.
    #[must_use]
    pub fn minimised(&self) -> Moore<O> {
        match self.minimised_from(&mut { Budget::UNLIMITED }) {
            Ok((machine, _)) => machine,
            Err(_) => self.clone(),
        }
    }

    /// The smallest machine and, for each of its states, one of this machine's states that it stands for.
    pub(crate) fn minimised_from(&self, budget: &mut Budget) -> Result<(Moore<O>, Vec<u32>), OverBudget> {
        budget.fits(self.states() * self.inputs * size_of::<u32>())?;
        let mut classes: Vec<u32> = vec![0; self.states()];
        let mut count = 0;
        loop {
            budget.work(self.states() * (1 + self.inputs))?;
            let mut known: HashMap<(O, u32, Vec<u32>), u32> = HashMap::new();
            let mut refined = Vec::with_capacity(classes.len());
            for state in 0..self.states() as u32 {
                let after =
                    if count == 0 { vec![] } else { self.row(state).iter().map(|&s| classes[s as usize]).collect() };
                let fresh = known.len() as u32;
                refined.push(*known.entry((self.output(state), classes[state as usize], after)).or_insert(fresh));
            }
            let before = std::mem::replace(&mut count, known.len());
            classes = refined;
            if before == count {
                break;
            }
        }
        let mut representatives = vec![u32::MAX; count];
        for (state, &class) in classes.iter().enumerate() {
            representatives[class as usize] = representatives[class as usize].min(state as u32);
        }
        let first = representatives[classes[self.initial as usize] as usize];
        let step = |&state: &u32, input, _: &mut Budget| {
            Ok(representatives[classes[self.step(state, input) as usize] as usize])
        };
        let explored = explore(first, self.inputs, budget, step, |_| 0)?;
        Ok((explored.map_outputs(|&state| self.output(state)), explored.into_states()))
    }
}

/// A machine whose states still carry what they were made of.
pub(crate) struct Explored<S> {
    states: Vec<S>,
    next: Vec<u32>,
    inputs: usize,
}

impl<S> Explored<S> {
    pub fn map_outputs<O>(&self, output: impl Fn(&S) -> O) -> Moore<O> {
        Moore {
            inputs: self.inputs,
            initial: 0,
            next: self.next.clone(),
            outputs: self.states.iter().map(output).collect(),
        }
    }
    pub fn into_states(self) -> Vec<S> {
        self.states
    }
}

/// All states that can be reached, numbered by breadth, inputs in their order. `size` tells the bytes of a state on the heap.
pub(crate) fn explore<S: Clone + Eq + Hash>(
    initial: S,
    inputs: usize,
    budget: &mut Budget,
    mut step: impl FnMut(&S, usize, &mut Budget) -> Result<S, OverBudget>,
    size: impl Fn(&S) -> usize,
) -> Result<Explored<S>, OverBudget> {
    // A state is kept twice, with its number and in the list; and it has a row.
    let room = |state: &S| 2 * (size_of::<S>() + size(state)) + (inputs + 1) * size_of::<u32>();
    budget.take(room(&initial))?;
    let mut numbers = HashMap::from([(initial.clone(), 0)]);
    let (mut states, mut next, mut at) = (vec![initial], Vec::new(), 0);
    while at < states.len() {
        budget.work(inputs)?;
        for input in 0..inputs {
            let after = step(&states[at], input, budget)?;
            let number = match numbers.get(&after) {
                Some(&number) => number,
                None => {
                    budget.take(room(&after))?;
                    let number = states.len() as u32;
                    numbers.insert(after.clone(), number);
                    states.push(after);
                    number
                }
            };
            next.push(number);
        }
        at += 1;
    }
    Ok(Explored { states, next, inputs })
}
