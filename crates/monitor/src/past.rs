//! What was before the present event, in bits.
//!
//! Whether a formula about the past holds now follows from the present letter and from what was carried over from the event before:
//! *previously a* carries whether a held, *a since b* whether it held itself ("a since b is b, or a and previously (a since b)"). All other
//! operators of the past are made of these two. So the past takes no search and no acceptance: it is a machine of its own, whose state
//! is the carried bits, none of which is set before the first event.

use crate::budget::{OverBudget, MOST_OBLIGATIONS};
use crate::error::SynthesisError;
use crate::formula::{Formula, Interval, Span};
use crate::letter::Letter;
use std::collections::HashMap;

/// What is carried from one event to the next: bit `i` is the `i`-th value.
pub(crate) type Carried = u128;

type NodeId = usize;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Constant(bool),
    Atom(usize),
    Carried(usize),
    Not(NodeId),
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
}

/// The formulas of one synthesis that look back, each kept once.
#[derive(Clone, Default)]
pub(crate) struct Past {
    atoms: Vec<String>,
    /// Operands stand before what is made of them.
    nodes: Vec<Node>,
    known: HashMap<Node, NodeId>,
    /// Each carried bit takes the value that this node has.
    carried: Vec<NodeId>,
    /// The bit that carries a node, and the nodes of since formulas.
    previously: HashMap<NodeId, NodeId>,
    since: HashMap<(NodeId, NodeId), NodeId>,
    /// The nodes that are read as further propositions.
    outputs: Vec<NodeId>,
}

impl Past {
    pub fn new(atoms: &[String]) -> Past {
        Past { atoms: atoms.to_vec(), ..Past::default() }
    }

