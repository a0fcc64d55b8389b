//! A kernel that destroys itself, so that tests see that nobody beside it is harmed. Only with the feature `destruction`: the monitor of its
//! sandbox names the way and the time.

use super::apic;
use super::cpu::time_stamp;
use super::loader::Sandbox;
use super::paging::direct;
use super::port::out8;
use core::arch::asm;

/// The port that would end the run.
const EXIT_PORT: u16 = 0xf4;

/// Destroys the kernel if its time has come.
pub fn look() {
    let Some((way, at)) = Sandbox::own().and_then(Sandbox::fault) else { return };
    if time_stamp() < at {
        return;
    }
    match way {
        1 => fail_twice(),
        // Silence.
        2 => loop {
            // SAFETY: none is needed: nothing goes on.
            unsafe { asm!("cli") }
        },
        3 => loop {
            // SAFETY: as above.
            unsafe { asm!("cli", "hlt") }
        },
        // All memory, its own tables and text with it.
        4 => (0..1_u64 << 32).step_by(4096).chain((0..1 << 32).step_by(8)).for_each(|address| {
            // SAFETY: none: the processor must hold it back.
            unsafe { direct::<u64>(address).write_volatile(address) }
        }),
        // Somewhere.
        5 => {
            // SAFETY: none, again.
            let nowhere: extern "C" fn() = unsafe { core::mem::transmute(0x7fff_dead_b000_usize) };
            nowhere();
        }
        // All ports but one.
        6 => {
            (0..=u16::MAX).filter(|port| *port != EXIT_PORT).for_each(|port| out8(port, 0xa5));
            fail_twice();
        }
        // Interrupts of its own core that nothing masks.
        7 => {
            (0..200).for_each(|_| apic::interrupt_itself_unmasked());
            fail_twice();
        }
        _ => super::serial::flush(),
    }
    panic!("destroyed by way {way}");
}

/// No handler for any exception: the first one cannot be handled, nor that.
fn fail_twice() -> ! {
    let nothing = [0_u8; 10];
    loop {
        // SAFETY: none: this is the end.
        unsafe { asm!("lidt [{}]", "int3", in(reg) &nothing) }
    }
}
