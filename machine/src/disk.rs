//! Disks: what a component of the machine told of them, held against what they decide by their own rules.

use std::collections::HashSet;
use tactus_disk::DiskSetup;
use tactus_time::{Duration, Instant};
use tactus_trace::{DiskInput, DiskTrace, Served};

/// What components told of the disks on the machine's console.
pub struct Published {
    /// What each disk did: lines that begin with `disk `, each a line of `disks.csv`.
    pub disks: Vec<DiskTrace>,
    /// What components asked, by disk: lines that begin with `ask `.
    pub inputs: Vec<Vec<DiskInput>>,
}

/// Reads it; nothing if there is none. Of each disk there is the number of the component that serves it, if one does: what anybody
/// else says of the disk is not believed, and lines that others have broken are whole again.
pub fn told(console: &str, speakers: &[Option<usize>]) -> Result<Option<Published>, String> {
    let (mut lines, disks) = (Vec::new(), speakers.len());
    for (disk, speaker) in speakers.iter().enumerate() {
        let Some(speaker) = speaker else { continue };
        let own = format!("{disk},");
        let of_disk = |line: &String| {
            ["disk ", "ask "].iter().any(|word| after(line, word).is_some_and(|it| it.starts_with(&own)))
        };
        lines.extend(said_by(console, *speaker).into_iter().filter(of_disk));
    }
    let rows: Vec<&str> = lines.iter().filter_map(|line| after(line, "disk ")).collect();
    let inputs = tactus_trace::read_disk_inputs(lines.iter().filter_map(|line| after(line, "ask ")), disks)?;
    if rows.is_empty() && inputs.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let head = tactus_trace::disk_table(&[]);
    let disks = tactus_trace::read_disk_table(&(head + &rows.join("\n")), disks)?;
    Ok(Some(Published { disks, inputs }))
}

fn after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    line.strip_prefix(word)
}

/// The lines of a component that serves a disk. Where somebody else has begun one in the middle, the rest is marked anew; it begins
/// with a digit or a comma, as no line does.
fn said_by(console: &str, speaker: usize) -> Vec<String> {
    let mark = format!("|{speaker} ");
    let mut lines: Vec<String> = Vec::new();
    for piece in console.lines().filter_map(|line| line.strip_prefix(&mark)) {
        match lines.last_mut() {
            Some(line) if piece.starts_with(|it: char| it == ',' || it.is_ascii_digit()) => line.push_str(piece),
            _ => lines.push(piece.to_string()),
        }
    }
    lines
}

/// How many requests were compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compared {
    /// Each of these is the simulation's.
    pub same: u64,
    /// These at the end were not told.
    pub untold: u64,
    /// These were asked by components.
    pub asked: u64,
}

/// Decides anew what became of each request, on the host: the disk's own requests follow from the file, what components asked is an
/// input. Holds what the machine told against it: request for request the same decisions at the same instants. The machine may not
/// have told of the last ones yet; if it has, the request at the drive when the run ended is added.
pub fn compare(setups: &[DiskSetup], told: &mut Published, duration: Duration) -> Result<Compared, String> {
    let mut all = Compared { same: 0, untold: 0, asked: 0 };
    for (disk, (run, inputs)) in told.disks.iter_mut().zip(&told.inputs).enumerate() {
        let setup = setups.iter().find(|it| it.number as usize == disk);
        let station = setup.and_then(|it| it.station(true)).ok_or("the drive cannot be simulated")?;
        let again = tactus_sim::disk::replay(station, duration, inputs).map_err(|why| format!("disk {disk}: {why}"))?;
        let (cuts, power_cuts) = (&run.power_cuts, &again.power_cuts);
        if let Some(n) = (0..cuts.len()).find(|&n| cuts.get(n) != power_cuts.get(n)) {
            let (told, at) = (cuts[n], power_cuts.get(n));
            return Err(format!("disk {disk}, power cut {n}: the machine has it at {told}, the simulation {at:?}"));
        }
        let (served, simulated) = (&mut run.served, again.served);
        if let Some(n) = (0..served.len()).find(|&n| served.get(n) != simulated.get(n)) {
            return Err(format!(
                "disk {disk}, request {n}: the machine has {:?}, the simulation {:?}",
                served[n],
                simulated.get(n)
            ));
        }
        all.same += served.len() as u64;
        let (unanswered, untold): (Vec<Served>, Vec<Served>) =
            simulated[served.len()..].iter().partition(|it| it.outcome.is_none());
        all.untold += untold.len() as u64;
        if untold.is_empty() {
            served.extend(unanswered);
        }
        all.asked += inputs.len() as u64;
    }
    Ok(all)
}

