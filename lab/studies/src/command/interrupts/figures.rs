//! What a run tells, in packets per second of the source's machine, and what follows from all runs of a set-up.

use super::spec::{Point, Spec};
use serde::Serialize;
use tactus_packets::counts::{Totals, BACKGROUND_WORK};
use tactus_packets::{Series, Setup, STREAMS};

/// A set-up is in livelock where its tasks together get less than this share of the most that they ever got.
const LIVELOCK: f64 = 0.1;

/// One run's figures. All but shares in packets per second of the source's machine, by stream.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The sweep's name.
    pub sweep: String,
    /// The set-up's letter.
    pub setup: char,
    /// Rates as they were asked for.
    pub rates: [u64; STREAMS],
    /// Packets that arrived.
    pub arrived: [f64; STREAMS],
    /// Packets that the driver dropped, its queue being full.
    pub dropped: [f64; STREAMS],
    /// Packets whose protocol work was done.
    pub upcalls: [f64; STREAMS],
    /// Packets that the mailbox refused.
    pub refused: [f64; STREAMS],
    /// Packets that the tasks handled.
    pub handled: [f64; STREAMS],
    /// Interrupts of the device per second of the source's machine.
    pub interrupts: f64,
    /// The background task's share of the core.
    pub background: f64,
    /// Whether the tasks are in livelock, by [`judge`].
    pub livelock: bool,
}

impl Figures {
    /// Reads them from what was counted.
    pub fn new(spec: &Spec, point: &Point, totals: &Totals) -> Figures {
        let sum =
            |series: Series, stream: usize| -> u64 { totals[series as usize + stream][spec.measured()].iter().sum() };
        let rates = |series: Series| [0, 1].map(|stream| spec.there(sum(series, stream)));
        let seconds = (spec.measured().len() as u64 * spec.period()) as f64 / 1e9;
        Figures {
            sweep: spec.sweeps[point.sweep].name.clone(),
            setup: point.setup.letter(),
            rates: point.rates,
            arrived: rates(Series::Arrived),
            dropped: rates(Series::Dropped),
            upcalls: rates(Series::Upcalls),
            refused: rates(Series::Refused),
            handled: rates(Series::Handled),
            interrupts: spec.there(sum(Series::Interrupts, 0)),
            background: sum(Series::Background, 0) as f64 * BACKGROUND_WORK as f64 / 1e9 / seconds,
            livelock: false,
        }
    }

    /// Packets that both tasks handled.
    pub fn total(&self) -> f64 {
        self.handled.iter().sum()
    }

    /// Packets of task 1 for each of task 2; nothing if there is nothing to compare.
    pub fn ratio(&self) -> Option<f64> {
        (self.handled[1] > 0.0).then(|| self.handled[0] / self.handled[1])
    }
}

/// Marks the runs in which a set-up's tasks are in livelock.
pub fn judge(figures: &mut [Figures]) {
    for setup in Setup::ALL.map(Setup::letter) {
        let most = figures.iter().filter(|it| it.setup == setup).map(Figures::total).fold(0.0, f64::max);
        for it in figures.iter_mut().filter(|it| it.setup == setup) {
            it.livelock = it.total() < LIVELOCK * most && it.rates.iter().sum::<u64>() as f64 > most;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(setup: char, rate: u64, handled: [f64; STREAMS]) -> Figures {
        Figures {
            sweep: "equal".into(),
            setup,
            rates: [rate; STREAMS],
            arrived: [0.0; STREAMS],
            dropped: [0.0; STREAMS],
            upcalls: [0.0; STREAMS],
            refused: [0.0; STREAMS],
            handled,
            interrupts: 0.0,
            background: 0.0,
            livelock: false,
        }
    }

    #[test]
    fn livelock_is_little_done_where_much_is_asked() {
        let mut runs = [
            figures('a', 2_000, [2_000.0, 2_000.0]),
            figures('a', 25_000, [25_000.0, 25_000.0]),
            figures('a', 250_000, [10.0, 0.0]),
            figures('c', 250_000, [20_000.0, 20_000.0]),
        ];
        judge(&mut runs);
        // Little was asked of the first run, and all of it was done.
        assert_eq!(runs.map(|it| it.livelock), [false, false, true, false]);
    }

    #[test]
    fn a_ratio_needs_something_to_compare_with() {
        assert_eq!(figures('d', 1, [50.0, 20.0]).ratio(), Some(2.5));
        assert_eq!(figures('a', 1, [0.0, 0.0]).ratio(), None);
    }
}
