//! The host's side of the network card: real packets, through a socket into the emulator.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tactus_packets::{frame, STREAMS};

/// Time between two looks whether the run has ended.
const LOOK: Duration = Duration::from_millis(50);

/// The emulator's words for a card at whose other end the socket is. The slot decides which line it interrupts on: 20.
pub fn card(socket: &Path) -> Vec<String> {
    let (path, back) = (socket.display(), back(socket));
    let back = back.display();
    let backend = format!("dgram,id=wire,local.type=unix,local.path={path},remote.type=unix,remote.path={back}");
    ["-netdev", &backend, "-device", "virtio-net-pci,netdev=wire,addr=4,disable-legacy=on,romfile="]
        .map(str::to_string)
        .to_vec()
}

/// Where the emulator sends what the card sends.
fn back(socket: &Path) -> PathBuf {
    socket.with_extension("back")
}

/// Sends packets until all are sent, or until it is dropped.
pub struct Generator {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Generator {
    /// Sends so many packets of each stream as soon as the card's driver has told that it is ready: what a card is sent
    /// before its driver resets it, it forgets.
    ///
    /// # Errors
    /// If there can be no socket for the driver's word.
    pub fn start(socket: PathBuf, packets: u64) -> io::Result<Generator> {
        let back = back(&socket);
        for old in [&socket, &back] {
            // One of an earlier run that did not end well.
            let _ = std::fs::remove_file(old);
        }
        let own = UnixDatagram::bind(&back)?;
        own.set_read_timeout(Some(LOOK))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let mut word = [0; frame::BYTES];
            while !matches!(own.recv(&mut word), Ok(frame::BYTES)) || word != frame::ready() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
            }
            if own.connect(&socket).is_err() {
                return;
            }
            // Sending waits while the emulator's queue is full, and fails once it has gone.
            for number in 0..packets {
                for stream in 0..STREAMS {
                    if stopped.load(Ordering::Relaxed) || own.send(&frame::frame(stream, number as u8)).is_err() {
                        return;
                    }
                }
            }
        });
        Ok(Generator { stop, thread: Some(thread) })
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
