//! x86-64: an emulated PC.

use super::Emulated;

pub mod emulator;
pub mod instructions;

/// The emulated PC.
pub const EMULATED: Emulated = Emulated {
    target: "x86_64-unknown-none",
    floating_point_target: "x86_64-unknown-linux-gnu",
    program: emulator::PROGRAM,
    package: emulator::PACKAGE,
    most_memory: emulator::MOST_MEMORY,
    memory: 0,
    board: emulator::Board::name,
    processor: emulator::processor,
    exit: emulator::exit_device,
    image: |name, _, _, _| vec!["-initrd".into(), name.into()],
    status_of_exit: emulator::status_of_exit,
    refuses: |_| None,
};
