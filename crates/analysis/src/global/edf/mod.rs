//! The tests of global EDF that studies compare, under one roof.

pub mod bak;
pub mod bar;
pub mod bcl;
pub mod density;
pub mod ff_dbf;
pub mod rta;

use super::set::Set;
use std::fmt;

/// A sufficient test of global EDF on m identical processors, for independent, preemptive sporadic tasks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Test {
    /// Goossens, Funk and Baruah: [`density::gfb`].
    Gfb,
    /// Baker: [`bak`].
    Bak,
    /// Bertogna, Cirinei and Lipari: [`bcl::bcl`].
    Bcl,
    /// The same with iterated slack: [`bcl::bcl_iterative`].
    BclIterative,
    /// Response times with iterated slack: [`rta`].
    Rta,
    /// Baruah: [`bar`].
    Bar,
    /// Baker and Baruah: [`density::load`].
    Load,
    /// Baruah, Bonifaci, Marchetti-Spaccamela and Stiller: [`ff_dbf`].
    FfDbf,
}

/// Memory that the tests work in, kept from set to set.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    rta: rta::Memory,
    bcl: bcl::Memory,
    bar: bar::Memory,
    ff_dbf: ff_dbf::Memory,
    numbers: Vec<f64>,
}

impl Test {
    /// All of them, the quickest first.
    pub const ALL: [Test; 8] =
        [Test::Gfb, Test::Load, Test::Bak, Test::FfDbf, Test::Bcl, Test::BclIterative, Test::Rta, Test::Bar];

    /// The name that the literature uses.
    pub const fn name(self) -> &'static str {
        match self {
            Test::Gfb => "GFB",
            Test::Bak => "BAK",
            Test::Bcl => "BCL",
            Test::BclIterative => "BCL-iterative",
            Test::Rta => "RTA",
            Test::Bar => "BAR",
            Test::Load => "LOAD",
            Test::FfDbf => "FF-DBF",
        }
    }

    /// Whether the test shows that every deadline is met.
    pub fn accepts(self, set: &Set, m: usize, memory: &mut Memory) -> bool {
        match self {
            Test::Gfb => density::gfb(set, m),
            Test::Bak => bak::bak(set, m),
            Test::Bcl => bcl::bcl(set, m),
            Test::BclIterative => bcl::bcl_iterative(set, m, &mut memory.bcl),
            Test::Rta => rta::rta(set, m, &mut memory.rta),
            Test::Bar => bar::bar(set, m, &mut memory.bar),
            Test::Load => density::load(set, m, &mut memory.numbers),
            Test::FfDbf => ff_dbf::ff_dbf(set, m, &mut memory.ff_dbf),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether any of the tests accepts; each is only asked where the ones before it refused.
pub fn any(set: &Set, m: usize, memory: &mut Memory) -> bool {
    // What RTA and GFB generalise need not be asked again: BCL, its iterated form, and for implicit deadlines FF-DBF.
    [Test::Gfb, Test::Load, Test::Bak, Test::Bar, Test::FfDbf, Test::Rta]
        .into_iter()
        .filter(|test| !(*test == Test::FfDbf && set.implicit()))
        .any(|test| test.accepts(set, m, memory))
}
