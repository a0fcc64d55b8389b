//! What records say of slots: which value of a task one tells, and why a load or an unload was refused.

/// Which value of a slot's task a record tells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum SlotValue {
    /// Its execution time, with the system's own work (ns).
    Execution = 0,
    /// Its period (ns).
    Period = 1,
    /// Its relative deadline (ns).
    Deadline = 2,
    /// Its priority; the larger is more urgent, as in system files.
    Priority = 3,
}

impl SlotValue {
    /// All, in the order in which they are told.
    pub const ALL: [SlotValue; 4] = [SlotValue::Execution, SlotValue::Period, SlotValue::Deadline, SlotValue::Priority];

    /// The value with this number, if there is one.
    pub const fn from_u8(n: u8) -> Option<SlotValue> {
        Some(match n {
            0 => SlotValue::Execution,
            1 => SlotValue::Period,
            2 => SlotValue::Deadline,
            3 => SlotValue::Priority,
            _ => return None,
        })
    }
}

/// Why a load or an unload was refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum SlotRefusal {
    /// There is a program in the slot.
    Full = 0,
    /// There is none, and it was to be unloaded.
    Empty = 1,
    /// It is not encoded as a package is.
    Malformed = 2,
    /// Signed by nobody who is trusted, or not signed.
    Signature = 3,
    /// Its program is not the one that was signed.
    Program = 4,
    /// It is older than what the slot has had.
    Older = 5,
    /// Made for another processor or another class of slot.
    Kind = 6,
    /// It takes more memory, or has more tasks, than the slot.
    Size = 7,
    /// It wants what programs in the slot may not have.
    Right = 8,
    /// Its tasks may miss deadlines in the slot.
    Unschedulable = 9,
    /// Memory or threads of the slot could not be had.
    Resources = 10,
    /// A thread of it is in a service of another component, or it was stopped: it cannot be saved as it is now.
    Unsavable = 12,
    /// Nothing was saved of the slot.
    Unsaved = 13,
    /// What was saved is not what it was.
    Damaged = 14,
    /// It is to replace a program, and its tasks are not released as that one's are, or it does not use the service that keeps state.
    Replacement = 20,
}

impl SlotRefusal {
    /// The cause with this number, if there is one.
    pub const fn from_u8(n: u8) -> Option<SlotRefusal> {
        Some(match n {
            0 => SlotRefusal::Full,
            1 => SlotRefusal::Empty,
            2 => SlotRefusal::Malformed,
            3 => SlotRefusal::Signature,
            4 => SlotRefusal::Program,
            5 => SlotRefusal::Older,
            6 => SlotRefusal::Kind,
            7 => SlotRefusal::Size,
            8 => SlotRefusal::Right,
            9 => SlotRefusal::Unschedulable,
            10 => SlotRefusal::Resources,
            12 => SlotRefusal::Unsavable,
            13 => SlotRefusal::Unsaved,
            14 => SlotRefusal::Damaged,
            20 => SlotRefusal::Replacement,
            _ => return None,
        })
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            SlotRefusal::Full => "a program is in the slot",
            SlotRefusal::Empty => "no program is in the slot",
            SlotRefusal::Malformed => "it is no package",
            SlotRefusal::Signature => "nobody who is trusted has signed it",
            SlotRefusal::Program => "its program is not the one that was signed, or cannot be loaded",
            SlotRefusal::Older => "it is older than what was in the slot",
            SlotRefusal::Kind => "it is made for another processor or class of slot",
            SlotRefusal::Size => "it needs more memory or tasks than the slot has",
            SlotRefusal::Right => "it wants what it may not have there",
            SlotRefusal::Unschedulable => "its tasks could miss deadlines there",
            SlotRefusal::Resources => "the slot's memory or threads could not be had",
            SlotRefusal::Unsavable => "it cannot be saved there",
            SlotRefusal::Unsaved => "nothing was saved of the slot",
            SlotRefusal::Damaged => "what was saved is damaged",
            SlotRefusal::Replacement => "it cannot go on where the program that it is to replace ends",
        }
    }
}

/// What became of an update, as the policy decides it between two jobs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum SlotSwitch {
    /// The new version takes over.
    Over = 0,
    /// It has had its good jobs, and stays.
    Kept = 1,
    /// Its component was stopped: the old version goes on.
    Stopped = 2,
    /// A job of it took longer than it declares: the old version goes on.
    Overran = 3,
    /// A job of it was not complete at its deadline: the old version goes on.
    Missed = 4,
    /// Its good jobs were not done when the trial was over, or it could never take over: the old version goes on.
    Late = 5,
}

impl SlotSwitch {
    /// The one with this number, if there is one.
    pub const fn from_u8(n: u8) -> Option<SlotSwitch> {
        Some(match n {
            0 => SlotSwitch::Over,
            1 => SlotSwitch::Kept,
            2 => SlotSwitch::Stopped,
            3 => SlotSwitch::Overran,
            4 => SlotSwitch::Missed,
            5 => SlotSwitch::Late,
            _ => return None,
        })
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            SlotSwitch::Over => "it took over",
            SlotSwitch::Kept => "it stays",
            SlotSwitch::Stopped => "it was stopped",
            SlotSwitch::Overran => "a job took longer than declared",
            SlotSwitch::Missed => "a job missed its deadline",
            SlotSwitch::Late => "its trial ended before its jobs were done",
        }
    }

    /// Whether the old version goes on.
    pub const fn is_back(self) -> bool {
        !matches!(self, SlotSwitch::Over | SlotSwitch::Kept)
    }
}

/// The level byte of [`EventKind::SlotLoaded`](crate::EventKind::SlotLoaded): `from` is the slot of which the program was saved that goes on;
/// nothing if it begins.
pub const fn slot_loaded_level(slot: u16, from: Option<u16>) -> u8 {
    match from {
        None => 0,
        Some(from) if from == slot => 1,
        Some(from) => 2 + from as u8,
    }
}

/// Of which slot the program was saved that goes on in this one by that level byte; nothing if it begins.
pub const fn slot_loaded_from(slot: u16, level: u8) -> Option<u16> {
    match level {
        0 => None,
        1 => Some(slot),
        _ => Some(level as u16 - 2),
    }
}

/// What an [`EventKind::SlotUpdate`](crate::EventKind::SlotUpdate) tells in its `arg`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlotUpdate {
    /// The number of the load.
    pub load: u16,
    /// The slot of the program that is replaced.
    pub from: u16,
    /// Jobs of the new version that must be good.
    pub trial: u32,
}

impl SlotUpdate {
    /// As one number.
    pub const fn arg(self) -> u64 {
        self.load as u64 | (self.from as u64) << 16 | (self.trial as u64) << 32
    }

    /// The one that the number tells.
    pub const fn of(arg: u64) -> SlotUpdate {
        SlotUpdate { load: arg as u16, from: (arg >> 16) as u16, trial: (arg >> 32) as u32 }
    }
}
