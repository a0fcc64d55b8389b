//! Slots, as their loader is told of them: what each is, what is to come and go, and the packages. All of it lies in what the loader is
//! told beside all else ([`crate::layout::TOLD`]): a [`LoaderHead`], the [`SlotCard`]s, the [`LoadCard`]s, the keys, the
//! [`RightCard`]s, the packages. And how it tells the root scheduler of what it has done.

/// The name of the root scheduler's service that is told, and of the grant of it.
pub const SLOT: &str = "slot";
/// The longest class of a slot, and the longest name of a right (bytes).
pub const LABEL_BYTES: usize = 32;
/// A class of slots or a name, padded with zeros.
pub type Label = [u8; LABEL_BYTES];

/// As a label; what is too long is cut off.
pub fn label(text: &str) -> Label {
    let mut label = [0; LABEL_BYTES];
    label.iter_mut().zip(text.bytes()).for_each(|(place, byte)| *place = byte);
    label
}

/// The text of a label.
pub fn label_text(label: &Label) -> &str {
    let end = label.iter().position(|byte| *byte == 0).unwrap_or(LABEL_BYTES);
    core::str::from_utf8(&label[..end]).unwrap_or("")
}

/// How many of each follow.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LoaderHead {
    /// Slots.
    pub slots: u32,
    /// Loads and unloads.
    pub loads: u32,
    /// Keys, of 32 bytes each.
    pub keys: u32,
    /// Rights.
    pub rights: u32,
}

/// A slot.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SlotCard {
    /// For which packages it is.
    pub class: Label,
    /// Its component.
    pub component: u32,
    /// The first of its tasks; the others follow.
    pub first_task: u32,
    /// The most tasks of a program.
    pub tasks: u32,
    /// Who runs first inside: 0 the least priority, 1 the earliest deadline.
    pub order: u32,
    /// Pages that a program may take.
    pub pages: u64,
    /// Its heap (bytes).
    pub heap: u64,
    /// The colours that its pages may have, as bits.
    pub colours: u64,
    /// The kernel's steps that set it back, but for the last one.
    pub set_back: u64,
    /// What its server gives in each period at least (ns).
    pub budget: u64,
    /// That period (ns).
    pub period: u64,
    /// The longest time without service (ns).
    pub blackout: u64,
    /// The system's own work for each job (ns).
    pub cost_of_job: u64,
    /// Not 0 if an older version than the last one may come.
    pub older: u32,
    /// The first of its keys.
    pub first_key: u32,
    /// How many.
    pub keys: u32,
    /// The first of its rights.
    pub first_right: u32,
    /// How many.
    pub rights: u32,
    /// The processor that it is on, as ELF numbers machines.
    pub processor: u32,
    /// The thread of its first task; those of the others follow.
    pub first_thread: u32,
    /// Not used.
    pub reserved: u32,
}

/// A service that a program in a slot may ask for.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RightCard {
    /// The name under which it is granted.
    pub name: Label,
}

/// A load, or an unload, in the order in which they are done.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LoadCard {
    /// From when on it is done (ns since the start of the run).
    pub at: u64,
    /// The slot's number; the first of a pair.
    pub slot: u32,
    /// What is done: [`load`].
    pub what: u32,
    /// Where the package lies, from the head on.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Of an update: jobs of the loader from the one in which it tells the scheduler to the one that ends the trial.
    pub settles_after: u64,
    /// Of an update: the second slot of the pair. Of a restore: the slot of which it was saved.
    pub other: u32,
    /// Of an update: jobs of the new version that must be good.
    pub trial: u32,
    /// Of an update: the name of the service that keeps the state of both versions.
    pub state: Label,
}

/// What is done to a slot.
pub mod load {
    /// A package is loaded.
    pub const LOAD: u32 = 0;
    /// The program is unloaded.
    pub const UNLOAD: u32 = 1;
    /// The program is unloaded, and what it was is kept.
    pub const SAVE: u32 = 2;
    /// What was saved last goes on.
    pub const RESTORE: u32 = 3;
    /// A new version of the program comes into the other slot of a pair, and takes over.
    pub const UPDATE: u32 = 4;
}

