//! What disks did as text: the file `disks.csv` of a run, one line for each request that ended, and one for each power cut, which
//! has no client.

use crate::view::{DiskInput, DiskTrace, Served};
use std::fmt::Write;
use tactus_disk::Outcome;
use tactus_time::{Duration, Instant};

/// The first line.
const HEAD: &str = "disk,client,number,from_row,row,after_pause,arrived_ns,dispatched_ns,ended_ns,expected_ns,outcome";

/// In place of an outcome: it waited still.
const WAITS: u64 = Outcome::ALL.len() as u64;

/// The text of the file. Disks and clients are counted from 0 in the order of the system file.
pub fn disk_table(disks: &[DiskTrace]) -> String {
    let mut text = format!("{HEAD}\n");
    for (disk, run) in disks.iter().enumerate() {
        // Writing to a string cannot fail.
        for at in &run.power_cuts {
            let _ = writeln!(text, "{disk},,,,,,,,{},,{}", at.as_nanos(), Outcome::PowerLost.number());
        }
    }
    for (disk, it) in disks.iter().enumerate().flat_map(|(disk, run)| run.served.iter().map(move |it| (disk, it))) {
        let (arrived, dispatched, ended) = (it.arrived.as_nanos(), it.dispatched.as_nanos(), it.ended.as_nanos());
        let (pause, expected) = (u8::from(it.after_pause), it.expected.as_nanos());
        let Served { client, number, from, row, .. } = *it;
        let _ =
            write!(text, "{disk},{client},{number},{from},{row},{pause},{arrived},{dispatched},{ended},{expected},");
        let _ = writeln!(text, "{}", it.outcome.map_or(WAITS, Outcome::number));
    }
    text
}

/// Reads the text of the file of this number of disks.
///
/// # Errors
/// The line that is wrong, and what should be there.
pub fn read_disk_table(text: &str, disks: usize) -> Result<Vec<DiskTrace>, String> {
    let mut out = vec![DiskTrace::default(); disks];
    let mut lines = text.lines().zip(1..);
    if lines.next().map(|(line, _)| line) != Some(HEAD) {
        return Err(format!("line 1: the heading should be {HEAD}; run the system again"));
    }
    for (line, number) in lines {
        let wrong = || format!("line {number} is no request of one of {disks} disks; run the system again");
        if let Some((disk, at)) = power_cut(line) {
            out.get_mut(disk).ok_or_else(wrong)?.power_cuts.push(at);
            continue;
        }
        let words: Option<Vec<u64>> = line.split(',').map(|word| word.parse().ok()).collect();
        let (disk, served) = words.as_deref().and_then(served).ok_or_else(wrong)?;
        out.get_mut(disk).ok_or_else(wrong)?.served.push(served);
    }
    if out.iter().any(|run| !run.power_cuts.is_sorted()) {
        return Err("its power cuts are not in the order of time; run the system again".into());
    }
    Ok(out)
}

/// A line without a client.
fn power_cut(line: &str) -> Option<(usize, Instant)> {
    let words: Vec<&str> = line.split(',').collect();
    let [disk, "", "", "", "", "", "", "", at, "", outcome] = words[..] else { return None };
    let cut = outcome.parse().ok().and_then(Outcome::from_number) == Some(Outcome::PowerLost);
    Some((disk.parse().ok().filter(|_| cut)?, Instant::from_nanos(at.parse().ok()?)))
}

fn served(words: &[u64]) -> Option<(usize, Served)> {
    let &[disk, client, number, from, row, pause, arrived, dispatched, ended, expected, outcome] = words else {
        return None;
    };
    let served = Served {
        client: u32::try_from(client).ok()?,
        number: u32::try_from(number).ok()?,
        from: u32::try_from(from).ok()?,
        row: u32::try_from(row).ok()?,
        after_pause: pause == 1,
        arrived: Instant::from_nanos(arrived),
        dispatched: Instant::from_nanos(dispatched),
        ended: Instant::from_nanos(ended),
        expected: Duration::from_nanos(expected),
        outcome: Outcome::from_number(outcome),
    };
    (outcome <= WAITS && pause <= 1 && arrived <= dispatched && dispatched <= ended)
        .then_some((usize::try_from(disk).ok()?, served))
}

