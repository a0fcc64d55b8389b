//! What lies between machines that hear each other: each has a network card whose other end is here, and each frame comes to those that
//! hear its sender, but for those that are lost.
//!
//! Machines are processes of the host, whose times have nothing to do with each other: [`Pace`] holds those that are ahead.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration as Real, Instant};
use tactus_time::Duration;

/// Time between two looks whether the run has ended.
const LOOK: Real = Real::from_millis(50);
/// The longest frame.
const LONGEST: usize = 2_048;
/// How far one machine may be ahead of another.
const AHEAD: Duration = Duration::from_millis(20);

/// Who hears a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hearer {
    /// Its number.
    pub machine: usize,
    /// Frames of a million that are lost on the way.
    pub loss: u32,
}

/// The words of the emulator's command line for a card whose other end is the air. Sockets lie in the folder of results. What the card is given to
/// send is sent at a time of the machine's clock, not when the host next looks.
pub fn card() -> Vec<String> {
    let backend = "dgram,id=air,local.type=unix,local.path=card,remote.type=unix,remote.path=air";
    let device = "virtio-net-pci,netdev=air,addr=4,disable-legacy=on,romfile=,ioeventfd=off,tx=timer";
    ["-netdev", backend, "-device", device].map(str::to_string).to_vec()
}

/// A frame that was carried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The machine that sent it, by whose card it came, whatever it says,
    pub from: usize,
    /// and how far that was when it was last looked at.
    pub time: Duration,
    /// The frame.
    pub bytes: Vec<u8>,
    /// To which machines it was handed, and how far they were.
    pub heard: Vec<(usize, Duration)>,
}

/// Frames that came to the air, and that were lost there.
#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    lost: AtomicU64,
    /// Those that are kept, in the order in which they were carried.
    kept: Mutex<Vec<Carried>>,
}

/// Which frames are kept.
pub type Keep = fn(&[u8]) -> bool;

/// Carries frames until it is dropped.
#[derive(Debug)]
pub struct Air {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    counts: Arc<Counts>,
}

impl Air {
    /// Between the machines with these folders of results; who hears each. What is lost is drawn from the seed and the order of frames. Of the
    /// frames for which `keep` is true, a record is kept.
    ///
    /// # Errors
    /// If the host has no such sockets.
    pub fn start(
        folders: &[PathBuf],
        hearers: &[Vec<Hearer>],
        seed: u64,
        pace: &Arc<Pace>,
        keep: Keep,
    ) -> io::Result<Air> {
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
            let (stop, counts, pace) = (air.stop.clone(), air.counts.clone(), pace.clone());
            let to = hearers.iter().map(|it| (folders[it.machine].join("card"), *it)).collect();
            let carry = move || carry((n, &socket), to, seed ^ n as u64, (&stop, &counts), (&pace, keep));
            air.threads.push(thread::spawn(carry));
        }
        Ok(air)
    }

    /// Frames that were sent, and how often one was lost on its way to one hearer.
    pub fn frames(&self) -> (u64, u64) {
        (self.counts.sent.load(Ordering::Relaxed), self.counts.lost.load(Ordering::Relaxed))
    }

    /// The frames that were kept so far, in their order.
    pub fn kept(&self) -> Vec<Carried> {
        self.counts.kept.lock().map(|kept| kept.clone()).unwrap_or_default()
    }
}

fn carry(
    (from, socket): (usize, &UnixDatagram),
    to: Vec<(PathBuf, Hearer)>,
    seed: u64,
    (stop, counts): (&AtomicBool, &Counts),
    (pace, keep): (&Pace, Keep),
) {
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
        let bytes = &frame[..length];
        // Whoever passes a frame on does so after it came: what is kept is carried one frame after another.
        let mut kept = if keep(bytes) { counts.kept.lock().ok() } else { None };
        let mut heard = Vec::new();
        for (card, Hearer { machine, loss }) in &to {
            if draw() % 1_000_000 < u64::from(*loss) {
                counts.lost.fetch_add(1, Ordering::Relaxed);
            } else if send(socket, bytes, card) {
                heard.push((*machine, pace.of(*machine)));
            }
        }
        if let Some(kept) = &mut kept {
            kept.push(Carried { from, time: pace.of(from), bytes: bytes.to_vec(), heard });
        }
    }
}

/// Whether there is somebody: a machine that is not there yet, or has ended, hears nothing.
fn send(socket: &UnixDatagram, frame: &[u8], card: &Path) -> bool {
    socket.send_to(frame, card).is_ok()
}

