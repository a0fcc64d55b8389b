//! The medium that `tactus iso` makes boots a PC by BIOS and by UEFI, and the PC prints the verdict that `tactus run` gets
//! from the same system.
//!
//! The PC is emulated with the same counted instructions, but starts as a real one does: firmware, GRUB, and memory
//! wherever these left some. It has no port that ends the emulator: the kernel stops after its verdict, and the test ends
//! the machine. Where GRUB's tools or a firmware are missing, the reason is printed and nothing is tested.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tactus_scenarios::{file, stretches, tactus, Finished, Scratch};

/// Longest wait for a verdict.
const PATIENCE: Duration = Duration::from_secs(240);

/// How the machine starts, and from what.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// BIOS, from a disc.
    BiosDisc,
    /// BIOS, from a USB stick.
    BiosStick,
    /// UEFI, from a disc.
    UefiDisc,
}

/// UEFI firmware as Debian's package `ovmf` brings it: code, and variables of which the machine wants its own copy.
const FIRMWARE: [&str; 2] = ["/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd"];

/// Ends the emulator whatever happens to the test.
struct Machine(Child);

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Boots the medium; what came out of the serial port up to the verdict.
fn boot(scratch: &Scratch, iso: &Path, way: Way, cores: usize, shift: u8) -> String {
    let serial = scratch.path().join(format!("{way:?}.log"));
    let mut command = Command::new("qemu-system-x86_64");
    command
        .args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-machine", "pc", "-m", "512M"])
        .args(["-cpu", "qemu64,+smep,+smap,+fsgsbase,+rdtscp,+umip", "-smp", &cores.to_string()])
        .args(["-accel", "tcg", "-icount", &format!("shift={shift},sleep=off")])
        .args(["-seed", "1", "-rtc", "base=2024-01-01T00:00:00,clock=vm"])
        .arg("-serial")
        .arg(format!("file:{}", serial.display()));
    match way {
        Way::BiosDisc | Way::UefiDisc => command.arg("-cdrom").arg(iso),
        Way::BiosStick => command
            .arg("-drive")
            .arg(format!("if=none,id=stick,format=raw,readonly=on,file={}", iso.display()))
            .args(["-device", "qemu-xhci", "-device", "usb-storage,drive=stick,bootindex=0"]),
    };
    if let Way::UefiDisc = way {
        let variables = scratch.path().join("variables.fd");
        fs::copy(FIRMWARE[1], &variables).expect("the firmware's variables");
        command.arg("-drive").arg(format!("if=pflash,format=raw,unit=0,readonly=on,file={}", FIRMWARE[0]));
        command.arg("-drive").arg(format!("if=pflash,format=raw,unit=1,file={}", variables.display()));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let begin = Instant::now();
    let mut machine = Machine(command.spawn().expect("the emulator starts"));
    loop {
        let said = String::from_utf8_lossy(&fs::read(&serial).unwrap_or_default()).into_owned();
        if said.contains("\nverdict: ") && said.ends_with('\n') {
            // A PC stops here, and does not start again by itself.
            sleep(Duration::from_millis(500));
            assert!(machine.0.try_wait().expect("its state").is_none(), "the machine ended by itself");
            let later = String::from_utf8_lossy(&fs::read(&serial).expect("the log")).into_owned();
            assert_eq!(said, later, "the kernel goes on after its verdict");
            println!("{way:?}: the verdict came after {:.1} s", begin.elapsed().as_secs_f64());
            return said;
        }
        assert!(!said.contains("cannot start") && !said.contains("panic"), "{way:?}:\n{said}");
        if let Some(status) = machine.0.try_wait().expect("its state") {
            panic!("{way:?}: the machine ended by itself ({status}):\n{said}");
        }
        assert!(begin.elapsed() < PATIENCE, "{way:?}: no verdict after {PATIENCE:?}:\n{said}");
        sleep(Duration::from_millis(200));
    }
}

/// One line of the verdict's table.
#[derive(Debug)]
struct Level {
    name: String,
    jobs: u64,
    missed: u64,
    /// Worst response in µs.
    worst: u64,
}

/// The table and the last line of the verdict on a console.
fn verdict(said: &str) -> (Vec<Level>, String) {
    let lines = said.lines().skip_while(|line| !line.starts_with("level ")).skip(1);
    let table = lines.map_while(|line| {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|name| ["A", "B", "C", "D", "all"].contains(name))?;
        let mut number = || words.next()?.parse().ok();
        Some(Level { name: name.to_string(), jobs: number()?, missed: number()?, worst: number()? })
    });
    let last = said.lines().rfind(|line| line.starts_with("verdict: ")).expect("a verdict");
    (table.collect(), last.to_string())
}

