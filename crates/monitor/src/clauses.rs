//! The graph of all clauses that a synthesis meets, and which of them can be satisfied at all.
//!
//! A node is a clause with what is carried of the past; where nothing looks back, a clause alone.
//!
//! An infinite path in the graph along a word meets its clause on that word if no until formula is put off for ever: each is, again
//! and again, not postponed on the path. So a clause can be satisfied if and only if it reaches a strongly connected component,
//! with at least one move inside, in which no until formula is postponed by all moves inside. (The generalised Büchi automaton of
//! Gastin and Oddoux, CAV 2001, with acceptance on moves.)

use crate::budget::{Budget, OverBudget};
use crate::letter::Letter;
use crate::obligations::{Clause, Obligations};
use crate::past::Carried;
use std::collections::{HashMap, VecDeque};

/// A move on some letter, with its destination in the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// A letter of the alphabet on which the move can be made.
    pub letter: Letter,
    /// The until formulas whose second operand is put off.
    pub postponed: Clause,
    pub to: u32,
}

/// What a clause looks at of a letter, and what is carried to the next event.
type Look = (Letter, Carried);

/// The moves of one node, sorted by what they look at.
struct Row {
    /// The propositions on which the moves depend.
    support: Letter,
    /// For each combination of those that occurs: its first edge.
    first: Vec<(Look, u32)>,
    edges: Vec<Edge>,
}

/// A clause and what is carried of the past.
pub(crate) type Node = (Carried, Clause);

/// Nodes by number, and the moves from each.
pub(crate) struct ClauseGraph {
    pub nodes: Vec<Node>,
    rows: Vec<Row>,
    numbers: HashMap<Node, u32>,
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
        let (mut nodes, mut numbers, mut rows) = (Vec::new(), HashMap::new(), Vec::new());
        let mut number = |node: Node, nodes: &mut Vec<Node>| {
            *numbers.entry(node).or_insert_with(|| {
                nodes.push(node);
                nodes.len() as u32 - 1
            })
        };
        for &start in starts {
            number((0, start), &mut nodes);
        }
        while rows.len() < nodes.len() {
            let (carried, clause) = nodes[rows.len()];
            let support = obligations.support(clause);
            budget.work(alphabet.len() * (1 + obligations.past().effort()))?;
            // What the moves look at of each letter, with one that looks so.
            let look = |letter: &Letter| {
                let (read, next) = obligations.past().read(carried, *letter);
                ((read & support, next), *letter)
            };
            let mut looks: Vec<(Look, Letter)> = alphabet.iter().map(look).collect();
            looks.sort_unstable();
            looks.dedup_by_key(|(look, _)| *look);
            let mut row = Row { support, first: Vec::with_capacity(looks.len()), edges: Vec::new() };
            for (look, letter) in looks {
                row.first.push((look, row.edges.len() as u32));
                for choice in obligations.moves(clause, look.0, budget)? {
                    let to = number((look.1, choice.next), &mut nodes);
                    row.edges.push(Edge { letter, postponed: choice.postponed, to });
                }
            }
            budget.take(row.edges.len() * size_of::<Edge>() + row.first.len() * size_of::<(Look, u32)>())?;
            budget.take(3 * size_of::<Node>() + size_of::<Row>())?;
            rows.push(row);
        }
        let mut graph =
            ClauseGraph { nodes, rows, numbers, components: vec![], accepting: vec![], satisfiable: vec![] };
        graph.find_components();
        Ok(graph)
    }

    pub fn number(&self, node: Node) -> Option<u32> {
        self.numbers.get(&node).copied()
    }
    /// The moves of a node on a letter with what is said of the past, and what is carried on.
    pub fn on(&self, node: u32, (letter, carried): (Letter, Carried)) -> &[Edge] {
        let Row { support, first, edges } = &self.rows[node as usize];
        let look = (letter & support, carried);
        let Ok(place) = first.binary_search_by_key(&look, |(look, _)| *look) else { return &[] };
        let end = first.get(place + 1).map_or(edges.len(), |(_, next)| *next as usize);
        &edges[first[place].1 as usize..end]
    }
    /// Whether some infinite word over the alphabet meets the clause.
    pub fn is_satisfiable(&self, clause: u32) -> bool {
        self.satisfiable[self.components[clause as usize] as usize]
    }

    /// Tarjan's algorithm with a stack of its own; a component is closed after all that it reaches.
    fn find_components(&mut self) {
        const NEW: u32 = u32::MAX;
        let count = self.nodes.len();
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
                if let Some(next) = self.rows[at].edges.get(edge).map(|edge| edge.to as usize) {
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
        let edges = || members.iter().flat_map(|&member| &self.rows[member].edges);
        let inside = || edges().filter(|edge| self.components[edge.to as usize] == component);
        let accepting = inside().next().is_some() && inside().fold(!0, |all, edge| all & edge.postponed) == 0;
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
            let helps = |edge: &Edge, _: u32| edge.postponed & waiting != waiting;
            let (next, part) = self.path(at, inside, helps, false)?;
            for edge in &part {
                waiting &= edge.postponed;
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
            for edge in self.rows[at as usize].edges.iter().filter(|edge| may(edge)) {
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
