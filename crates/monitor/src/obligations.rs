//! What a formula demands of the present event and leaves to those after it.
//!
//! A formula in negation normal form is a Boolean combination of *obligations*: propositions, negated propositions and
//! formulas whose outermost operator is not and. A set of obligations that must all be met is a [`Clause`]. The expansion laws
//! ("a until b is b, or a and next (a until b)") turn each obligation and each letter that can be read now into *moves*: the clauses one
//! of which must hold from the next event on. What the letter refutes is never multiplied out. This is a one-way
//! alternating automaton in which an obligation is only ever followed by itself or by smaller ones.

use crate::budget::{Budget, OverBudget, MOST_OBLIGATIONS};
use crate::error::SynthesisError;
use crate::formula::{Formula, Interval, Span};
use crate::letter::Letter;
use crate::past::Past;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::rc::Rc;

/// A set of obligations, all of which are to be met: bit `i` is the `i`-th one.
pub(crate) type Clause = u128;

/// One way to meet a clause on a letter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Move {
    /// The obligations from the next event on.
    pub next: Clause,
    /// The until formulas whose second operand is put off.
    pub postponed: Clause,
}

impl Move {
    const FREE: Move = Move { next: 0, postponed: 0 };

    /// Both at once.
    fn and(&self, other: &Move) -> Move {
        Move { next: self.next | other.next, postponed: self.postponed | other.postponed }
    }
    /// Whether it demands nothing that `other` does not demand.
    fn is_weaker(&self, other: &Move) -> bool {
        clause_is_weaker(&self.next, &other.next) && clause_is_weaker(&self.postponed, &other.postponed)
    }
}

/// Leaves out what demands as much as another one or more.
pub(crate) fn weakest<T: Copy>(
    all: Vec<T>,
    is_weaker: impl Fn(&T, &T) -> bool,
    budget: &mut Budget,
) -> Result<Vec<T>, OverBudget> {
    let mut kept: Vec<T> = Vec::new();
    for candidate in all {
        budget.work(1 + kept.len())?;
        if kept.iter().any(|other| is_weaker(other, &candidate)) {
            continue;
        }
        kept.retain(|other| !is_weaker(&candidate, other));
        kept.push(candidate);
    }
    Ok(kept)
}

/// Whether the first clause demands nothing that the second does not demand.
pub(crate) fn clause_is_weaker(a: &Clause, b: &Clause) -> bool {
    a & !b == 0
}

type NodeId = usize;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    True,
    False,
    Literal(usize, bool),
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
    Next(NodeId),
    Until(NodeId, NodeId),
    Release(NodeId, NodeId),
}

/// The formulas of one synthesis, each kept once.
pub(crate) struct Obligations<'a> {
    /// The propositions, and what is said of the past, whose values are further ones.
    past: Past,
    nodes: Vec<Node>,
    /// By node: the propositions of the present event on which its moves depend.
    supports: Vec<Letter>,
    known: HashMap<Node, NodeId>,
    /// The obligations by number, and the number of each.
    obligations: Vec<NodeId>,
    numbers: HashMap<NodeId, usize>,
    /// The moves of a node on what it looks at of a letter.
    expansions: HashMap<(NodeId, Letter), Rc<[Move]>>,
    /// Formulas already in normal form, by where they stand; the formula outlives the synthesis.
    normal: HashMap<(*const Formula, bool), NodeId>,
    formula: PhantomData<&'a Formula>,
}

impl<'a> Obligations<'a> {
    pub fn new(atoms: &[String]) -> Self {
        Obligations {
            past: Past::new(atoms),
            nodes: vec![],
            supports: vec![],
            known: HashMap::new(),
            obligations: vec![],
            numbers: HashMap::new(),
            expansions: HashMap::new(),
            normal: HashMap::new(),
            formula: PhantomData,
        }
    }

