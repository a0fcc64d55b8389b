//! A mesh of nodes, and the way of a message through it: along its row first, along its column then, so that no link waits for itself.

use crate::{Cycles, Flow, NetworkError};
use alloc::vec;
use alloc::vec::Vec;

/// A node, by its number: row by row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

/// A link in one direction, from a node or into it, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Link(u32);

impl Link {
    /// Its index, below [`Mesh::links`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a link of a node leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    /// From the node's interface into its router.
    In,
    East,
    West,
    South,
    North,
    /// From the router to the node's interface.
    Out,
}

const DIRECTIONS: [Direction; 6] =
    [Direction::In, Direction::East, Direction::West, Direction::South, Direction::North, Direction::Out];

/// A mesh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mesh {
    columns: u32,
    rows: u32,
    /// From the end of a link to the beginning of the next one: what a router takes.
    pub router: Cycles,
}

impl Mesh {
    /// A mesh of 1 to 65,536 nodes.
    pub fn new(columns: u32, rows: u32, router: Cycles) -> Option<Mesh> {
        let nodes = columns.checked_mul(rows)?;
        (1..=1 << 16).contains(&nodes).then_some(Mesh { columns, rows, router })
    }

    /// How many nodes.
    pub fn nodes(&self) -> u32 {
        self.columns * self.rows
    }

    /// How many numbers of links.
    pub fn links(&self) -> usize {
        self.nodes() as usize * DIRECTIONS.len()
    }

    fn link(node: Node, direction: Direction) -> Link {
        Link(node.0 * DIRECTIONS.len() as u32 + direction as u32)
    }

    /// The links of a way, in their order: from the node's interface to the other one's.
    pub fn route(&self, from: Node, to: Node) -> Vec<Link> {
        let place = |node: Node| (node.0 % self.columns, node.0 / self.columns);
        let ((mut column, mut row), (to_column, to_row)) = (place(from), place(to));
        let at = |column: u32, row: u32| Node(row * self.columns + column);
        let mut way = vec![Mesh::link(from, Direction::In)];
        while column != to_column {
            let (direction, next) =
                if column < to_column { (Direction::East, column + 1) } else { (Direction::West, column - 1) };
            way.push(Mesh::link(at(column, row), direction));
            column = next;
        }
        while row != to_row {
            let (direction, next) =
                if row < to_row { (Direction::South, row + 1) } else { (Direction::North, row - 1) };
            way.push(Mesh::link(at(column, row), direction));
            row = next;
        }
        way.push(Mesh::link(to, Direction::Out));
        way
    }

    /// All links, each after those from which it gets flits.
    pub fn in_order(&self) -> Vec<Link> {
        let mut all: Vec<Link> = (0..self.links() as u32).map(Link).collect();
        all.sort_by_key(|link| {
            let (node, direction) = (link.0 / DIRECTIONS.len() as u32, DIRECTIONS[link.index() % DIRECTIONS.len()]);
            let (column, row) = (node % self.columns, node / self.columns);
            match direction {
                Direction::In => (0, 0),
                Direction::East => (1, column),
                Direction::West => (1, self.columns - column),
                Direction::South => (2, row),
                Direction::North => (2, self.rows - row),
                Direction::Out => (3, 0),
            }
        });
        all
    }

    /// The ways of flows.
    ///
    /// # Errors
    /// [`NetworkError::NoFlow`].
    pub fn routes(&self, flows: &[Flow]) -> Result<Vec<Vec<Link>>, NetworkError> {
        let one = |(n, flow): (usize, &Flow)| {
            let there = flow.from.0 < self.nodes() && flow.to.0 < self.nodes();
            let sound = there && flow.flits > 0 && flow.period.0 > 0;
            sound.then(|| self.route(flow.from, flow.to)).ok_or(NetworkError::NoFlow { flow: n })
        };
        flows.iter().enumerate().map(one).collect()
    }
}