/// The longest that the system's own work can put an event off, in µs, as the run measured it: an entry of the scheduler
/// on the job's core while one more is under way.
fn overhead(run: &Finished) -> u64 {
    let text = run.text("costs.toml");
    let nanos = text.lines().filter_map(|line| line.split_once("= \"")?.1.strip_suffix(" ns\"")?.parse::<u64>().ok());
    2 * nanos.sum::<u64>() / 1000
}

/// The medium of this system; nothing, with the reason printed, where it cannot be made.
fn medium(scratch: &Scratch, system: &Path, duration: &str) -> Option<PathBuf> {
    let iso = scratch.path().join("system.iso");
    let words = ["iso".as_ref(), system.as_os_str(), "--duration".as_ref(), duration.as_ref(), "--out".as_ref()];
    let said = tactus(words.into_iter().chain([iso.as_os_str()]));
    if said.status == 3 && said.errors.contains("a bootable medium cannot be made without") {
        println!("left out: {}", said.errors.trim());
        return None;
    }
    assert_eq!(said.status, 0, "{}\n{}", said.output, said.errors);
    let left = fs::read_dir(scratch.path()).expect("the folder").count();
    assert_eq!(left, 1, "nothing but the medium is left");
    Some(iso)
}

/// Boots the system from a medium in these ways, and holds each verdict against that of a run.
fn same_verdict(system: &str, duration: &str, cores: usize, ways: &[Way]) {
    let scratch = Scratch::new("iso");
    let system = file(system);
    let Some(iso) = medium(&scratch, &system, duration) else { return };
    let run = Finished::run(&system, &["--duration", duration]);
    let (wanted, wanted_words) = verdict(&run.log);
    assert!(!wanted.is_empty() && wanted.iter().any(|level| level.jobs > 0), "{}", run.log);
    let allowed = overhead(&run);
    for way in ways {
        if let (Way::UefiDisc, Some(missing)) = (way, FIRMWARE.iter().find(|path| !Path::new(path).exists())) {
            println!("left out: {missing} is not there; run: apt-get install ovmf");
            continue;
        }
        // An instruction takes as long as in the run: 2 ns, where the file says nothing.
        let said = boot(&scratch, &iso, *way, cores, 1);
        stretches::note_log(&said);
        let (got, words) = verdict(&said);
        assert_eq!(words, wanted_words, "{way:?}\n{said}");
        assert_eq!(got.len(), wanted.len(), "{way:?}\n{said}");
        for (got, wanted) in got.iter().zip(&wanted) {
            let key = |level: &Level| (level.name.clone(), level.jobs, level.missed);
            assert_eq!(key(got), key(wanted), "{way:?}\n{said}\n{}", run.log);
            let apart = got.worst.abs_diff(wanted.worst);
            assert!(apart <= allowed, "{way:?}: {apart} µs apart, allowed are {allowed}\n{said}\n{}", run.log);
            println!(
                "{way:?}, level {}: {} jobs, {} missed, worst response {} µs; {apart} µs from the run's",
                got.name, got.jobs, got.missed, got.worst
            );
        }
    }
}

#[test]
fn four_cores_boot_by_bios_and_by_uefi_and_print_the_verdict_of_a_run() {
    same_verdict("examples/avionics.toml", "500 ms", 4, &[Way::BiosDisc, Way::UefiDisc]);
}

#[test]
fn one_core_boots_from_a_disc_and_from_a_stick_and_prints_the_verdict_of_a_run() {
    same_verdict("examples/mc2-example.toml", "200 ms", 1, &[Way::BiosDisc, Way::BiosStick]);
}

#[test]
fn a_system_that_asks_for_too_much_prints_its_broken_promise_like_a_run() {
    same_verdict("examples/overload.toml", "200 ms", 2, &[Way::BiosDisc]);
}
