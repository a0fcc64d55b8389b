//! The structures by name: what a command line can ask for. A new structure is one line here beside its own file.

use crate::engine::{run, Failed, Finished};
use crate::settings::Settings;
use tactus_compared_structures::directory::{
    Cpudl, Cpupri, CpupriLinux, Delegation, FastHeap, FlatCombining, LockedHeap, LockedRow, Marks, Scan, SkipList,
    Tournament,
};
use tactus_compared_structures::queue::{BinaryHeap, Bitmap, Calendar, PairingHeap, PlainHeap, RedBlackTree};

type Run = fn(&Settings, &mut dyn FnMut(f64)) -> Result<Finished, Failed>;

macro_rules! table {
    ($($directory:literal $d:ident),* ; $queues:tt) => {
        /// The directories, as they are called on the command line.
        pub const DIRECTORIES: &[&str] = &[$($directory),*];

        fn find(directory: &str, queue: &str) -> Option<Run> {
            $(table!(@ directory queue $directory $d $queues);)*
            None
        }

        /// Counts one operation of a directory; see [`crate::count`].
        pub fn count_directory(directory: &str, operation: &str, cores: usize, rounds: u64) -> Option<(u64, std::time::Duration)> {
            match directory {
                $($directory => crate::count::directory::<$d>(operation, cores, rounds),)*
                _ => None,
            }
        }
        table!(@names $queues);
    };
    (@names ($($queue:literal $q:ident),*)) => {
        /// The ready queues, as they are called on the command line.
        pub const QUEUES: &[&str] = &[$($queue),*];

        /// Counts one operation of a ready queue; see [`crate::count`].
        pub fn count_queue(queue: &str, operation: &str, tasks: usize, rounds: u64) -> Option<(u64, std::time::Duration)> {
            match queue {
                $($queue => crate::count::queue::<$q>(operation, tasks, rounds),)*
                _ => None,
            }
        }
    };
    (@ $given_d:ident $given_q:ident $directory:literal $d:ident ($($queue:literal $q:ident),*)) => {
        $(if $given_d == $directory && $given_q == $queue {
            return Some(run::<$d, $q>);
        })*
    };
}

table! {
    "scan" Scan, "cpupri" Cpupri, "cpupri-linux" CpupriLinux, "cpudl" Cpudl, "fast-heap" FastHeap, "skip-list" SkipList,
    "flat-combining" FlatCombining, "delegation" Delegation, "tournament" Tournament, "marks" Marks,
    "locked-row" LockedRow, "locked-heap" LockedHeap;
    ("binary-heap" BinaryHeap, "plain-heap" PlainHeap, "pairing-heap" PairingHeap, "red-black-tree" RedBlackTree, "bitmap" Bitmap,
     "calendar" Calendar)
}

/// Runs the rig with the structures of these names; nothing if there are none.
pub fn run_named(
    directory: &str,
    queue: &str,
    settings: &Settings,
    progress: &mut dyn FnMut(f64),
) -> Option<Result<Finished, Failed>> {
    find(directory, queue).map(|run| run(settings, progress))
}