/// Reads what components asked of this number of disks: lines `disk,client,number,place,blocks,write,cancels,at_ns`.
///
/// # Errors
/// The line that is wrong.
pub fn read_disk_inputs<'a>(lines: impl Iterator<Item = &'a str>, disks: usize) -> Result<Vec<Vec<DiskInput>>, String> {
    let mut out = vec![Vec::new(); disks];
    for line in lines {
        let words: Option<Vec<u64>> = line.split(',').map(|word| word.parse().ok()).collect();
        let input = words.as_deref().and_then(input).filter(|(disk, _)| *disk < disks);
        let (disk, input) =
            input.ok_or_else(|| format!("{line:?} is nothing that was asked of one of {disks} disks"))?;
        out[disk].push(input);
    }
    Ok(out)
}

fn input(words: &[u64]) -> Option<(usize, DiskInput)> {
    let &[disk, client, number, place, blocks, write, cancels, at] = words else { return None };
    let [client, number, place, blocks] = [client, number, place, blocks].map(u32::try_from);
    let input = DiskInput {
        client: client.ok()?,
        number: number.ok()?,
        place: place.ok()?,
        blocks: blocks.ok()?,
        write: write == 1,
        cancels: cancels == 1,
        at: Instant::from_nanos(at),
    };
    (write <= 1 && cancels <= 1).then_some((usize::try_from(disk).ok()?, input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_is_damaged_is_refused_by_line() {
        let served = Served {
            client: 1,
            number: 2,
            from: 3,
            row: 4,
            after_pause: true,
            arrived: Instant::from_nanos(5),
            dispatched: Instant::from_nanos(6),
            ended: Instant::from_nanos(7),
            expected: Duration::from_nanos(8),
            outcome: Some(Outcome::Short),
        };
        let waits = Served { outcome: None, ..served };
        let power_cuts = vec![Instant::from_nanos(3), Instant::from_nanos(9)];
        let cut = DiskTrace { served: Vec::new(), power_cuts };
        let disks = vec![DiskTrace::default(), DiskTrace { served: vec![served, waits], power_cuts: Vec::new() }];
        let text = disk_table(&disks);
        assert_eq!(read_disk_table(&text, 2), Ok(disks));
        let cuts = disk_table(&[cut.clone(), DiskTrace::default()]);
        assert_eq!(cuts, format!("{HEAD}\n0,,,,,,,,3,,4\n0,,,,,,,,9,,4\n"));
        assert_eq!(read_disk_table(&cuts, 2), Ok(vec![cut, DiskTrace::default()]));
        for damaged in ["0,,,,,,,,3,,0", "0,,,,,,,,,,4", ",,,,,,,,3,,4", "2,,,,,,,,3,,4", "0,1,,,,,,,3,,4"] {
            let error = read_disk_table(&format!("{HEAD}\n{damaged}\n"), 2).expect_err("damaged");
            assert!(error.starts_with("line 2 is no request"), "{error}");
        }
        assert!(read_disk_table(&cuts.replace(",9,", ",2,"), 2).is_err_and(|why| why.contains("order of time")));
        for damaged in [
            text.replace(",7,", ",5,"),
            text.replace("1,1,2", "2,1,2"),
            text.replace(",8", ""),
            text.replacen(",2\n", ",7\n", 1),
        ] {
            let error = read_disk_table(&damaged, 2).expect_err("damaged");
            assert!(error.starts_with("line 2 is no request of one of 2 disks"), "{error}");
        }
        assert!(read_disk_table("", 2).is_err());
    }
}
