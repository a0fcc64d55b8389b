//! `tactus study`: experiments over very many generated systems.
//!
//! **How to add one.** Write a file in this folder with `pub struct Arguments` (derive `clap::Args`) and
//! `pub fn study(&Arguments) -> Result<Outcome, Failure>`; name it in a `mod` line, as a variant of [`Study`] with its
//! words of help, and in [`study`]. Nothing else knows the list.

mod bdm;
mod cache;
mod dask;
mod disk;
mod disk_variants;
mod edf_overheads;
mod interrupts;
mod kept;
mod mc2;
mod mesh;
mod own_counts;
mod progress;
mod runs;
mod schedulability;

use clap::Subcommand;
use tactus_machine::failure::{Failure, Outcome};

/// The studies.
#[derive(Debug, Subcommand)]
pub enum Study {
    /// Ask which share of generated task sets each test or policy accepts
    ///
    /// Reads a study file (see docs/lab/studies.md and lab/studies/*.toml), works on all cores, tells progress and remaining time. Ctrl-C
    /// stops it; the same command goes on with it. Leaves tables (CSV), plots (SVG) and a page (HTML) in out/study/NAME/.
    /// The result has the same bytes however often it was stopped and however many cores worked on it.
    #[command(after_help = "Example:\n  ./tactus study schedulability lab/studies/quick.toml")]
    Schedulability(schedulability::Arguments),
    /// Work out some chunks of a study and print or keep them, as the workers of a distributed engine do
    #[command(after_help = "Example:\n  ./tactus study chunk lab/studies/quick.toml 0 1 2")]
    Chunk(schedulability::ChunkArguments),
    /// Send packets faster than they can be handled, under four ways to schedule interrupts
    ///
    /// Boots a system of driver, protocol and three tasks on the kernel at many packet rates, and tells what the tasks got
    /// done: the interrupt study of Parmer and West (2013). See docs/lab/study-interrupts.md. Takes minutes. Leaves figures
    /// (JSON) and plots (SVG) in out/study/interrupts/. The same file gives the same figures.
    #[command(after_help = "Examples:\n  ./tactus study interrupts\n  ./tactus study interrupts --sweep equal")]
    Interrupts(interrupts::Arguments),
    /// Give two applications their time by virtual platforms, and by throttling, beside a background that outranks them
    ///
    /// The experiment of JUNIPER D3.6 (Tables 1 to 4) in the simulator, with throttling once as it is meant and once as
    /// mainline Linux does it. Takes seconds. See docs/lab/study-platforms.md.
    #[command(after_help = "Example:\n  ./tactus study bdm")]
    Bdm(bdm::Arguments),
    /// Measure what releases and decisions of MC² cost on the kernel, with the machinery of its source and without locks
    ///
    /// The overhead experiment of Herman et al.: random systems on 4 and 6 cores, three feature sets of one lock for each
    /// container and core, and messages instead of locks. Takes an hour; `--systems 6` takes minutes. See docs/lab/study-mc2.md.
    #[command(after_help = "Example:\n  ./tactus study mc2-overheads --systems 6 --tasks 20,120")]
    Mc2Overheads(mc2::overheads::Arguments),
    /// Let jobs of MC² take longer than expected, with budgets enforced and not
    ///
    /// The robustness experiment of Herman et al. in the simulator, chosen points on the kernel as well. Takes minutes. See
    /// docs/lab/study-mc2.md.
    #[command(after_help = "Example:\n  ./tactus study mc2-robustness --systems 3 --duration '10 s'")]
    Mc2Robustness(mc2::robustness::Arguments),
    /// Measure scheduling, release, timer and inter-core event under global, clustered and partitioned EDF
    ///
    /// The overhead measurements of Gracioli (EPOS) on the kernel, 5 to 125 tasks. Takes minutes. See
    /// docs/lab/study-overheads.md.
    #[command(after_help = "Example:\n  ./tactus study overheads --tasks 5,125")]
    Overheads(edf_overheads::Arguments),
    /// Order a disk's requests by a learned latency map, for throughput and for deadlines
    ///
    /// The experiments of Tarasov, Sim, Povzner and Zadok (2012) on modelled drives, the source's figures beside. Takes
    /// seconds. Leaves tables (CSV), plots (SVG) and a page (Markdown) in out/study/disk/. See docs/disks.md.
    #[command(after_help = "Example:\n  ./tactus study disk --drive cheetah-15k7")]
    Disk(disk::Arguments),
    /// Give tasks colours of the shared cache, place them by what they share, and hold best-effort work back
    ///
    /// The experiments of Gracioli (EPOS, chapters 6 to 8) on a modelled i7-2600, the source's figures beside. Takes minutes;
    /// `--runs 50` is the source's size. Leaves tables (CSV) and a page (Markdown) in out/study/cache/. See docs/caches.md.
    #[command(after_help = "Example:\n  ./tactus study cache --part chapter7 --runs 50")]
    Cache(cache::Arguments),
    /// Simulate up to 1,024 nodes on a network on chip, each alone, and hold their messages to bounds from job to job
    ///
    /// Random nodes on a mesh whose links are shared in slots or by rates, as MOSSCA wants them; the network is run flit for flit,
    /// and is a delay of at most its bound for each node. Takes a minute. Leaves a table (CSV) and a page (Markdown) in
    /// out/study/mesh/. See docs/lab/studies.md.
    #[command(after_help = "Example:\n  ./tactus study mesh --columns 8 --rows 8 --links rates")]
    Mesh(mesh::Arguments),
}

/// Does the study that is asked for.
pub fn study(study: &Study) -> Result<Outcome, Failure> {
    match study {
        Study::Schedulability(arguments) => schedulability::study(arguments),
        Study::Chunk(arguments) => schedulability::chunk(arguments),
        Study::Interrupts(arguments) => interrupts::study(arguments),
        Study::Bdm(arguments) => bdm::study(arguments),
        Study::Mc2Overheads(arguments) => mc2::overheads::study(arguments),
        Study::Mc2Robustness(arguments) => mc2::robustness::study(arguments),
        Study::Cache(arguments) => cache::study(arguments),
        Study::Mesh(arguments) => mesh::study(arguments),
        Study::Disk(arguments) => disk::study(arguments),
        Study::Overheads(arguments) => edf_overheads::study(arguments),
    }
}
