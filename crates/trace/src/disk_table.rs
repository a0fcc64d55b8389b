//! The requests of disks as text: the file `disks.csv` of a run, one line for each request that ended.

use crate::disk::{DiskInput, Served};
use std::fmt::Write;
use tactus_disk::Outcome;
use tactus_time::{Duration, Instant};

/// The first line.
const HEAD: &str = "disk,client,number,from_row,row,after_pause,arrived_ns,dispatched_ns,ended_ns,expected_ns,outcome";

/// In place of an outcome: it waited still.
const WAITS: u64 = Outcome::ALL.len() as u64;

/// The text of the file. Disks and clients are counted from 0 in the order of the system file.
pub fn disk_table(disks: &[Vec<Served>]) -> String {
    let mut text = format!("{HEAD}\n");
    for (disk, it) in disks.iter().enumerate().flat_map(|(disk, all)| all.iter().map(move |it| (disk, it))) {
        let (arrived, dispatched, ended) = (it.arrived.as_nanos(), it.dispatched.as_nanos(), it.ended.as_nanos());
        let (pause, expected) = (u8::from(it.after_pause), it.expected.as_nanos());
        let Served { client, number, from, row, .. } = *it;
        // Writing to a string cannot fail.
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
pub fn read_disk_table(text: &str, disks: usize) -> Result<Vec<Vec<Served>>, String> {
    let mut out = vec![Vec::new(); disks];
    let mut lines = text.lines().zip(1..);
    if lines.next().map(|(line, _)| line) != Some(HEAD) {
        return Err(format!("line 1: the heading should be {HEAD}; run the system again"));
    }
    for (line, number) in lines {
        let words: Option<Vec<u64>> = line.split(',').map(|word| word.parse().ok()).collect();
        let served = words.as_deref().and_then(served).filter(|(disk, _)| *disk < disks);
        let (disk, served) = served
            .ok_or_else(|| format!("line {number} is no request of one of {disks} disks; run the system again"))?;
        out[disk].push(served);
    }
    Ok(out)
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
        let disks = vec![Vec::new(), vec![served, waits]];
        let text = disk_table(&disks);
        assert_eq!(read_disk_table(&text, 2), Ok(disks));
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
