//! From whom a node heard of a version, and whom it asks for it.

use crate::frame::NodeId;

/// As many are kept.
const MOST: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Neighbour {
    id: NodeId,
    /// Hops from it to a whole copy.
    distance: u8,
    /// How often it was asked in vain.
    failures: u8,
}

/// Neighbours that know of a version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    all: [Option<Neighbour>; MOST],
    /// Who was asked last and has not answered.
    asked: Option<NodeId>,
}

impl Neighbours {
    fn rank(it: Option<&Neighbour>) -> (u8, u8) {
        it.map_or((u8::MAX, u8::MAX), |it| (it.failures, it.distance))
    }
    /// One told of it, that is so far from a copy.
    pub(crate) fn heard(&mut self, id: NodeId, distance: u8) {
        let known = self.all.iter_mut().flatten().find(|it| it.id == id);
        if let Some(it) = known {
            // Who has come nearer to a copy is worth another try.
            it.failures = if distance < it.distance { 0 } else { it.failures };
            it.distance = distance;
            return;
        }
        let new = Neighbour { id, distance, failures: 0 };
        let worst = self.all.iter_mut().max_by_key(|it| Neighbours::rank(it.as_ref()));
        if let Some(place) = worst.filter(|it| Neighbours::rank(it.as_ref()) > Neighbours::rank(Some(&new))) {
            *place = Some(new);
        }
    }
    /// How far a copy is by the nearest of them.
    pub(crate) fn distance(&self) -> u8 {
        self.all.iter().flatten().map(|it| it.distance.saturating_add(1)).min().unwrap_or(u8::MAX)
    }
    /// Whom to ask now: who failed least, and is nearest to a copy.
    pub(crate) fn ask(&mut self) -> Option<NodeId> {
        if let Some(silent) = self.asked.take() {
            let it = self.all.iter_mut().flatten().find(|it| it.id == silent);
            it.into_iter().for_each(|it| it.failures = it.failures.saturating_add(1));
        }
        self.asked = self.all.iter().flatten().min_by_key(|it| (it.failures, it.distance)).map(|it| it.id);
        self.asked
    }
    /// Something came.
    pub(crate) fn answered(&mut self) {
        self.asked = None;
    }
}
