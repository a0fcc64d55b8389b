//! Which core a job goes to, where jobs go to any core: the structure that the rig found to be the cheapest inside a lock that is held
//! anyway, on as many cores as there can be. It is the rig's own file; here it gets its numbers.

use crate::heap::Key;
use tactus_structures::directory::{Held, HeldRow};
use tactus_time::{CoreId, CoreSet};

/// The core that arms the timer for releases: of a cluster, its first.
pub const RELEASE_CORE: CoreId = CoreId(0);

/// Of each core, how much it is in need of a job: the greater, the more.
pub struct Cores {
    need: HeldRow<u128>,
    /// The one that is most in need of those that have a job: looked for where the numbers change, not where they are asked for.
    neediest: usize,
    /// Those that have none, so that nobody looks through all for them.
    idle: CoreSet,
}

/// The number of a core that takes no job.
const CLOSED: u128 = 0;

impl Cores {
    /// So many, all closed.
    pub fn closed(cores: usize) -> Cores {
        Cores { need: HeldRow::with_cores(cores), neediest: 0, idle: CoreSet::EMPTY }
    }
    /// The core takes jobs more urgent than `linked`, or any if that is nothing. The least of all keys is as good as
    /// closed: no job is more urgent.
    #[inline]
    pub fn open(&mut self, core: CoreId, linked: Option<Key>) {
        match linked {
            Some(key) => {
                self.idle.remove(core);
                self.set(core.index(), key.wide());
            }
            None => self.idle.insert(core),
        }
    }
    /// The core takes none.
    #[inline]
    pub fn close(&mut self, core: CoreId) {
        self.idle.remove(core);
        self.set(core.index(), CLOSED);
    }
    #[inline]
    fn set(&mut self, core: usize, need: u128) {
        self.need.set(core, need);
        if core == self.neediest {
            self.neediest = self.need.greatest();
        } else if need > self.need.get(self.neediest) {
            self.neediest = core;
        }
    }
    /// What a job must be more urgent than to be given to any core: all are if one has none, and none is if all are closed.
    #[inline]
    pub fn bar(&self) -> Key {
        if self.idle == CoreSet::EMPTY {
            Key::of(self.need.get(self.neediest))
        } else {
            Key::NONE
        }
    }
    /// The core that a job should go to first: this one if it has none, the first that has none, or the one that has the
    /// least urgent. Nothing if all are closed.
    #[inline]
    pub fn least_urgent(&self, me: CoreId) -> Option<CoreId> {
        if self.idle.contains(me) {
            return Some(me);
        }
        self.idle.iter().next().or_else(|| {
            let core = self.neediest;
            (self.need.get(core) != CLOSED).then_some(CoreId(core as u8))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_core_comes_first_then_the_first_idle_one_then_the_least_urgent() {
        let mut cores = Cores::closed(4);
        assert_eq!((cores.least_urgent(CoreId(0)), cores.bar()), (None, Key::of(CLOSED)));
        let key = |urgency, place| Some(Key::new(urgency, place));
        cores.open(CoreId(1), key(50, 3));
        cores.open(CoreId(2), key(50, 4));
        cores.open(CoreId(3), key(u64::MAX, 9));
        assert_eq!(cores.least_urgent(CoreId(1)), Some(CoreId(3)));
        cores.close(CoreId(3));
        assert_eq!((cores.least_urgent(CoreId(1)), Some(cores.bar())), (Some(CoreId(2)), key(50, 4)));
        cores.open(CoreId(2), key(40, 4));
        assert_eq!((cores.least_urgent(CoreId(2)), Some(cores.bar())), (Some(CoreId(1)), key(50, 3)));
        cores.open(CoreId(3), None);
        cores.open(CoreId(2), None);
        assert_eq!(cores.bar(), Key::NONE);
        assert_eq!(cores.least_urgent(CoreId(1)), Some(CoreId(2)));
        assert_eq!(cores.least_urgent(CoreId(3)), Some(CoreId(3)));
    }
}
