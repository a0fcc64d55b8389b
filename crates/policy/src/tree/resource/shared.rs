//! Resources of several cores: who holds each, and who waits for it, first come first served. A core has one job at a time that holds
//! or waits for such a resource, since that keeps the core from all others.

use crate::tree::parameters::ResourceTree;
use crate::PolicyConfig;
use alloc::vec::Vec;
use tactus_time::CoreId;

/// By resource; those that one core uses are always free.
#[derive(Debug)]
pub(crate) struct SharedResources(Vec<SharedResource>);

#[derive(Debug)]
struct SharedResource {
    holder: Option<CoreId>,
    /// The others that want it, in the order in which they came.
    waiting: Vec<CoreId>,
}

impl SharedResources {
    /// The core's job wants the resource. Whether it has it.
    pub(super) fn request(&mut self, core: CoreId, resource: u8) -> bool {
        let Some(it) = self.0.get_mut(usize::from(resource)) else { return false };
        match it.holder {
            None => it.holder = Some(core),
            Some(holder) if holder == core => {}
            Some(_) => {
                if !it.waiting.contains(&core) {
                    it.waiting.push(core);
                }
                return false;
            }
        }
        true
    }

    /// The core's job has the resource, or wants it, no longer. Whose job has it now, if another one waited.
    pub(super) fn give_back(&mut self, core: CoreId, resource: u8) -> Option<CoreId> {
        let it = self.0.get_mut(usize::from(resource))?;
        it.waiting.retain(|waiting| *waiting != core);
        if it.holder != Some(core) {
            return None;
        }
        it.holder = (!it.waiting.is_empty()).then(|| it.waiting.remove(0));
        it.holder
    }
}

/// The resources of several cores; nothing if there are none.
pub(crate) fn of_setup(setup: &PolicyConfig, all: &ResourceTree) -> Option<SharedResources> {
    let one = || SharedResource { holder: None, waiting: Vec::with_capacity(setup.cores) };
    let some = all.resources.iter().any(|resource| resource.spans(setup));
    some.then(|| SharedResources(all.resources.iter().map(|_| one()).collect()))
}
