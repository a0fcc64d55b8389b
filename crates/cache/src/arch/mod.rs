//! What is a processor's: a folder for each beside this file. `tables` walks page tables from outside the machine.

mod x86_64;

pub use x86_64::tables;
