//! The graph of all clauses that a synthesis meets, and which of them can be satisfied at all.
//!
//! An infinite path in the graph along a word meets its clause on that word if no until formula is put off for ever: each is, again
//! and again, not postponed on the path. So a clause can be satisfied if and only if it reaches a strongly connected component,
//! with at least one move inside, in which no until formula is postponed by all moves inside. (The generalised Büchi automaton of
//! Gastin and Oddoux, CAV 2001, with acceptance on moves.)

use crate::budget::{Budget, OverBudget};
use crate::obligations::{Clause, Letter, Move, Obligations};
use std::collections::{HashMap, VecDeque};

/// A move with its destination in the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub choice: Move,
    pub to: u32,
    /// A letter of the alphabet on which the move can be made.
    pub letter: Letter,
}

/// Clauses by number, and the moves from each.
pub(crate) struct ClauseGraph {
    pub clauses: Vec<Clause>,
    pub edges: Vec<Vec<Edge>>,
    numbers: HashMap<Clause, u32>,
    components: Vec<u32>,
    /// By component: whether it holds a satisfying cycle, and whether it reaches one.
    accepting: Vec<bool>,
    satisfiable: Vec<bool>,
}

impl ClauseGraph {
    /// Everything that can be reached from `starts` over an alphabet.
    pub fn explore(
        obligations: &mut Obligations<'_>,
        starts: &[Clause],
        alphabet: &[Letter],
        budget: &mut Budget,
    ) -> Result<ClauseGraph, OverBudget> {
        let (mut clauses, mut numbers, mut edges) = (Vec::new(), HashMap::new(), Vec::new());
        let mut number = |clause: Clause, clauses: &mut Vec<Clause>| {
            *numbers.entry(clause).or_insert_with(|| {
                clauses.push(clause);
                clauses.len() as u32 - 1
            })
        };
        for &start in starts {
            number(start, &mut clauses);
        }
        while edges.len() < clauses.len() {
            let moves = obligations.moves(clauses[edges.len()], budget)?;
            budget.take(moves.len() * size_of::<Edge>() + 4 * size_of::<Clause>() + size_of::<Vec<Edge>>())?;
            let possible = moves.into_iter().filter_map(|choice| {
                let letter = *alphabet.iter().find(|&&letter| choice.allows(letter))?;
                Some(Edge { choice, to: number(choice.next, &mut clauses), letter })
            });
            edges.push(possible.collect());
        }
        let mut graph =
            ClauseGraph { clauses, edges, numbers, components: vec![], accepting: vec![], satisfiable: vec![] };
        graph.find_components();
        Ok(graph)
    }

    pub fn number(&self, clause: Clause) -> Option<u32> {
        self.numbers.get(&clause).copied()
    }
    /// Whether some infinite word over the alphabet meets the clause.
    pub fn is_satisfiable(&self, clause: u32) -> bool {
        self.satisfiable[self.components[clause as usize] as usize]
    }

    /// Tarjan's algorithm with a stack of its own; a component is closed after all that it reaches.
    fn find_components(&mut self) {
        const NEW: u32 = u32::MAX;
        let count = self.clauses.len();
        self.components = vec![NEW; count];
        let (mut order, mut low, mut clock) = (vec![NEW; count], vec![0; count], 0);
        let (mut open, mut path) = (Vec::new(), Vec::new());
        for root in 0..count {
            if order[root] == NEW {
                path.push((root, 0));
            }
            while let Some((at, edge)) = path.pop() {
                if edge == 0 {
                    (order[at], low[at]) = (clock, clock);
                    clock += 1;
                    open.push(at);
                }
                if let Some(next) = self.edges[at].get(edge).map(|edge| edge.to as usize) {
                    path.push((at, edge + 1));
                    if order[next] == NEW {
                        path.push((next, 0));
                    } else if self.components[next] == NEW {
                        low[at] = low[at].min(order[next]);
                    }
                    continue;
                }
                if let Some(&(parent, _)) = path.last() {
                    low[parent] = low[parent].min(low[at]);
                }
                if low[at] == order[at] {
                    let start = open.iter().rposition(|&member| member == at).unwrap_or(0);
                    self.close(open.split_off(start));
                }
            }
        }
    }
    fn close(&mut self, members: Vec<usize>) {
        let component = self.accepting.len() as u32;
        for &member in &members {
            self.components[member] = component;
        }
        let edges = || members.iter().flat_map(|&member| &self.edges[member]);
        let inside = || edges().filter(|edge| self.components[edge.to as usize] == component);
        let accepting = inside().next().is_some() && inside().fold(!0, |all, edge| all & edge.choice.postponed) == 0;
        let onwards = |edge: &Edge| {
            let other = self.components[edge.to as usize];
            other != component && self.satisfiable[other as usize]
        };
        let satisfiable = accepting || edges().any(onwards);
        self.accepting.push(accepting);
        self.satisfiable.push(satisfiable);
    }

    /// An ultimately periodic word that meets the clause: letters, then letters repeated for ever. Nothing if none does.
    pub fn witness(&self, clause: u32) -> Option<Lasso> {
        if !self.is_satisfiable(clause) {
            return None;
        }
        let component = |clause: u32| self.components[clause as usize];
        let accepting = |clause: u32| self.accepting[component(clause) as usize];
        let (entry, prefix) = self.path(clause, |_| true, |_, to| accepting(to), accepting(clause))?;
        // Round the component: to a move for each until formula that does not postpone it, and back.
        let home = component(entry);
        let inside = |edge: &Edge| component(edge.to) == home;
        let (mut at, mut cycle, mut waiting) = (entry, Vec::new(), !0);
        while waiting != 0 || cycle.is_empty() {
            let helps = |edge: &Edge, _: u32| edge.choice.postponed & waiting != waiting;
            let (next, part) = self.path(at, inside, helps, false)?;
            for edge in &part {
                waiting &= edge.choice.postponed;
            }
            at = next;
            cycle.extend(part);
        }
        let (_, back) = self.path(at, inside, |_, to| to == entry, at == entry)?;
        cycle.extend(back);
        let letters = |edges: &[Edge]| edges.iter().map(|edge| edge.letter).collect();
        Some(Lasso { prefix: letters(&prefix), cycle: letters(&cycle) })
    }

    /// The shortest path over moves that `may` be taken to the end of one that `arrives`; none at all if `already`.
    fn path(
        &self,
        from: u32,
        may: impl Fn(&Edge) -> bool,
        arrives: impl Fn(&Edge, u32) -> bool,
        already: bool,
    ) -> Option<(u32, Vec<Edge>)> {
        if already {
            return Some((from, vec![]));
        }
        let mut reached: HashMap<u32, (u32, Edge)> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for edge in self.edges[at as usize].iter().filter(|edge| may(edge)) {
                if arrives(edge, edge.to) {
                    let (mut edges, mut back) = (vec![*edge], at);
                    while back != from {
                        let (before, edge) = reached[&back];
                        edges.push(edge);
                        back = before;
                    }
                    edges.reverse();
                    return Some((edge.to, edges));
                }
                if edge.to != from && !reached.contains_key(&edge.to) {
                    reached.insert(edge.to, (at, *edge));
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }
}

/// An ultimately periodic word: `prefix` once, then `cycle` for ever. The cycle has one letter or more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    /// What comes once.
    pub prefix: Vec<Letter>,
    /// What is repeated.
    pub cycle: Vec<Letter>,
}
