//! The host's side of the network card: real packets, through a socket into the emulator.

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tactus_packets::{frame, STREAMS};

/// Time between two looks for the socket.
const LOOK: Duration = Duration::from_millis(1);

/// The emulator's words for a card at whose other end the socket is. The slot decides which line it interrupts on: 20.
pub fn card(socket: &Path) -> Vec<String> {
    let path = socket.display();
    let backend = format!("dgram,id=wire,local.type=unix,local.path={path},remote.type=unix,remote.path={path}.back");
    ["-netdev", &backend, "-device", "virtio-net-pci,netdev=wire,addr=4,disable-legacy=on,romfile="]
        .map(str::to_string)
        .to_vec()
}

/// Sends packets until all are sent, or until it is dropped.
pub struct Generator {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Generator {
    /// Sends so many packets of each stream as soon as the emulator has made its socket.
    pub fn start(socket: PathBuf, packets: u64) -> Generator {
        // One of an earlier run that did not end well.
        let _ = std::fs::remove_file(&socket);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let Ok(sender) = UnixDatagram::unbound() else { return };
            while sender.connect(&socket).is_err() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                thread::sleep(LOOK);
            }
            // Sending waits while the emulator's queue is full, and fails once it has gone.
            for number in 0..packets {
                for stream in 0..STREAMS {
                    if stopped.load(Ordering::Relaxed) || sender.send(&frame::frame(stream, number as u8)).is_err() {
                        return;
                    }
                }
            }
        });
        Generator { stop, thread: Some(thread) }
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
