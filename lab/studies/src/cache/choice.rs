//! Colours chosen for the least sum of utilisations against an even split: how many random systems can be placed, and whether those that can meet
//! their deadlines when the cache model says what accesses cost.

use super::WORK;
use crate::disk::Draw;
use tactus_analysis::partitioned::{place, Fit, Order};
use tactus_cache::choose::{choose, even, utilisation, Curve};
use tactus_cache::corun::{Buffer, Corun, Pattern, Program};
use tactus_cache::{Colour, Colours, Geometry, Hierarchy, Owner};

/// Colours of the systems.
pub const COLOURS: usize = 32;

/// Working sets of the systems.
const BYTES: [u64; 6] = [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20];

/// The most colours that a task may get.
const MOST: usize = 8;

/// A task beside others in a measurement: its working set, its first colour, and how many it has.
type Running = (usize, usize, usize);

/// Cycles of an access of each, when they run side by side on a core each.
fn cycles(running: &[Running]) -> Vec<f64> {
    let geometry = Geometry::of("i7-2600").expect("it comes with Tactus");
    let colours = Colours::new(&geometry, COLOURS as u64).expect("fewer colours than the machine has");
    let model = Hierarchy::with_owners(geometry, 8).expect("the geometry was checked");
    let mut corun = Corun::new(model, colours, WORK, 0);
    for (core, (set, first, span)) in running.iter().enumerate() {
        let buffer = Buffer { colour: Colour(*first as u16), span: *span as u16, skip: 0, bytes: BYTES[*set] };
        let (owner, pattern) = (Owner(core as u8), Pattern::Random { write_every: 5 });
        corun.start(Program { processor: 2 * core, owner, buffer, pattern, regulation: None }, core as u64 + 1);
    }
    for (at, (set, ..)) in running.iter().enumerate() {
        let lines = BYTES[*set] / 64;
        let done = corun.progress(at).accesses;
        corun.run(at, (6 * lines).saturating_sub(done).max(1));
    }
    let before: Vec<_> = (0..running.len()).map(|at| corun.progress(at)).collect();
    for (at, before) in before.iter().enumerate() {
        let done = corun.progress(at).since(*before).accesses;
        corun.run(at, 20_000u64.saturating_sub(done).max(1));
    }
    before.iter().enumerate().map(|(at, before)| corun.progress(at).since(*before).cycles_each()).collect()
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Counts {
    /// Systems.
    pub systems: u64,
    /// Placed with an even split.
    pub even: u64,
    /// Placed with colours chosen.
    pub chosen: u64,
    /// Placed with an even split and not with colours chosen.
    pub only_even: u64,
    /// Of those placed with colours chosen: run beside each other on the model.
    pub run: u64,
    /// Tasks of these whose accesses cost more than the choice counted on.
    pub slower: u64,
}

fn placed(curves: &[Curve], counts: &[usize], cores: usize) -> Option<Vec<usize>> {
    let sizes: Vec<u64> = curves.iter().zip(counts).map(|(curve, count)| utilisation(curve, *count)).collect();
    let fits = |bin: &[usize]| bin.iter().map(|&task| sizes[task]).sum::<u64>() <= 1_000_000;
    let all = [Fit::Worst, Fit::First, Fit::Best];
    all.into_iter().find_map(|fit| place(&sizes, &[], cores, fit, Order::Decreasing, fits).ok())
}

/// The heaviest task of each core beside each other, as colours are given out in a row: how many of them are slower than `alone` says.
fn slower(sets: &[usize], counts: &[usize], cores: &[usize], sizes: &[u64], alone: &[Vec<f64>]) -> u64 {
    let first = |task: usize| counts[..task].iter().sum::<usize>();
    let heaviest =
        (0..4).filter_map(|core| (0..sets.len()).filter(|&task| cores[task] == core).max_by_key(|&t| sizes[t]));
    let tasks: Vec<usize> = heaviest.collect();
    let running: Vec<Running> = tasks.iter().map(|&task| (sets[task], first(task), counts[task])).collect();
    let together = cycles(&running);
    // Both are means over random accesses: two in a hundred is noise.
    let is_slower = |(task, cycles): (&usize, &f64)| *cycles > alone[sets[*task]][counts[*task].min(MOST) - 1] * 1.02;
    tasks.iter().zip(&together).filter(|pair| is_slower((pair.0, pair.1))).count() as u64
}

/// Random systems of 6 to 16 tasks on the four cores of the source's machine; of every tenth that can be placed, the cores'
/// heaviest tasks are run beside each other.
pub fn compare(systems: u64) -> Counts {
    let alone: Vec<Vec<f64>> =
        (0..BYTES.len()).map(|set| (1..=MOST).map(|count| cycles(&[(set, 0, count)])[0]).collect()).collect();
    let mut counts = Counts { systems, ..Counts::default() };
    for seed in 0..systems {
        let mut draw = Draw::new(seed + 1);
        let many = 6 + draw.below(11);
        let mut sets = Vec::new();
        let curves: Vec<Curve> = (0..many)
            .map(|_| {
                let set = draw.below(BYTES.len() as u64) as usize;
                let base = 50_000 + draw.below(350_000);
                sets.push(set);
                let best = alone[set].iter().copied().fold(f64::MAX, f64::min);
                alone[set].iter().map(|cycles| (base as f64 * cycles / best).ceil() as u64).collect()
            })
            .collect();
        let (Ok(even), Ok(chosen)) = (even(&curves, COLOURS), choose(&curves, COLOURS, 1_000_000)) else { continue };
        let with_even = placed(&curves, &even.colours, 4);
        let with_chosen = placed(&curves, &chosen.colours, 4);
        counts.even += u64::from(with_even.is_some());
        counts.chosen += u64::from(with_chosen.is_some());
        counts.only_even += u64::from(with_even.is_some() && with_chosen.is_none());
        if let Some(cores) = with_chosen.filter(|_| seed % 10 == 0) {
            let sizes: Vec<u64> =
                curves.iter().zip(&chosen.colours).map(|(curve, count)| utilisation(curve, *count)).collect();
            counts.slower += slower(&sets, &chosen.colours, &cores, &sizes, &alone);
            counts.run += 1;
        }
    }
    counts
}