/// What the loader tells the root scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotReport {
    /// A task is to have these values once the program begins that is loaded next.
    Task {
        /// The task's number.
        task: u16,
        /// Its execution, the system's own work included (ns).
        execution: u64,
        /// Its period (ns).
        period: u64,
        /// Its relative deadline (ns).
        deadline: u64,
        /// Its priority; the larger is more urgent.
        priority: u32,
    },
    /// A program is in the slot, and begins.
    Loaded(SlotChange),
    /// The program in the slot ends.
    Unloaded(SlotChange),
    /// The program in the slot ends, and is saved.
    Saved(SlotChange),
    /// What was saved of slot `from` goes on.
    Restored {
        /// Where it goes on.
        change: SlotChange,
        /// The slot of which it was saved.
        from: u16,
    },
    /// A new version is in the slot, and may take over from the program in slot `from`.
    Update {
        /// The new version's slot.
        change: SlotChange,
        /// The old version's.
        from: u16,
        /// Jobs of the new version that must be good.
        trial: u32,
    },
    /// The trial of an update is over.
    Settle(SlotChange),
    /// Nothing; the answer tells whether a program is in the slot.
    Ask(SlotChange),
    /// Nothing came of it, for this reason (`tactus_record::SlotRefusal`).
    Refused(SlotChange, u8),
}

/// Which slot changes, by which load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotChange {
    /// The slot's number.
    pub slot: u16,
    /// The number of the load or unload.
    pub load: u16,
}

impl SlotReport {
    /// As the call's words.
    pub fn words(self) -> [u64; 5] {
        let of = |kind: u64, change: SlotChange, why: u8| [kind, change.slot.into(), change.load.into(), why.into(), 0];
        match self {
            SlotReport::Task { task, execution, period, deadline, priority } => {
                [u64::from(task) << 8, execution, period, deadline, priority.into()]
            }
            SlotReport::Loaded(change) => of(1, change, 0),
            SlotReport::Unloaded(change) => of(2, change, 0),
            SlotReport::Refused(change, why) => of(3, change, why),
            SlotReport::Saved(change) => of(4, change, 0),
            SlotReport::Restored { change, from } => [5, change.slot.into(), change.load.into(), from.into(), 0],
            SlotReport::Update { change, from, trial } => {
                [6, change.slot.into(), change.load.into(), from.into(), trial.into()]
            }
            SlotReport::Settle(change) => of(7, change, 0),
            SlotReport::Ask(change) => of(8, change, 0),
        }
    }

    /// What the words say; nothing if they say nothing known.
    pub fn of(words: [u64; 5]) -> Option<SlotReport> {
        let [what, first, second, third, fourth] = words;
        if what & 0xff == 0 {
            let (task, priority) = (u16::try_from(what >> 8).ok()?, u32::try_from(fourth).ok()?);
            return Some(SlotReport::Task { task, execution: first, period: second, deadline: third, priority });
        }
        let change = SlotChange { slot: u16::try_from(first).ok()?, load: u16::try_from(second).ok()? };
        match what {
            1 => Some(SlotReport::Loaded(change)),
            2 => Some(SlotReport::Unloaded(change)),
            3 => Some(SlotReport::Refused(change, u8::try_from(third).ok()?)),
            4 => Some(SlotReport::Saved(change)),
            5 => Some(SlotReport::Restored { change, from: u16::try_from(third).ok()? }),
            6 => {
                let (from, trial) = (u16::try_from(third).ok()?, u32::try_from(fourth).ok()?);
                Some(SlotReport::Update { change, from, trial })
            }
            7 => Some(SlotReport::Settle(change)),
            8 => Some(SlotReport::Ask(change)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let change = SlotChange { slot: 3, load: 513 };
        let task = SlotReport::Task { task: 300, execution: 1, period: u64::MAX, deadline: 7, priority: u32::MAX };
        let kept = [SlotReport::Saved(change), SlotReport::Restored { change, from: 300 }];
        let update = SlotReport::Update { change, from: 300, trial: u32::MAX };
        let updates = [update, SlotReport::Settle(change), SlotReport::Ask(change)];
        let others = [task, SlotReport::Loaded(change), SlotReport::Unloaded(change), SlotReport::Refused(change, 9)];
        for report in others.into_iter().chain(kept).chain(updates) {
            assert_eq!(SlotReport::of(report.words()), Some(report));
        }
        let unknown = [[9, 0, 0, 0, 0], [1, 1 << 16, 0, 0, 0], [1 << 24, 0, 0, 0, 0]];
        let wide = [[3, 0, 0, 256, 0], [0, 0, 0, 0, 1 << 32], [6, 0, 0, 1 << 16, 0], [6, 0, 0, 0, 1 << 32]];
        for words in unknown.into_iter().chain(wide) {
            assert_eq!(SlotReport::of(words), None, "{words:?}");
        }
    }

    #[test]
    fn a_label_is_cut_off_and_read_up_to_its_end() {
        assert_eq!(label_text(&label("app")), "app");
        assert_eq!(label_text(&label(&"x".repeat(40))).len(), LABEL_BYTES);
        assert_eq!(label_text(&[0xff; LABEL_BYTES]), "");
    }
}
