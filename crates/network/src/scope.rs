//! Which nodes take part in an application: where they are, and what they are.

use crate::place::{Area, Position};
use alloc::string::String;
use alloc::vec::Vec;

/// The longest name of an application, a tag, a sensor or an actuator: bytes.
pub const LONGEST_NAME: usize = 31;
/// The most areas of a scope.
pub const MOST_AREAS: usize = 4;
/// The most things that a scope requires of a node.
pub const MOST_REQUIREMENTS: usize = 8;

/// What a node says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Description {
    /// Where it is.
    pub position: Position,
    /// What it is called beside its name.
    pub tags: Vec<String>,
    /// What it can measure.
    pub sensors: Vec<String>,
    /// What it can move or switch.
    pub actuators: Vec<String>,
}

/// Something that a node must be or have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Requirement {
    /// A tag.
    Tag(String),
    /// A sensor.
    Sensor(String),
    /// An actuator.
    Actuator(String),
}

impl Requirement {
    /// Whether a node meets it.
    pub fn met(&self, node: &Description) -> bool {
        let (all, name) = match self {
            Requirement::Tag(name) => (&node.tags, name),
            Requirement::Sensor(name) => (&node.sensors, name),
            Requirement::Actuator(name) => (&node.actuators, name),
        };
        all.contains(name)
    }
}

/// Where an application belongs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    /// In any of these areas; everywhere if there is none.
    pub areas: Vec<Area>,
    /// On nodes that meet all of these.
    pub requires: Vec<Requirement>,
}

impl Scope {
    /// Whether a node takes part.
    pub fn covers(&self, node: &Description) -> bool {
        let here = self.areas.is_empty() || self.areas.iter().any(|area| area.contains(node.position));
        here && self.requires.iter().all(|it| it.met(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn both_place_and_kind_restrict() {
        let disc = |x| Area::Disc { centre: Position { x, y: 0 }, radius: 10 };
        let node = |x, actuator: &str| Description {
            position: Position { x, y: 0 },
            actuators: vec![actuator.into()],
            sensors: vec!["light".into()],
            tags: vec!["office".into()],
        };
        let scope = Scope {
            areas: vec![disc(0), disc(100)],
            requires: vec![Requirement::Actuator("blind".into()), Requirement::Sensor("light".into())],
        };
        assert!(scope.covers(&node(5, "blind")) && scope.covers(&node(95, "blind")));
        assert!(!scope.covers(&node(50, "blind")), "between the areas");
        assert!(!scope.covers(&node(5, "lamp")), "another kind of node");
        assert!(Scope::default().covers(&node(50, "lamp")));
        let tag = |name: &str| Scope { requires: vec![Requirement::Tag(name.into())], ..Scope::default() };
        assert!(tag("office").covers(&node(0, "lamp")) && !tag("blind").covers(&node(0, "blind")));
    }
}
