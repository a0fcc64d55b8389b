//! What lies between machines that hear each other: each has a network card whose other end is here, and each frame comes to those that
//! hear its sender, but for those that are lost.
//!
//! Machines are processes of the host, whose times have nothing to do with each other: [`Pace`] holds those that are ahead.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration as Real;
use tactus_time::Duration;

/// Time between two looks whether the run has ended.
const LOOK: Real = Real::from_millis(50);
/// The longest frame.
const LONGEST: usize = 2_048;
/// How far one machine may be ahead of another.
const AHEAD: Duration = Duration::from_millis(300);

/// Who hears a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hearer {
    /// Its number.
    pub machine: usize,
    /// Frames of a million that are lost on the way.
    pub loss: u32,
}

/// The words of the emulator's command line for a card whose other end is the air. Sockets lie in the folder of results.
pub fn card() -> Vec<String> {
    let backend = "dgram,id=air,local.type=unix,local.path=card,remote.type=unix,remote.path=air";
    ["-netdev", backend, "-device", "virtio-net-pci,netdev=air,addr=4,disable-legacy=on,romfile="]
        .map(str::to_string)
        .to_vec()
}

/// Frames that came to the air, and that were lost there.
#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    lost: AtomicU64,
}

/// Carries frames until it is dropped.
#[derive(Debug)]
pub struct Air {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    counts: Arc<Counts>,
}

impl Air {
    /// Between the machines with these folders of results; who hears each. What is lost is drawn from the seed and the order of frames.
    ///
    /// # Errors
    /// If the host has no such sockets.
    pub fn start(folders: &[PathBuf], hearers: &[Vec<Hearer>], seed: u64) -> io::Result<Air> {
        let mut air = Air { stop: Arc::default(), threads: Vec::new(), counts: Arc::default() };
        let mut sockets = Vec::new();
        for folder in folders {
            for name in ["air", "card"] {
                // One of an earlier run.
                let _ = std::fs::remove_file(folder.join(name));
            }
            let socket = UnixDatagram::bind(folder.join("air"))?;
            socket.set_read_timeout(Some(LOOK))?;
            sockets.push(socket);
        }
        for ((n, socket), hearers) in sockets.into_iter().enumerate().zip(hearers) {
            let (stop, counts) = (air.stop.clone(), air.counts.clone());
            let to = hearers.iter().map(|it| (folders[it.machine].join("card"), it.loss)).collect();
            air.threads.push(thread::spawn(move || carry(&socket, to, seed ^ n as u64, (&stop, &counts))));
        }
        Ok(air)
    }

    /// Frames that were sent, and how often one was lost on its way to one hearer.
    pub fn frames(&self) -> (u64, u64) {
        (self.counts.sent.load(Ordering::Relaxed), self.counts.lost.load(Ordering::Relaxed))
    }
}

fn carry(socket: &UnixDatagram, to: Vec<(PathBuf, u32)>, seed: u64, (stop, counts): (&AtomicBool, &Counts)) {
    // SplitMix64.
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    let mut frame = [0; LONGEST];
    while !stop.load(Ordering::Relaxed) {
        let Ok(length) = socket.recv(&mut frame) else { continue };
        counts.sent.fetch_add(1, Ordering::Relaxed);
        for (card, loss) in &to {
            if draw() % 1_000_000 < u64::from(*loss) {
                counts.lost.fetch_add(1, Ordering::Relaxed);
            } else {
                send(socket, &frame[..length], card);
            }
        }
    }
}

/// A machine that is not there yet, or has ended, hears nothing.
fn send(socket: &UnixDatagram, frame: &[u8], card: &Path) {
    let _ = socket.send_to(frame, card);
}

impl Drop for Air {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// How far each of several machines has come.
#[derive(Debug)]
pub struct Pace(Vec<AtomicU64>);

impl Pace {
    /// Of this number of machines, none of which has begun.
    pub fn new(machines: usize) -> Pace {
        Pace((0..machines).map(|_| AtomicU64::new(0)).collect())
    }
    /// A machine has come so far.
    pub fn reached(&self, machine: usize, now: Duration) {
        self.0[machine].store(now.as_nanos(), Ordering::Relaxed);
    }
    /// A machine has ended: nobody waits for it any more.
    pub fn ended(&self, machine: usize) {
        self.0[machine].store(u64::MAX, Ordering::Relaxed);
    }
    /// Whether a machine is so far ahead of another one that it is to stand still.
    pub fn holds(&self, machine: usize) -> bool {
        let own = self.0[machine].load(Ordering::Relaxed);
        let last = self.0.iter().map(|it| it.load(Ordering::Relaxed)).min().unwrap_or(own);
        own != u64::MAX && own - last.min(own) > AHEAD.as_nanos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_ahead_waits_for_all_that_have_not_ended() {
        let (pace, millis) = (Pace::new(3), Duration::from_millis);
        pace.reached(0, millis(301));
        assert!(pace.holds(0) && !pace.holds(1));
        pace.reached(1, millis(100));
        assert!(pace.holds(0), "the third has not begun");
        pace.reached(2, millis(1));
        assert!(!pace.holds(0));
        pace.reached(0, millis(900));
        pace.ended(1);
        pace.ended(2);
        assert!(!pace.holds(0) && !pace.holds(1));
    }

    #[test]
    fn a_frame_comes_to_those_that_hear_its_sender_and_to_nobody_else() {
        let folder = std::env::temp_dir().join(format!("tactus-air-{}", std::process::id()));
        let folders: Vec<PathBuf> = (0..3).map(|n| folder.join(n.to_string())).collect();
        folders.iter().for_each(|folder| std::fs::create_dir_all(folder).expect("a folder"));
        let hears = |machine| vec![Hearer { machine, loss: 0 }];
        let air = Air::start(&folders, &[hears(1), hears(0), hears(1)], 7).expect("sockets");
        let cards: Vec<UnixDatagram> =
            folders.iter().map(|folder| UnixDatagram::bind(folder.join("card")).expect("a socket")).collect();
        for card in &cards {
            card.set_read_timeout(Some(Real::from_millis(500))).expect("a time");
        }
        cards[0].send_to(b"frame", folders[0].join("air")).expect("it is sent");
        let mut heard = [0; 9];
        assert_eq!(cards[1].recv(&mut heard).expect("it is heard"), 5);
        assert!(cards[2].recv(&mut heard).is_err());
        assert_eq!(air.frames(), (1, 0));
        drop(air);
        std::fs::remove_dir_all(&folder).expect("it is there");
    }
}
