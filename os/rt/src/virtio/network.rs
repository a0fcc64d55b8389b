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
    /// What the card was given to send, under its own number, with the length; it has the buffer until it says that it has sent it.
    sending: Option<(u16, usize)>,
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
        Some(NetworkCard { card, given: [0; PACKETS], has: [false; PACKETS], sending: None })
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

    /// Whether a frame can be sent now: the card has no other one.
    pub fn is_free(&mut self) -> bool {
        let Some((token, length)) = self.sending else { return true };
        if self.card.poll_transmit() != Some(token) {
            return false;
        }
        let Some(buffer) = memory::buffer(PACKETS, BUFFER).and_then(|buffer| buffer.get(..length)) else {
            return false;
        };
        // SAFETY: the buffer that was given under this number, with the same length.
        let done = unsafe { self.card.transmit_complete(token, buffer) }.is_ok();
        self.sending = if done { None } else { self.sending };
        done
    }

    /// Sends a frame. None if it is too long, or the card still has one.
    pub fn send(&mut self, frame: &[u8]) -> Option<()> {
        if !self.is_free() {
            return None;
        }
        let buffer = memory::buffer(PACKETS, BUFFER)?;
        let head = self.card.fill_buffer_header(buffer).ok()?;
        let end = head + frame.len();
        buffer.get_mut(head..end)?.copy_from_slice(frame);
        // SAFETY: the buffer is not used again before `transmit_complete` of the number: `sending` says so.
        let token = unsafe { self.card.transmit_begin(buffer.get(..end)?) }.ok()?;
        self.sending = Some((token, end));
        Some(())
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
