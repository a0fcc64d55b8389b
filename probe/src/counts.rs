//! Each core's own instructions, looked at wherever the core reads its clock in one program of the guest.
//!
//! The cores of the emulated machine take turns, so that the guest's clock counts the instructions of all of them. Here each core has
//! a count of its own. `counts=FILE,text=ADDRESS:PROGRAM` names the file of results, and the bytes that are executed in the program
//! with the address at which they are linked. A reading of the clock belongs to the program if the bytes around it are the program's.
//!
//! A result has four numbers of 64 bits: the core, the address of the reading, the core's own instructions until then, and those of
//! all cores.

use crate::interface::{
    self, qemu_plugin_insn_haddr, qemu_plugin_insn_size, qemu_plugin_insn_vaddr, qemu_plugin_register_atexit_cb,
    qemu_plugin_register_vcpu_insn_exec_cb, qemu_plugin_register_vcpu_insn_exec_inline,
    qemu_plugin_register_vcpu_tb_exec_cb, qemu_plugin_register_vcpu_tb_trans_cb, qemu_plugin_tb_get_insn,
    qemu_plugin_tb_n_insns, TranslatedBlock,
};
use crate::say;
use core::ffi::{c_uint, c_void};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The instruction that reads the clock.
const READ_CLOCK: [u8; 2] = [0x0f, 0x31];
/// How many bytes on each side of a reading are compared with the program's.
const AROUND: u64 = 16;
pub(crate) const PAGE: u64 = 4096;

/// All instructions executed, whoever did. The emulator's generated code adds to it.
static ALL: AtomicU64 = AtomicU64::new(0);

struct Counts {
    out: BufWriter<File>,
    /// Where the program's text is linked, and the text.
    base: u64,
    text: Vec<u8>,
    /// Each core's own count, up to its last turn.
    own: Vec<u64>,
    /// Whose turn it is, and the count of all when it began.
    running: usize,
    since: u64,
    failed: Option<String>,
}

static COUNTS: Mutex<Option<Counts>> = Mutex::new(None);

fn counts() -> MutexGuard<'static, Option<Counts>> {
    COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to count.
///
/// # Errors
/// If an option is wrong or a file cannot be opened, in words.
pub fn begin(id: u64, options: &[String]) -> Result<(), String> {
    let value = |key: &str| options.iter().find_map(|option| option.strip_prefix(key)?.strip_prefix('='));
    let (Some(out), Some(text)) = (value("counts"), value("text")) else {
        return Err("give counts=FILE and text=ADDRESS:FILE".into());
    };
    let Some((base, path)) = text.split_once(':') else { return Err(format!("text={text}: give ADDRESS:FILE")) };
    let base = u64::from_str_radix(base.trim_start_matches("0x"), 16).map_err(|error| format!("{base}: {error}"))?;
    let text = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let file = File::create(out).map_err(|error| format!("{out}: {error}"))?;
    let out = BufWriter::new(file);
    *counts() = Some(Counts { out, base, text, own: vec![0; 256], running: 0, since: 0, failed: None });
    // SAFETY: the call-backs have the interface's signatures and live as long as the plug-in.
    unsafe {
        qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
        qemu_plugin_register_atexit_cb(id, ended, core::ptr::null_mut());
    }
    Ok(())
}

impl Counts {
    /// Gives what was executed since the last look to the core whose turn it was.
    fn turn(&mut self, core: usize) {
        let all = ALL.load(Ordering::Relaxed);
        self.own[self.running] += all - self.since;
        (self.since, self.running) = (all, core);
    }

    /// Whether these bytes of the guest, which begin at this address, are the program's.
    fn is_ours(&self, address: u64, bytes: &[u8]) -> bool {
        let at = address.checked_sub(self.base).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.text.get(at..)?.get(..bytes.len())).is_some_and(|text| text == bytes)
    }

    fn read(&mut self, core: usize, site: u64) {
        self.turn(core);
        for number in [core as u64, site, self.own[core], self.since] {
            if let Err(error) = self.out.write_all(&number.to_le_bytes()) {
                self.failed.get_or_insert(error.to_string());
            }
        }
    }
}

extern "C" fn translated(_: u64, block: *mut TranslatedBlock) {
    let guard = counts();
    let Some(counts) = guard.as_ref() else { return };
    // SAFETY: QEMU passes a block that is valid during this call, and asks for instructions below their number. The host's address of
    // an instruction is that of memory of the guest, of which at least the page is mapped. The counter lives as long as the plug-in.
    unsafe {
        for at in 0..qemu_plugin_tb_n_insns(block) {
            let instruction = qemu_plugin_tb_get_insn(block, at);
            let count = ALL.as_ptr().cast::<c_void>();
            qemu_plugin_register_vcpu_insn_exec_inline(instruction, interface::ADD, count, 1);
            let (address, host) = (qemu_plugin_insn_vaddr(instruction), qemu_plugin_insn_haddr(instruction) as u64);
            if host == 0 || qemu_plugin_insn_size(instruction) != READ_CLOCK.len() {
                continue;
            }
            let before = AROUND.min(address % PAGE);
            let after = AROUND.min(PAGE - address % PAGE);
            let bytes = core::slice::from_raw_parts((host - before) as *const u8, (before + after) as usize);
            if bytes[before as usize..].starts_with(&READ_CLOCK) && counts.is_ours(address - before, bytes) {
                let site = address as usize as *mut c_void;
                qemu_plugin_register_vcpu_insn_exec_cb(instruction, read, interface::NO_REGISTERS, site);
            }
        }
        qemu_plugin_register_vcpu_tb_exec_cb(block, executed, interface::NO_REGISTERS, core::ptr::null_mut());
    }
}

extern "C" fn executed(core: c_uint, _: *mut c_void) {
    if let Some(counts) = counts().as_mut() {
        if counts.running != core as usize % 256 {
            counts.turn(core as usize % 256);
        }
    }
}

extern "C" fn read(core: c_uint, site: *mut c_void) {
    if let Some(counts) = counts().as_mut() {
        counts.read(core as usize % 256, site as u64);
    }
}

extern "C" fn ended(_: u64, _: *mut c_void) {
    let mut guard = counts();
    let Some(counts) = guard.as_mut() else { return };
    let flushed = counts.out.flush().err().map(|error| error.to_string());
    if let Some(error) = counts.failed.take().or(flushed) {
        say(&format!("tactus-probe: the counts could not be written: {error}\n"));
    }
}
