//! Channels: who writes and reads them by the mappings, held against what components are told of their ports; and what they are told of
//! their partition.

use super::contents::contents;
use super::fault::{is_name, rule, Part, VerifyError};
use crate::parsed::Parsed;
use crate::parts::SCHEDULER;
use crate::wire::Stored;
use tactus_abi::image::{role, MemoryKind, WRITABLE};
use tactus_abi::layout::{CHANNELS, CHANNEL_STRIDE, MAX_CHANNELS, PAGE, PARTITION, PORT_CARDS};
use tactus_abi::port::{
    PartitionCard, PortCard, ProcessCard, ServicePort, ARRIVALS, DESTINATION, OBSERVED, OBSERVED_SENDING,
    OBSERVED_TAKING, QUEUING, SAMPLING, SOURCE,
};

/// Every channel has one source, which alone writes its memory, and destinations with cards that say the same; of a queue one, which alone
/// writes its page.
pub(super) fn told(image: &Parsed, bytes: &[u8]) -> Result<(), VerifyError> {
    let mut sources: Vec<Option<PortCard>> = vec![None; MAX_CHANNELS];
    let mut destinations: Vec<Vec<PortCard>> = vec![Vec::new(); MAX_CHANNELS];
    // By the root scheduler's word, which comes first.
    let mut writers: Vec<Option<u32>> = vec![None; MAX_CHANNELS];
    let mut observed_as: Vec<PortCard> = Vec::new();
    let mut mailboxes: Vec<PortCard> = Vec::new();
    for number in 0..image.components.len() {
        let check = |holds, text| rule(holds, Part::Info, number, text);
        let mut rest = contents(image, bytes, number, PORT_CARDS);
        let mut cards: Vec<PortCard> = Vec::new();
        for _ in 0..image.infos[number].ports {
            let card = PortCard::take(&mut rest).ok_or(VerifyError::Truncated { part: Part::Info })?;
            check(is_name(&card.name), "has a port whose name is no text")?;
            check(cards.iter().all(|other| other.name != card.name), "has two ports of one name")?;
            check(cards.iter().all(|other| other.channel != card.channel), "has two ends of one channel")?;
            check((card.channel as usize) < MAX_CHANNELS, "has a port of a channel that there is not")?;
            let sound = match card.kind {
                SAMPLING => card.depth == 0,
                QUEUING => card.depth > 0 && (card.refresh == 0 || card.service != 0 || is_observed_mailbox(&card)),
                _ => false,
            };
            let sound = sound && (card.service == 0 || card.kind == QUEUING && ServicePort::of(card.service).is_some());
            check(sound && card.size > 0, "has a port of no kind that there is")?;
            // A sum that wraps would fit.
            let small = card.size <= 1 << 16 && card.depth <= 1 << 16;
            check(small && card.fits(), "has a port of a channel that is too large")?;
            let writes = |address: u64| image.mapping_at(number, address).map(|mapping| mapping.flags == WRITABLE);
            let source = card.direction == SOURCE;
            let observed = (card.direction == OBSERVED || is_observed_mailbox(&card)) && number == SCHEDULER;
            check(source || observed || card.direction == DESTINATION, "has a port that neither writes nor reads")?;
            check(observed || card.writer == 0, "is told who writes what it does not observe")?;
            check(writes(card.address()) == Some(source), "does not see the messages of its port as it should")?;
            let taken = (card.kind == QUEUING).then_some(card.direction == DESTINATION);
            check(writes(card.taken_address()) == taken, "does not see what is taken of its port as it should")?;
            let mapping = image.mapping_at(number, card.address());
            let length = mapping.map_or(0, |mapping| image.memories[mapping.memory as usize].bytes);
            let wanted = (card.words() as u64 * 8).next_multiple_of(PAGE);
            check(length == wanted, "has a port of other memory than its messages take")?;
            // The other end is another sandbox's, so that here one is all there is.
            if mapping.is_some_and(|it| image.memories[it.memory as usize].kind == MemoryKind::Mailbox as u32) {
                mailbox(image, number, &card, &mut mailboxes)?;
                cards.push(card);
                continue;
            }
            check(!is_observed_mailbox(&card), "observes a mailbox, and sees other memory")?;
            let form = PortCard { name: [0; 24], direction: 0, writer: 0, ..card };
            match card.direction {
                SOURCE => {
                    let before = sources[card.channel as usize].replace(form);
                    check(before.is_none(), "is the second source of a channel")?;
                    let thread = |task: u32| image.threads.get(image.header.cores as usize + task as usize);
                    let own = |task: u32| thread(task).is_some_and(|it| it.component as usize == number);
                    let wrong = writers[card.channel as usize].is_some_and(|task| !own(task));
                    check(!wrong, "is not the component of the task that the root scheduler is told writes")?;
                }
                OBSERVED => {
                    writers[card.channel as usize] = Some(card.writer);
                    observed_as.push(form);
                }
                _ => destinations[card.channel as usize].push(form),
            }
            cards.push(card);
        }
        check(
            image.mapping_at(number, PORT_CARDS).is_some() != cards.is_empty(),
            "is told of another number of ports",
        )?;
        let channels = image.mappings.iter().filter(|it| {
            let end = CHANNELS + MAX_CHANNELS as u64 * CHANNEL_STRIDE;
            it.component as usize == number && (CHANNELS..end).contains(&it.address)
        });
        let seen: usize = cards.iter().map(|card| if card.kind == QUEUING { 2 } else { 1 }).sum();
        check(channels.count() == seen, "sees a channel of which it has no port")?;
        partition(image, bytes, number)?;
    }
    let is_there = |it: &PortCard| sources[it.channel as usize].as_ref() == Some(it);
    rule(
        observed_as.iter().all(is_there),
        Part::Header,
        0,
        "has a channel of which the root scheduler is told otherwise",
    )?;
    for (source, destinations) in sources.iter().zip(&destinations) {
        let check = |holds, text| rule(holds, Part::Header, 0, text);
        let same = destinations.iter().all(|it| Some(it) == source.as_ref());
        check(same && source.is_some() != destinations.is_empty(), "has a channel whose ends do not agree")?;
        let queues = source.is_some_and(|card| card.kind == QUEUING);
        check(!queues || destinations.len() == 1, "has a queue of several destinations")?;
    }
    Ok(())
}

