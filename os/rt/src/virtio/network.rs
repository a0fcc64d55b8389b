//! A virtio network card: packets come into buffers that the card was given, one after the other.

use super::configuration::{card, Configuration};
use super::memory::{self, Memory};
use virtio_drivers::device::net::VirtIONetRaw;
use virtio_drivers::transport::pci::bus::{DeviceFunction, PciRoot};
use virtio_drivers::transport::pci::PciTransport;

/// Bytes of a buffer for one packet.
const BUFFER: usize = 2048;

/// The card, and so many buffers for what it receives.
pub struct NetworkCard<const PACKETS: usize> {
    card: VirtIONetRaw<Memory, PciTransport, PACKETS>,
    /// Which buffer the card was given under which number of its own.
    given: [u16; PACKETS],
    /// The buffers that the card has.
    has: [bool; PACKETS],
    /// The buffer for what is sent is the card's for good.
    sent: bool,
}

impl<const PACKETS: usize> NetworkCard<PACKETS> {
    /// Sets the component's card up. It interrupts, but has no buffers yet. None if the component drives no such card, or with
    /// too little memory.
    pub fn open() -> Option<NetworkCard<PACKETS>> {
        let device = card()?;
        memory::begin(device, (PACKETS + 1) * BUFFER);
        let mut root = PciRoot::new(Configuration::new(device));
        let place = DeviceFunction { bus: 0, device: 0, function: 0 };
        let transport = PciTransport::new::<Memory, _>(&mut root, place).ok()?;
        let mut card = VirtIONetRaw::new(transport).ok()?;
        card.enable_interrupts();
        Some(NetworkCard { card, given: [0; PACKETS], has: [false; PACKETS], sent: false })
    }

    /// Gives the card a buffer to fill. None if there is no such buffer, or the card has it.
    pub fn give(&mut self, number: u16) -> Option<()> {
        let has = self.has.get_mut(usize::from(number)).filter(|has| !**has)?;
        let buffer = memory::buffer(usize::from(number), BUFFER)?;
        // SAFETY: the buffer is not used again before `receive_complete` of the same number: `has` says so.
        let token = unsafe { self.card.receive_begin(buffer) }.ok()?;
        *has = true;
        *self.given.get_mut(usize::from(token))? = number;
        Some(())
    }

    /// Sends a frame, once. None if it is too long, or one was sent before.
    pub fn send_once(&mut self, frame: &[u8]) -> Option<()> {
        let buffer = memory::buffer(PACKETS, BUFFER).filter(|_| !self.sent)?;
        let head = self.card.fill_buffer_header(buffer).ok()?;
        let end = head + frame.len();
        buffer.get_mut(head..end)?.copy_from_slice(frame);
        self.sent = true;
        // SAFETY: the buffer is for this one frame and is never used again.
        unsafe { self.card.transmit_begin(buffer.get(..end)?) }.ok().map(|_| ())
    }

    /// Acknowledges the card's interrupt.
    pub fn acknowledge(&mut self) {
        let _ = self.card.ack_interrupt();
    }

    /// Takes the next packet that came: what `look` makes of its bytes. The card gets the buffer again. None if none came.
    pub fn receive<R>(&mut self, look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let token = self.card.poll_receive()?;
        let number = *self.given.get(usize::from(token))?;
        let buffer = memory::buffer(usize::from(number), BUFFER)?;
        // SAFETY: the buffer that was given under this number.
        let (head, length) = unsafe { self.card.receive_complete(token, buffer) }.ok()?;
        let looked = look(buffer.get(head..head + length)?);
        *self.has.get_mut(usize::from(number))? = false;
        self.give(number)?;
        Some(looked)
    }
}