    fn node(&mut self, node: Node) -> NodeId {
        let fresh = self.nodes.len();
        let id = *self.known.entry(node).or_insert(fresh);
        if id == fresh {
            self.nodes.push(node);
            let support = match node {
                Node::True | Node::False | Node::Next(_) => 0,
                Node::Literal(atom, _) => 1 << atom,
                Node::And(a, b) | Node::Or(a, b) | Node::Until(a, b) | Node::Release(a, b) => {
                    self.supports[a] | self.supports[b]
                }
            };
            self.supports.push(support);
        }
        id
    }
    fn constant(&mut self, value: bool) -> NodeId {
        self.node(if value { Node::True } else { Node::False })
    }
    fn both(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.nodes[a], self.nodes[b]) {
            (Node::False, _) | (_, Node::True) => a,
            (_, Node::False) | (Node::True, _) => b,
            _ if a == b => a,
            _ => self.node(Node::And(a.min(b), a.max(b))),
        }
    }
    fn either(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.nodes[a], self.nodes[b]) {
            (Node::True, _) | (_, Node::False) => a,
            (_, Node::True) | (Node::False, _) => b,
            _ if a == b => a,
            _ => self.node(Node::Or(a.min(b), a.max(b))),
        }
    }
    fn next(&mut self, a: NodeId) -> NodeId {
        match self.nodes[a] {
            Node::True | Node::False => a,
            _ => self.node(Node::Next(a)),
        }
    }
    fn until(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.nodes[a], self.nodes[b]) {
            (_, Node::True | Node::False) | (Node::False, _) => b,
            // true until (true until c), and a until (a until c)
            (_, Node::Until(c, _)) if c == a => b,
            _ if a == b => a,
            _ => self.node(Node::Until(a, b)),
        }
    }
    fn release(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.nodes[a], self.nodes[b]) {
            (_, Node::True | Node::False) | (Node::True, _) => b,
            (_, Node::Release(c, _)) if c == a => b,
            _ if a == b => a,
            _ => self.node(Node::Release(a, b)),
        }
    }

    /// What is said of the past.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// The formula, or its negation, in negation normal form.
    pub fn normal(&mut self, formula: &'a Formula, positive: bool) -> Result<NodeId, SynthesisError> {
        use Formula::*;
        if let Some(&known) = self.normal.get(&(std::ptr::from_ref(formula), positive)) {
            return Ok(known);
        }
        let node = match (formula, positive) {
            (True, value) => self.constant(value),
            (False, value) => self.constant(!value),
            (Atom(_) | Previously(_) | Historically(_) | Once(_) | Since(..) | SinceWithin(..), _)
            | (Within(Span::Once | Span::Historically, ..), _) => {
                let atom = self.past.output(formula)?;
                self.node(Node::Literal(atom, positive))
            }
            (Not(a), _) => self.normal(a, !positive)?,
            (And(a, b), true) | (Or(a, b), false) => {
                let (a, b) = (self.normal(a, positive)?, self.normal(b, positive)?);
                self.both(a, b)
            }
            (Or(a, b), true) | (And(a, b), false) => {
                let (a, b) = (self.normal(a, positive)?, self.normal(b, positive)?);
                self.either(a, b)
            }
            (Implies(a, b), true) => {
                let (a, b) = (self.normal(a, false)?, self.normal(b, true)?);
                self.either(a, b)
            }
            (Implies(a, b), false) => {
                let (a, b) = (self.normal(a, true)?, self.normal(b, false)?);
                self.both(a, b)
            }
            (Iff(a, b), _) => {
                // The same, or different: both hold or neither; one holds and the other does not.
                let (first, second) = (self.normal(a, true)?, self.normal(b, positive)?);
                let (third, fourth) = (self.normal(a, false)?, self.normal(b, !positive)?);
                let (yes, no) = (self.both(first, second), self.both(third, fourth));
                self.either(yes, no)
            }
            (Next(a), _) => {
                let a = self.normal(a, positive)?;
                self.next(a)
            }
            (Always(a), true) | (Eventually(a), false) => {
                let (never, a) = (self.constant(false), self.normal(a, positive)?);
                self.release(never, a)
            }
            (Eventually(a), true) | (Always(a), false) => {
                let (always, a) = (self.constant(true), self.normal(a, positive)?);
                self.until(always, a)
            }
            (Until(a, b), true) | (Release(a, b), false) => {
                let (a, b) = (self.normal(a, positive)?, self.normal(b, positive)?);
                self.until(a, b)
            }
            (Release(a, b), true) | (Until(a, b), false) => {
                let (a, b) = (self.normal(a, positive)?, self.normal(b, positive)?);
                self.release(a, b)
            }
            (WeakUntil(a, b), true) => {
                // a unless b is b release (a or b).
                let (a, b) = (self.normal(a, true)?, self.normal(b, true)?);
                let either = self.either(a, b);
                self.release(b, either)
            }
            (WeakUntil(a, b), false) => {
                let (a, b) = (self.normal(a, false)?, self.normal(b, false)?);
                let both = self.both(a, b);
                self.until(b, both)
            }
            (Within(span, Interval::Events { least, most }, a), _) => {
                // Always is that never does the opposite come.
                let comes = (*span == Span::Eventually) == positive;
                let (any, a) = (self.constant(comes), self.normal(a, positive)?);
                self.bounded((any, a), (*least, *most), comes)
            }
            (UntilWithin(Interval::Events { least, most }, a, b), _) => {
                let operands = (self.normal(a, positive)?, self.normal(b, positive)?);
                self.bounded(operands, (*least, *most), positive)
            }
            (Within(_, Interval::Time(_), _) | UntilWithin(Interval::Time(_), ..), _) => {
                return Err(SynthesisError::Timed)
            }
        };
        self.normal.insert((std::ptr::from_ref(formula), positive), node);
        Ok(node)
    }
    /// `a until b` with b a number of events away; or its dual, with both operands negated already.
    fn bounded(&mut self, (a, b): (NodeId, NodeId), (least, most): (u32, u32), until: bool) -> NodeId {
        let mut node = b;
        for away in (0..most).rev() {
            let later = self.next(node);
            node = if until { self.both(a, later) } else { self.either(a, later) };
            if away >= least {
                node = if until { self.either(b, node) } else { self.both(b, node) };
            }
        }
        node
    }

    fn bit(&mut self, node: NodeId) -> Result<Clause, OverBudget> {
        let fresh = self.obligations.len();
        let number = *self.numbers.entry(node).or_insert(fresh);
        if number == fresh {
            if fresh == MOST_OBLIGATIONS {
                return Err(OverBudget::Obligations);
            }
            self.obligations.push(node);
        }
        Ok(1 << number)
    }

    /// The clause of a formula: a conjunction is the obligations of both sides, and all else is one obligation.
    pub fn clause(&mut self, node: NodeId) -> Result<Clause, OverBudget> {
        let (mut clause, mut rest) = (0, vec![node]);
        while let Some(node) = rest.pop() {
            match self.nodes[node] {
                Node::True => {}
                Node::And(a, b) => rest.extend([a, b]),
                _ => clause |= self.bit(node)?,
            }
        }
        Ok(clause)
    }
    /// The propositions on which the moves of a clause depend.
    pub fn support(&self, clause: Clause) -> Letter {
        obligations_of(clause).fold(0, |support, number| support | self.supports[self.obligations[number]])
    }

    /// The moves of a formula on a letter.
    fn expansion(&mut self, node: NodeId, letter: Letter, budget: &mut Budget) -> Result<Rc<[Move]>, OverBudget> {
        let key = (node, letter & self.supports[node]);
        if let Some(known) = self.expansions.get(&key) {
            return Ok(known.clone());
        }
        let moves = match self.nodes[node] {
            Node::True => vec![Move::FREE],
            Node::False => vec![],
            Node::Literal(atom, positive) => {
                let holds = (letter >> atom & 1 == 1) == positive;
                holds.then_some(Move::FREE).into_iter().collect()
            }
            Node::Or(a, b) => {
                let mut moves = self.expansion(a, letter, budget)?.to_vec();
                moves.extend_from_slice(&self.expansion(b, letter, budget)?);
                moves
            }
            Node::And(a, b) => {
                let (a, b) = (self.expansion(a, letter, budget)?, self.expansion(b, letter, budget)?);
                product(&a, &b, budget)?
            }
            Node::Next(a) => vec![Move { next: self.clause(a)?, ..Move::FREE }],
            Node::Until(a, b) => {
                let itself = self.bit(node)?;
                let later = Move { next: itself, postponed: itself };
                let mut moves = self.expansion(b, letter, budget)?.to_vec();
                moves.extend(product(&self.expansion(a, letter, budget)?, &[later], budget)?);
                moves
            }
            Node::Release(a, b) => {
                let later = Move { next: self.bit(node)?, ..Move::FREE };
                let mut released = self.expansion(a, letter, budget)?.to_vec();
                released.push(later);
                // Where it is released for nothing, nobody need go on.
                let released = weakest(released, Move::is_weaker, budget)?;
                product(&self.expansion(b, letter, budget)?, &released, budget)?
            }
        };
        let moves: Rc<[Move]> = weakest(moves, Move::is_weaker, budget)?.into();
        budget.take(moves.len() * size_of::<Move>() + 2 * size_of::<(NodeId, Letter)>())?;
        self.expansions.insert(key, moves.clone());
        Ok(moves)
    }

    /// The moves of a clause on a letter: one of each of its obligations, together.
    pub fn moves(&mut self, clause: Clause, letter: Letter, budget: &mut Budget) -> Result<Vec<Move>, OverBudget> {
        let mut moves = vec![Move::FREE];
        for number in obligations_of(clause) {
            let further = self.expansion(self.obligations[number], letter, budget)?;
            moves = weakest(product(&moves, &further, budget)?, Move::is_weaker, budget)?;
        }
        Ok(moves)
    }
}

/// The numbers of a clause's obligations.
fn obligations_of(clause: Clause) -> impl Iterator<Item = usize> {
    let mut rest = clause;
    std::iter::from_fn(move || {
        let number = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (number < Clause::BITS as usize).then_some(number)
    })
}

fn product(a: &[Move], b: &[Move], budget: &mut Budget) -> Result<Vec<Move>, OverBudget> {
    budget.work(a.len() * b.len())?;
    budget.fits(a.len() * b.len() * size_of::<Move>())?;
    Ok(a.iter().flat_map(|a| b.iter().map(move |b| a.and(b))).collect())
}
