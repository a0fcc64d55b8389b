//! The buffer of a client: opened when it can be, which takes a call of the memory manager, and again after that failed.

use tactus_block::Port;
use tactus_rt::abi::shared::name_text;
use tactus_rt::cards;
use tactus_rt::channel::{ChannelError, Message, Receiver, Sender, SharedData};
use tactus_rt::disk::PAGES;

/// See above.
pub struct Buffer {
    number: u32,
    open: bool,
    requests: Receiver,
    answers: Sender,
    data: SharedData,
}

impl Buffer {
    /// That with this number in the system file.
    pub fn new(number: u32) -> Buffer {
        let (requests, answers, data) = (Receiver::new(), Sender::new(), SharedData::new());
        Buffer { number, open: false, requests, answers, data }
    }

    fn open(&mut self) -> Result<(), ChannelError> {
        if !self.open {
            let card = cards::buffers().iter().find(|card| card.number == self.number);
            let name = name_text(&card.ok_or(ChannelError::Unknown)?.name);
            self.requests.open_page(name, PAGES[0])?;
            self.answers.open_page(name, PAGES[1])?;
            self.data.open(name, PAGES[2])?;
            self.open = true;
        }
        Ok(())
    }
}

impl Port for Buffer {
    fn receive(&mut self) -> Result<Option<Message>, ChannelError> {
        self.requests.receive()
    }
    fn room(&mut self) -> Result<u64, ChannelError> {
        self.open()?;
        self.answers.room()
    }
    fn answer(&mut self, message: &Message) {
        // A client that has spoilt its buffer meanwhile is told nothing.
        let _ = self.answers.send(message);
    }
    fn holds(&self, at: u64, bytes: u64) -> bool {
        self.data.holds(at, bytes)
    }
    fn load(&mut self, at: u64, bytes: &mut [u8]) {
        self.data.load(at, bytes);
    }
    fn store(&mut self, at: u64, bytes: &[u8]) {
        self.data.store(at, bytes);
    }
}
