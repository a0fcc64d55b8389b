//! Who has which colours of memory, where a system keeps parts of itself apart in the shared cache.

use tactus_cache::Geometry;

/// Colours, as bits.
pub type ColourBits = u64;

/// All of so many colours.
pub fn every_colour(count: u32) -> ColourBits {
    u64::MAX >> (64 - count.clamp(1, 64))
}

/// The colours of each part of a system. There is none of it unless the file names colours for a task, a component or the kernel:
/// then every part has frames of any colour.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColourAssignment {
    /// The kernel's.
    pub kernel: ColourBits,
    /// Of whatever names none: those that nobody names.
    pub rest: ColourBits,
    /// Of each of the user's components, in file order.
    pub components: Vec<ColourBits>,
    /// Of each task of the built-in workload, in file order; of another task, its component's.
    pub tasks: Vec<ColourBits>,
}

/// The caches of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caches {
    /// What they are made of.
    pub geometry: Geometry,
    /// The same as a file.
    pub text: String,
}

/// The longest run of colours that follow each other: so many frames in one piece can be of these colours. Nothing if all can.
pub fn longest_run(colours: ColourBits, count: u32) -> Option<u32> {
    if colours & every_colour(count) == every_colour(count) {
        return None;
    }
    let has = |at: u32| colours >> (at % count) & 1 != 0;
    let from = |first: u32| (0..count).take_while(|n| has(first + n)).count() as u32;
    (0..count).map(from).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_colours_goes_on_from_the_last_to_the_first() {
        assert_eq!(longest_run(0b1001, 4), Some(2));
        assert_eq!(longest_run(0b1111, 4), None);
        assert_eq!(longest_run(0b0101, 4), Some(1));
        assert_eq!(every_colour(64), u64::MAX);
        assert_eq!(every_colour(1), 1);
    }
}
