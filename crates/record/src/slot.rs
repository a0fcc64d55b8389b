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
        }
    }
}
