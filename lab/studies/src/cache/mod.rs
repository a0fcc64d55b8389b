//! The experiments of Gracioli's thesis (2014, chapters 6 to 8) on a modelled i7-2600: what page colours, CAP and the two-phase
//! scheduler are worth.
//!
//! Nothing is run on silicon. [`table`] lets the cache model say what an access costs while others run; [`schedule`] lets jobs proceed
//! at these speeds under the source's policies; [`sets`] draws the source's task sets. [`partitions`] is chapter 6, [`cap`] chapter 7,
//! [`two_phase`] chapter 8, [`events`] its counters; [`choice`] compares chosen colours with an even split; [`page`] runs all.

pub mod cap;
pub mod choice;
pub mod events;
pub mod page;
pub mod partitions;
pub mod schedule;
pub mod sets;
pub mod table;
pub mod two_phase;

/// Working sets of the source.
pub const WORKING_SETS: [u64; 4] = [32 << 10, 64 << 10, 128 << 10, 256 << 10];

/// Cycles of the loop around each access. The source does not tell; chosen so that a miss costs fifteen times a hit.
pub const WORK: u64 = 10;

/// Share of its execution time that a task of chapter 6 is calibrated to take on an idle machine, so that there is room for the
/// thread beside it and for preemptions. The source says only that the time stays below.
pub const ALONE: f64 = 0.7;

/// The same for chapters 7 and 8, where all other processors are busy during calibration: in chapter 7 they are loaded up to 95 %.
pub const BESIDE: f64 = 0.9;

/// Accesses of one repetition of the source's loop.
pub const REPETITION: u64 = 16_384;

/// Colours. The source does not tell how many it used; with 64 each has 128 KB, which is the working set up to which its tasks
/// kept their deadlines.
pub const COLOURS: u64 = 64;

/// Cycles for which memory is busy with a line: 7 GB/s, about a third of what the machine's two channels deliver at best.
pub const SERVICE: u64 = 30;