fn is_observed_mailbox(card: &PortCard) -> bool {
    [OBSERVED_SENDING, OBSERVED_TAKING].contains(&card.direction)
}

/// An end of a mailbox: what the root scheduler was told of it, if it observes, and what its component is told agree; and both see the same
/// pages, of messages and behind them of what was taken.
fn mailbox(image: &Parsed, number: usize, card: &PortCard, observed: &mut Vec<PortCard>) -> Result<(), VerifyError> {
    let check = |holds, text| rule(holds, Part::Info, number, text);
    let memory = |component: usize, address: u64| {
        let mapping = image.mapping_at(component, address)?;
        let memory = image.memories.get(mapping.memory as usize)?;
        (memory.kind == MemoryKind::Mailbox as u32).then_some((mapping.memory, memory.offset, memory.bytes))
    };
    let of = |component: usize| memory(component, card.address()).zip(memory(component, card.taken_address()));
    let follows = of(number).is_some_and(|((_, at, bytes), (_, taken, one))| taken == at + bytes && one == PAGE);
    check(
        follows && card.kind == QUEUING && card.service == 0,
        "has a mailbox whose pages are not one behind the other",
    )?;
    if is_observed_mailbox(card) {
        check(observed.iter().all(|it| it.channel != card.channel), "observes a mailbox twice")?;
        observed.push(*card);
        return Ok(());
    }
    let Some(place) = observed.iter().position(|it| it.channel == card.channel) else {
        // A root scheduler of the user's own observes nothing.
        return check(of(SCHEDULER).is_none(), "has a mailbox that the root scheduler sees and is not told of");
    };
    let it = observed[place];
    let sends = it.direction == OBSERVED_SENDING;
    let same = PortCard { direction: card.direction, writer: 0, refresh: 0, ..it } == *card;
    let thread = image.threads.get(image.header.cores as usize + it.writer as usize);
    let own = thread.is_some_and(|thread| thread.component as usize == number);
    let agrees = same && own && sends == (card.direction == SOURCE) && of(SCHEDULER) == of(number);
    check(agrees, "has a mailbox of which the root scheduler is told otherwise")
}

/// What a component is told of its partition: its own tasks, all of them.
fn partition(image: &Parsed, bytes: &[u8], number: usize) -> Result<(), VerifyError> {
    let check = |holds, text| rule(holds, Part::Info, number, text);
    let told = image.infos[number].processes;
    check(image.mapping_at(number, PARTITION).is_some() == (told > 0), "is told of another number of processes")?;
    if told == 0 {
        return Ok(());
    }
    check(image.components[number].role & (role::ROOT | role::COMPUTES) == 0, "is told of a partition and has none")?;
    let mut rest = contents(image, bytes, number, PARTITION);
    let card = PartitionCard::take(&mut rest).ok_or(VerifyError::Truncated { part: Part::Info })?;
    check(is_name(&card.name), "is of a partition whose name is no text")?;
    check(card.duration <= card.period && card.period > 0, "is of a partition that has more than all time")?;
    check(card.warm <= 1, "is of a partition that begins neither cold nor warm")?;
    let first = image.header.cores as usize;
    let threads = image.threads.iter().enumerate().skip(first).take(image.tasks());
    let own: Vec<u32> =
        threads.filter(|(_, it)| it.component as usize == number).map(|(at, _)| (at - first) as u32).collect();
    let mut named = Vec::new();
    for _ in 0..told {
        let card = ProcessCard::take(&mut rest).ok_or(VerifyError::Truncated { part: Part::Info })?;
        check(is_name(&card.name) && card.releases <= ARRIVALS, "has a process whose name is no text")?;
        check(card.core < image.header.cores, "has a process on a core that there is not")?;
        named.push(card.task);
    }
    check(named == own, "is told of processes that are not its own")
}
