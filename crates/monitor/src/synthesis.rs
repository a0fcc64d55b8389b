//! From a formula to the machine that gives the earliest verdict on each finite sequence of letters.
//!
//! # Construction
//! A state is a pair of sets of clauses ([`crate::obligations`]): *yes*, whose disjunction the rest of the word must satisfy for the
//! property to hold, and *no*, the same for its negation. The initial state holds the clauses of the formula and of its negation. On a
//! letter each clause is replaced by the destinations of those of its moves that the letter allows. Clauses that no word over the
//! alphabet satisfies are left out, and so are clauses that demand all that another one of the set demands. The verdict is *false* if
//! *yes* is empty, *true* if *no* is empty, and otherwise *not yet*.
//!
//! # Why it is right
//! Write L(S) for the words that satisfy at least one clause of the set S. The claim is that after the letters u of any word, L(yes) is
//! exactly the set of continuations w with uw ⊨ φ, and L(no) the set of those with uw ⊭ φ.
//! 1. *Start.* A formula is equivalent to its one clause: the obligations that it is the conjunction of.
//! 2. *Step.* By the expansion laws, which are equivalences of the logic, aw satisfies a clause if and only if w
//!    satisfies the destination of one of its moves on a. So the step takes L(S) to { w : aw ∈ L(S) }.
//! 3. *Leaving out.* A clause that no word satisfies adds nothing to L. If C ⊆ D as sets of obligations, L(D) ⊆ L(C), so D adds nothing.
//! 4. *Verdict.* As no unsatisfiable clause is kept, L(S) is empty if and only if S is. So *false* is said if and only if no
//!    continuation satisfies the property, *true* if and only if none violates it: the verdicts of LTL3, none later than it could be.
//! 5. *Satisfiable clauses* are found exactly ([`crate::clauses`]): for a word that satisfies a clause, taking for each until formula the move
//!    to its second operand as soon as the rest satisfies it gives a path on which no until formula is put off for ever; and along a path
//!    on which none is, each obligation that was met by a move holds by induction on the formula.
//! 6. *End.* Obligations are subformulas or unfoldings of the formula and its negation, of which there are finitely many; so there
//!    are finitely many clauses and states.
//!
//! Nothing here needs an automaton of another tool: the determinisation is the only one, and it is over sets that are kept small.

use crate::budget::{Budget, OverBudget};
use crate::clauses::{ClauseGraph, Lasso};
use crate::error::SynthesisError;
use crate::formula::Formula;
use crate::letter::Letter;
use crate::moore::{explore, Moore};
use crate::obligations::{clause_is_weaker, weakest, Obligations};
use crate::past::Carried;
use crate::verdict::Verdict;

/// The machine of a formula, and what its states mean.
pub struct Synthesis {
    /// Over the letters as inputs, in the order in which they were given; not minimised.
    pub machine: Moore<Verdict>,
    graph: ClauseGraph,
    states: Vec<State>,
}

/// What is carried of the past, and nodes by number, in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    carried: Carried,
    yes: Vec<u32>,
    no: Vec<u32>,
}

impl State {
    fn verdict(&self) -> Verdict {
        match (self.yes.is_empty(), self.no.is_empty()) {
            (true, _) => Verdict::False,
            (_, true) => Verdict::True,
            _ => Verdict::NotYet,
        }
    }
    /// One state stands for all that have the same final verdict.
    fn settled(self) -> State {
        match self.verdict() {
            Verdict::False => State { carried: 0, yes: vec![], no: vec![0] },
            Verdict::True => State { carried: 0, yes: vec![0], no: vec![] },
            Verdict::NotYet => self,
        }
    }
}

impl Synthesis {
    /// Makes the machine of `formula` over `letters`, whose bits stand for `atoms` in their order.
    ///
    /// The verdicts are about continuations over these letters: where two propositions can never hold together, giving only the letters
    /// that can occur makes verdicts earlier.
    ///
    /// # Errors
    /// The formula names a proposition that is not in `atoms`, holds a bound on time, looks ahead from the past, or needs more than
    /// the budget.
    pub fn new(
        formula: &Formula,
        atoms: &[String],
        letters: &[Letter],
        budget: &mut Budget,
    ) -> Result<Self, SynthesisError> {
        if atoms.len() > Letter::BITS as usize {
            return Err(SynthesisError::TooManyAtoms { count: atoms.len(), limit: Letter::BITS as usize });
        }
        let mut obligations = Obligations::new(atoms);
        let mut starts = Vec::new();
        for positive in [true, false] {
            let node = obligations.normal(formula, positive)?;
            starts.push(obligations.clause(node)?);
        }
        let graph = ClauseGraph::explore(&mut obligations, &starts, letters, budget)?;
        let past = obligations.past();
        let number = |clause| {
            let node = graph.number((0, clause)).filter(|&node| graph.is_satisfiable(node));
            node.into_iter().collect()
        };
        let initial = State { carried: 0, yes: number(starts[0]), no: number(starts[1]) }.settled();
        let step = |state: &State, input: usize, budget: &mut Budget| {
            if state.verdict().is_final() {
                return Ok(state.clone());
            }
            budget.work(past.effort())?;
            let read = past.read(state.carried, letters[input]);
            let mut after = |nodes| successors(&graph, nodes, read, budget);
            Ok(State { carried: read.1, yes: after(&state.yes)?, no: after(&state.no)? }.settled())
        };
        let size = |state: &State| (state.yes.len() + state.no.len()) * size_of::<u32>();
        let explored = explore(initial, letters.len(), budget, step, size)?;
        let machine = explored.map_outputs(State::verdict);
        Ok(Synthesis { machine, states: explored.into_states(), graph })
    }

    /// A continuation that satisfies the property from a state of the machine on; nothing where the verdict is final.
    pub fn satisfying(&self, state: u32) -> Option<Lasso> {
        self.witness(state, |state| &state.yes)
    }
    /// A continuation that violates the property from a state of the machine on; nothing where the verdict is final.
    pub fn violating(&self, state: u32) -> Option<Lasso> {
        self.witness(state, |state| &state.no)
    }
    fn witness(&self, state: u32, clauses: impl Fn(&State) -> &Vec<u32>) -> Option<Lasso> {
        let state = &self.states[state as usize];
        if state.verdict().is_final() {
            return None;
        }
        clauses(state).first().and_then(|&clause| self.graph.witness(clause))
    }
}

/// The nodes that the moves of these lead to on what is read, without those that demand as much as another one.
fn successors(
    graph: &ClauseGraph,
    nodes: &[u32],
    read: (Letter, Carried),
    budget: &mut Budget,
) -> Result<Vec<u32>, OverBudget> {
    let edges = nodes.iter().flat_map(|&node| graph.on(node, read));
    let mut numbers: Vec<u32> = edges.map(|edge| edge.to).filter(|&to| graph.is_satisfiable(to)).collect();
    budget.work(nodes.len() + numbers.len())?;
    numbers.sort_unstable();
    numbers.dedup();
    // All of them carry the same.
    let clause = |number: &u32| graph.nodes[*number as usize].1;
    let mut kept = weakest(numbers, |a, b| clause_is_weaker(&clause(a), &clause(b)), budget)?;
    kept.sort_unstable();
    Ok(kept)
}