    fn node(&mut self, node: Node) -> NodeId {
        let fresh = self.nodes.len();
        let id = *self.known.entry(node).or_insert(fresh);
        if id == fresh {
            self.nodes.push(node);
        }
        id
    }
    fn not(&mut self, a: NodeId) -> NodeId {
        match self.nodes[a] {
            Node::Not(inner) => inner,
            Node::Constant(value) => self.node(Node::Constant(!value)),
            _ => self.node(Node::Not(a)),
        }
    }
    /// A bit that carries what is not known yet.
    fn carry(&mut self) -> Result<(usize, NodeId), OverBudget> {
        let bit = self.carried.len();
        if bit == MOST_OBLIGATIONS {
            return Err(OverBudget::Obligations);
        }
        self.carried.push(0);
        Ok((bit, self.node(Node::Carried(bit))))
    }
    fn previously(&mut self, a: NodeId) -> Result<NodeId, OverBudget> {
        if let Some(known) = self.previously.get(&a) {
            return Ok(*known);
        }
        let (bit, node) = self.carry()?;
        self.carried[bit] = a;
        self.previously.insert(a, node);
        Ok(node)
    }
    fn since(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, OverBudget> {
        if let Some(known) = self.since.get(&(a, b)) {
            return Ok(*known);
        }
        let (bit, before) = self.carry()?;
        let goes_on = self.node(Node::And(a, before));
        let node = self.node(Node::Or(b, goes_on));
        self.carried[bit] = node;
        self.since.insert((a, b), node);
        Ok(node)
    }
    /// `a since b` with b a number of events ago.
    fn since_within(&mut self, (a, b): (NodeId, NodeId), least: u32, most: u32) -> Result<NodeId, OverBudget> {
        let mut node = b;
        for away in (0..most).rev() {
            let before = self.previously(node)?;
            node = self.node(Node::And(a, before));
            if away >= least {
                node = self.node(Node::Or(b, node));
            }
        }
        Ok(node)
    }

    /// A formula about the present and the past.
    pub fn value(&mut self, formula: &Formula) -> Result<NodeId, SynthesisError> {
        use Formula::*;
        Ok(match formula {
            True => self.node(Node::Constant(true)),
            False => self.node(Node::Constant(false)),
            Atom(name) => {
                let atom = self.atoms.iter().position(|known| known == name);
                let unknown = || SynthesisError::UnknownAtom { name: name.clone(), known: self.atoms.clone() };
                let atom = atom.ok_or_else(unknown)?;
                self.node(Node::Atom(atom))
            }
            Not(a) => {
                let a = self.value(a)?;
                self.not(a)
            }
            And(a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.node(Node::And(a, b))
            }
            Or(a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.node(Node::Or(a, b))
            }
            Implies(a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                let not_a = self.not(a);
                self.node(Node::Or(not_a, b))
            }
            Iff(a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                let (not_a, not_b) = (self.not(a), self.not(b));
                let (both, neither) = (self.node(Node::And(a, b)), self.node(Node::And(not_a, not_b)));
                self.node(Node::Or(both, neither))
            }
            Previously(a) => {
                let a = self.value(a)?;
                self.previously(a)?
            }
            Since(a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.since(a, b)?
            }
            Once(a) => {
                let (always, a) = (self.node(Node::Constant(true)), self.value(a)?);
                self.since(always, a)?
            }
            Historically(a) => {
                let (always, a) = (self.node(Node::Constant(true)), self.value(a)?);
                let not_a = self.not(a);
                let ever = self.since(always, not_a)?;
                self.not(ever)
            }
            SinceWithin(Interval::Events { least, most }, a, b) => {
                let operands = (self.value(a)?, self.value(b)?);
                self.since_within(operands, *least, *most)?
            }
            Within(Span::Once, Interval::Events { least, most }, a) => {
                let operands = (self.node(Node::Constant(true)), self.value(a)?);
                self.since_within(operands, *least, *most)?
            }
            Within(Span::Historically, Interval::Events { least, most }, a) => {
                let (always, a) = (self.node(Node::Constant(true)), self.value(a)?);
                let not_a = self.not(a);
                let ever = self.since_within((always, not_a), *least, *most)?;
                self.not(ever)
            }
            Within(_, Interval::Time(_), _)
            | UntilWithin(Interval::Time(_), ..)
            | SinceWithin(Interval::Time(_), ..) => return Err(SynthesisError::Timed),
            Next(_)
            | Always(_)
            | Eventually(_)
            | Until(..)
            | WeakUntil(..)
            | Release(..)
            | UntilWithin(..)
            | Within(Span::Always | Span::Eventually, ..) => {
                return Err(SynthesisError::FutureInPast { formula: formula.to_string() })
            }
        })
    }

    /// The number of a formula's value among the propositions: a proposition's own, or one behind those given.
    pub fn output(&mut self, formula: &Formula) -> Result<usize, SynthesisError> {
        let node = self.value(formula)?;
        if let Node::Atom(atom) = self.nodes[node] {
            return Ok(atom);
        }
        let place = self.outputs.iter().position(|known| *known == node).unwrap_or(self.outputs.len());
        if self.atoms.len() + place >= Letter::BITS as usize {
            return Err(OverBudget::Obligations.into());
        }
        if place == self.outputs.len() {
            self.outputs.push(node);
        }
        Ok(self.atoms.len() + place)
    }

    /// Whether nothing looks back.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }
    /// Steps of one reading.
    pub fn effort(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        self.nodes.len()
    }

    /// A letter with what is said of the past, and what is carried to the next event.
    pub fn read(&self, carried: Carried, letter: Letter) -> (Letter, Carried) {
        if self.is_empty() {
            return (letter, 0);
        }
        let mut values: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            values.push(match *node {
                Node::Constant(value) => value,
                Node::Atom(atom) => letter >> atom & 1 == 1,
                Node::Carried(bit) => carried >> bit & 1 == 1,
                Node::Not(a) => !values[a],
                Node::And(a, b) => values[a] && values[b],
                Node::Or(a, b) => values[a] || values[b],
            });
        }
        let bits = |nodes: &[NodeId]| {
            nodes.iter().enumerate().fold(0, |bits, (bit, &node)| bits | u128::from(values[node]) << bit)
        };
        (letter | bits(&self.outputs) << self.atoms.len(), bits(&self.carried))
    }
}
