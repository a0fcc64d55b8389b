//! Looks at the machine's event timer through the page that it was given, and at memory for a device.
#![no_std]
#![no_main]

use tactus_rt::{cards, Job};

tactus_rt::component! { job: look, services: [] }

/// Vendor in the event timer's register of capabilities.
const VENDOR: u64 = 0x8086;

fn look(_: &Job) {
    let [timer] = cards::devices() else { panic!("another number of devices") };
    // SAFETY: the registers of the event timer, mapped; reading them has no effect.
    let capabilities = unsafe { (timer.address as *const u64).read_volatile() };
    assert_eq!(capabilities >> 16 & 0xffff, VENDOR);
    // SAFETY: memory that the kernel has made for the device, mapped to be written.
    unsafe {
        let physical = (timer.dma as *const u64).read_volatile();
        assert!(physical % 4096 == 0 && physical > 0x10_0000 && physical < 1 << 32);
        let last = (timer.dma + timer.dma_bytes - 8) as *mut u64;
        last.write_volatile(last.read_volatile() + 1);
    }
    assert!(timer.dma_bytes == 0x2000 && timer.configuration == 0);
}