impl Drop for Air {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// How far each of several machines has come. None comes further than the last one and a little, and together they are no faster than the host's time:
/// the host needs some of it to carry a frame, and of an emulator that runs ahead that would be much.
#[derive(Debug)]
pub struct Pace {
    machines: Vec<AtomicU64>,
    /// How far they may be, and since when.
    allowed: Mutex<(Duration, Instant)>,
}

impl Pace {
    /// Of this number of machines, none of which has begun.
    pub fn new(machines: usize) -> Pace {
        let machines = (0..machines).map(|_| AtomicU64::new(0)).collect();
        Pace { machines, allowed: Mutex::new((AHEAD, Instant::now())) }
    }
    /// A machine has come so far.
    pub fn reached(&self, machine: usize, now: Duration) {
        self.machines[machine].store(now.as_nanos(), Ordering::Relaxed);
    }
    /// How far a machine was when it was last looked at.
    pub fn of(&self, machine: usize) -> Duration {
        Duration::from_nanos(self.machines[machine].load(Ordering::Relaxed))
    }
    /// A machine has ended: nobody waits for it any more.
    pub fn ended(&self, machine: usize) {
        self.machines[machine].store(u64::MAX, Ordering::Relaxed);
    }
    /// Whether a machine is so far that it is to stand still.
    pub fn holds(&self, machine: usize) -> bool {
        self.holds_at(machine, Instant::now())
    }

    fn holds_at(&self, machine: usize, now: Instant) -> bool {
        let own = self.of(machine).as_nanos();
        let last = self.machines.iter().map(|it| it.load(Ordering::Relaxed)).min().unwrap_or(own);
        // Who panics there has nothing to say about how far all may be.
        let mut allowed = self.allowed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let passed = now.saturating_duration_since(allowed.1).as_nanos() as u64;
        let most = allowed.0.as_nanos().saturating_add(passed).min(last.saturating_add(AHEAD.as_nanos()));
        *allowed = (Duration::from_nanos(most), now.max(allowed.1));
        own != u64::MAX && own > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_ahead_waits_for_all_that_have_not_ended_and_all_for_the_hosts_time() {
        let (pace, millis) = (Pace::new(3), Duration::from_millis);
        let begin = Instant::now() + Real::from_secs(60);
        let later = |millis| begin + Real::from_millis(millis);
        let _ = pace.holds_at(0, begin);
        pace.reached(0, millis(21));
        assert!(pace.holds_at(0, begin) && !pace.holds_at(1, begin));
        pace.reached(1, millis(10));
        assert!(pace.holds_at(0, begin), "the third has not begun");
        pace.reached(2, millis(1));
        assert!(!pace.holds_at(0, later(1)), "20 ms more than the last one's");
        // All are there, and may be a millisecond further with each that passes; the time that passed while one was far behind is lost.
        (0..3).for_each(|n| pace.reached(n, millis(30)));
        assert!(pace.holds_at(0, later(5)) && !pace.holds_at(0, later(10)));
        pace.reached(0, millis(51));
        assert!(pace.holds_at(0, later(900)), "the others are at 30 ms");
        (1..3).for_each(|n| pace.reached(n, millis(51)));
        assert!(pace.holds_at(0, later(900)) && !pace.holds_at(0, later(901)));
        pace.reached(0, millis(900));
        pace.ended(1);
        pace.ended(2);
        assert!(pace.holds_at(0, later(1_700)) && !pace.holds_at(0, later(1_800)));
    }

    #[test]
    fn a_frame_comes_to_those_that_hear_its_sender_and_to_nobody_else() {
        let folder = std::env::temp_dir().join(format!("tactus-air-{}", std::process::id()));
        let folders: Vec<PathBuf> = (0..3).map(|n| folder.join(n.to_string())).collect();
        folders.iter().for_each(|folder| std::fs::create_dir_all(folder).expect("a folder"));
        let hears = |machine| vec![Hearer { machine, loss: 0 }];
        let pace = Arc::new(Pace::new(3));
        pace.reached(1, Duration::from_millis(5));
        let keep = |frame: &[u8]| frame == b"frame";
        let air = Air::start(&folders, &[hears(1), hears(0), hears(1)], 7, &pace, keep).expect("sockets");
        let cards: Vec<UnixDatagram> =
            folders.iter().map(|folder| UnixDatagram::bind(folder.join("card")).expect("a socket")).collect();
        for card in &cards {
            card.set_read_timeout(Some(Real::from_millis(500))).expect("a time");
        }
        cards[0].send_to(b"frame", folders[0].join("air")).expect("it is sent");
        let mut heard = [0; 9];
        assert_eq!(cards[1].recv(&mut heard).expect("it is heard"), 5);
        assert!(cards[2].recv(&mut heard).is_err());
        cards[1].send_to(b"other", folders[1].join("air")).expect("it is sent");
        assert_eq!(cards[0].recv(&mut heard).expect("it is heard"), 5);
        assert_eq!(air.frames(), (2, 0));
        let (time, heard) = (Duration::ZERO, vec![(1, Duration::from_millis(5))]);
        assert_eq!(air.kept(), [Carried { from: 0, time, bytes: b"frame".to_vec(), heard }]);
        drop(air);
        std::fs::remove_dir_all(&folder).expect("it is there");
    }
}