/// What the machine told, with what was asked and had not ended when the run did.
pub fn whole(told: Published, end: Instant) -> Vec<DiskTrace> {
    let mut all = told.disks;
    for (run, inputs) in all.iter_mut().zip(&told.inputs) {
        let served = &mut run.served;
        let ended: HashSet<(u32, u32)> = served.iter().map(|it| (it.client, it.number)).collect();
        let waits = inputs.iter().filter(|it| !it.cancels && it.at < end && !ended.contains(&(it.client, it.number)));
        served.extend(waits.map(|it| Served {
            client: it.client,
            number: it.number,
            from: 0,
            row: 0,
            after_pause: true,
            arrived: it.at,
            dispatched: end,
            ended: end,
            expected: Duration::ZERO,
            outcome: None,
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tactus_model::System;

    #[test]
    fn only_the_component_that_serves_a_disk_tells_of_it_whoever_breaks_its_lines() {
        let own = "|3 block: 7 answers\n|3 disk 0,0,0,4294967295,1,1,0,5\n| other: between\n|3 0,90,40,0\n|3 ask 0,0,1,0,16,0,0,7\n";
        let console = |more: &str| format!("tactus: begins\n{more}{own}");
        let read =
            |more: &str| told(&console(more), &[Some(3), Some(4), None]).expect("it is read").expect("something");
        let (honest, request) = (read(""), read("").disks[0].served[0]);
        assert_eq!((request.dispatched, request.ended), (Instant::from_nanos(50), Instant::from_nanos(90)));
        assert_eq!((honest.disks[0].served.len(), honest.inputs[0].len()), (1, 1));
        // A request, a power cut and an input, by components without a disk, with another one, with a number like its own, and by none.
        for forged in [
            "disk 0,0,1,4294967295,1,1,0,50,90,40,0",
            "disk 0,,,,,,,,3,,4",
            "ask 0,0,0,0,16,0,0,1",
            "disk nonsense",
            "ask 7",
        ] {
            for mark in ["| ", "|4 ", "|30 ", "|", "", "| |3 ", "|4 disk 2,|3 "] {
                let with = read(&format!("{mark}{forged}\n"));
                assert_eq!((&with.disks, &with.inputs), (&honest.disks, &honest.inputs), "{mark}{forged}");
            }
        }
        let of_others = console("|4 ask 0,0,0,0,16,0,0,1\n").replace("|3 ", "|5 ");
        assert!(told(&of_others, &[Some(3), Some(4)]).is_ok_and(|it| it.is_none()));
        assert!(told("|3 disk 0,0\n", &[Some(3)]).is_err(), "its own word is read, and has to be right");
    }

    #[test]
    fn a_request_that_the_machine_decided_otherwise_is_found_out() {
        let text = "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitioned-edf'\n[[task]]\nname = 'a'\ncore = 0\n\
            period = '10 ms'\nexecution = '1 ms'\n[[disk]]\nname = 'd'\ndrive = 'source-10k'\n[[disk.client]]\nname = 'c'\n\
            start = '0 MiB'\nextent = '1 GiB'\nsize = '8 KiB'\nbest-effort = 2\n";
        let system = System::parse_toml(text, Path::new("disk.toml")).unwrap_or_else(|problems| panic!("{problems}"));
        let check = tactus_analysis::check(&system, &Default::default());
        let setups = tactus_plan::plan(&system, &check, &Default::default()).disk_setups;
        let station = setups[0].station(true).expect("a drive");
        let run = tactus_sim::disk::disk(station, system.duration);
        let mut told = Published { disks: vec![run], inputs: vec![Vec::new()] };
        assert!(compare(&setups, &mut told, system.duration).is_ok_and(|all| all.same > 0));
        told.disks[0].power_cuts.push(Instant::ZERO);
        let wrong = compare(&setups, &mut told, system.duration).expect_err("no power cut is in the file");
        assert_eq!(wrong, "disk 0, power cut 0: the machine has it at 0 ns, the simulation None");
        told.disks[0].power_cuts.clear();
        told.disks[0].served[3].ended += Duration::from_nanos(1);
        let wrong = compare(&setups, &mut told, system.duration).expect_err("it differs");
        assert!(wrong.starts_with("disk 0, request 3: the machine has Served"), "{wrong}");
        // No component asks of a client whose requests are the disk's own.
        let input =
            DiskInput { client: 0, number: 0, place: 0, blocks: 16, write: false, cancels: false, at: Instant::ZERO };
        let mut told = Published { disks: vec![DiskTrace::default()], inputs: vec![vec![input]] };
        assert!(compare(&setups, &mut told, system.duration).is_err_and(|why| why.contains("is refused")));
    }
}
