//! A sink that keeps everything, core by core.

use tactus_record::{Record, Sink};
use tactus_trace::Trace;

/// Keeps every record under the core that it names. A record of a core that does not exist is counted as dropped
/// at core 0.
#[derive(Debug, Default)]
pub struct Keep {
    trace: Trace,
}

impl Keep {
    /// An empty trace of `cores` cores.
    pub fn new(cores: usize) -> Keep {
        Keep {
            trace: Trace {
                cores: vec![Vec::new(); cores],
                dropped: vec![0; cores],
                disks: Vec::new(),
                observed: Vec::new(),
            },
        }
    }

    /// What was kept.
    pub fn into_trace(self) -> Trace {
        self.trace
    }
}

impl Sink for Keep {
    fn record(&mut self, record: Record) {
        match self.trace.cores.get_mut(record.core.index()) {
            Some(records) => records.push(record),
            None => self.trace.dropped.iter_mut().take(1).for_each(|n| *n += 1),
        }
    }
}
