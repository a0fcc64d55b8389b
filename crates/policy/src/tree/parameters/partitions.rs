//! Parameters of partitions: a tree with the windows of its outermost servers.

use super::Tree;
use crate::codec::{put, DecodeError, Input, Parameters};
use alloc::vec::Vec;
use tactus_task::{ScheduleSwitch, Window};
use tactus_time::{CoreId, Duration};

/// A tree whose outermost servers are partitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partitions {
    /// The servers and tasks. Each server in the root is of [`ServerKind::Windows`](tactus_task::ServerKind::Windows), and no task is in the root.
    pub tree: Tree,
    /// The length of the major frame, with which all windows repeat.
    pub frame: Duration,
    /// The windows of each server in all schedules, in the order of the servers; none of the root and of servers inside partitions.
    pub windows: Vec<Vec<Window>>,
    /// When another schedule begins, by frame.
    pub switches: Vec<ScheduleSwitch>,
}

const WINDOW_BYTES: usize = 2 + 2 * 8;
const SWITCH_BYTES: usize = 1 + 8;

impl Parameters for Partitions {
    fn encode(&self, out: &mut Vec<u8>) {
        self.tree.encode(out);
        put(out, self.frame.as_nanos());
        put(out, self.windows.len() as u64);
        for windows in &self.windows {
            put(out, windows.len() as u64);
            for window in windows {
                out.push(window.core.0);
                out.push(window.schedule);
                put(out, window.start.as_nanos());
                put(out, window.length.as_nanos());
            }
        }
        put(out, self.switches.len() as u64);
        for switch in &self.switches {
            put(out, switch.frame);
            out.push(switch.schedule);
        }
    }

    fn decode(input: &mut Input) -> Result<Partitions, DecodeError> {
        let tree = Tree::decode(input)?;
        let frame = input.time()?;
        let windows = input.list(8, |input| {
            input.list(WINDOW_BYTES, |input| {
                let (core, schedule) = (CoreId(input.byte()?), input.byte()?);
                Ok(Window { core, start: input.time()?, length: input.time()?, schedule })
            })
        })?;
        let switches =
            input.list(SWITCH_BYTES, |input| Ok(ScheduleSwitch { frame: input.number()?, schedule: input.byte()? }))?;
        Ok(Partitions { tree, frame, windows, switches })
    }
}
