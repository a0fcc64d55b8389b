//! Bounds on waiting for a server, against a server that is played request by request.

use std::path::Path;
use tactus_analysis::requests::{by_priority, in_order, in_slots, Client};
use tactus_model::{Costs, System};
use tactus_time::Duration;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n.max(1)
    }

    /// Mostly all of it, so that what is longest meets.
    fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 || self.below(3) > 0 {
            most
        } else {
            1 + self.below(most)
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Discipline {
    Order,
    Priority,
    Slots,
}

/// Where a client is.
#[derive(Clone, Copy)]
enum At {
    /// It sends its next request then.
    Away(u64),
    /// Its request came then and waits.
    Waits(u64),
    /// Its operation is over then.
    Operates(u64),
    /// Its operation was over then, and waits for its continuation.
    Back(u64),
}

/// Plays the server for so long; the longest wait of each client until its request was served. Times are whole units.
fn play(clients: &[Client], limit: usize, discipline: Discipline, end: u64, random: &mut Random) -> Vec<u64> {
    let mut at: Vec<At> = clients.iter().map(|it| At::Away(random.below(it.gap.as_nanos()))).collect();
    let mut sent = vec![0; clients.len()];
    let mut worst = vec![0; clients.len()];
    let slot = clients.iter().map(|it| it.service.max(it.continuation).as_nanos()).max().unwrap_or(1);
    let mut now = 0;
    while now < end {
        // Who may send does, the earliest first, as long as the limit lets it.
        loop {
            let outstanding = at.iter().filter(|it| !matches!(it, At::Away(_))).count();
            let due = |n: &usize| matches!(at[*n], At::Away(from) if from <= now);
            let first = (0..clients.len()).filter(due).min_by_key(|n| match at[*n] {
                At::Away(from) => from,
                _ => 0,
            });
            let Some(n) = first.filter(|_| outstanding < limit) else { break };
            let At::Away(from) = at[n] else { break };
            // Held back by the limit, it is sent now.
            let when = if outstanding + 1 == limit || limit < clients.len() { now } else { from };
            (at[n], sent[n]) = (At::Waits(when), when);
        }
        for state in &mut at {
            if let At::Operates(over) = *state {
                if over <= now {
                    *state = At::Back(over);
                }
            }
        }
        let back = |it: &At| if let At::Back(over) = it { Some(*over) } else { None };
        let waits = |it: &At| if let At::Waits(from) = it { Some(*from) } else { None };
        let next = match discipline {
            Discipline::Slots => {
                let n = (now / slot) as usize % clients.len();
                (now % slot == 0 && (back(&at[n]).is_some() || waits(&at[n]).is_some())).then_some(n)
            }
            _ => {
                let continued = (0..at.len()).filter(|n| back(&at[*n]).is_some()).min_by_key(|n| back(&at[*n]));
                continued.or_else(|| {
                    let pending = (0..at.len()).filter(|n| waits(&at[*n]).is_some());
                    match discipline {
                        Discipline::Order => pending.min_by_key(|n| waits(&at[*n])),
                        _ => pending.min(),
                    }
                })
            }
        };
        let Some(n) = next else {
            // Slots are looked at when they begin.
            now = match discipline {
                Discipline::Slots => (now / slot + 1) * slot,
                _ => now + 1,
            };
            continue;
        };
        let (served, length) = match at[n] {
            At::Waits(from) => (Some(from), clients[n].service.as_nanos()),
            _ => (None, clients[n].continuation.as_nanos()),
        };
        now += random.up_to(length);
        if let Some(from) = served {
            worst[n] = worst[n].max(now - from);
        }
        at[n] = match (served, clients[n].continuation.is_zero()) {
            (Some(_), false) => At::Operates(now + random.below(40)),
            _ => {
                let gap = clients[n].gap.as_nanos();
                let late = if random.below(4) == 0 { random.below(gap) } else { 0 };
                At::Away((sent[n] + gap + late).max(now))
            }
        };
        if discipline == Discipline::Slots {
            now = now.div_ceil(slot) * slot;
        }
    }
    worst
}

fn clients(random: &mut Random, count: u64) -> Vec<Client> {
    let of = Duration::from_nanos;
    let one = |random: &mut Random| Client {
        service: of(1 + random.below(9)),
        continuation: of(if random.below(3) == 0 { 1 + random.below(6) } else { 0 }),
        gap: of(20 + random.below(60) * count),
    };
    (0..count).map(|_| one(random)).collect()
}

#[test]
fn no_client_waits_longer_than_its_bound_whatever_the_server_goes_by() {
    let mut nearest = [0.0_f64; 4];
    let mut without = 0;
    for seed in 0..1_500 {
        let random = &mut Random(seed);
        let count = 2 + random.below(7);
        let all = clients(random, count);
        let every = all.len();
        let limit = 1 + random.below(count) as usize;
        let ways = [
            (Discipline::Order, every),
            (Discipline::Priority, every),
            (Discipline::Slots, every),
            (Discipline::Order, limit),
        ];
        for (way, (discipline, limit)) in ways.into_iter().enumerate() {
            for (n, worst) in play(&all, limit, discipline, 4_000, random).into_iter().enumerate() {
                let bound = match discipline {
                    Discipline::Order => in_order(&all, n, limit),
                    Discipline::Priority => by_priority(&all, n),
                    Discipline::Slots => in_slots(&all, n),
                };
                let Some(bound) = bound.map(Duration::as_nanos) else {
                    without += 1;
                    continue;
                };
                assert!(worst <= bound, "seed {seed}, way {way}, client {n}: {worst} over {bound} {all:?}");
                nearest[way] = nearest[way].max(worst as f64 / bound as f64);
            }
        }
    }
    println!("nearest to their bounds: {nearest:.3?}, {without} without");
    assert!(nearest.iter().all(|nearest| *nearest > 0.7), "{nearest:?}");
}

/// With eight cores that let one request through each, a bound stays what it is however many clients there are; that of slots grows with
/// them.
#[test]
fn a_limit_on_access_keeps_the_bound_as_clients_grow() {
    let one =
        Client { service: Duration::from_micros(5), continuation: Duration::ZERO, gap: Duration::from_millis(10) };
    let bounds = |count: usize| {
        let all = vec![one; count];
        [in_order(&all, 0, 8), in_slots(&all, 0), by_priority(&all, count - 1)]
            .map(|bound| bound.map(Duration::as_nanos))
    };
    assert_eq!(bounds(8), [Some(40_000), Some(45_000), Some(75_000)]);
    assert_eq!(bounds(64), [Some(40_000), Some(325_000), Some(635_000)]);
    assert_eq!(bounds(512), [Some(40_000), Some(2_565_000), Some(5_115_000)]);
}

#[test]
fn a_server_that_more_urgent_ones_keep_busy_has_no_bound() {
    let of = |service, gap| Client {
        service: Duration::from_micros(service),
        continuation: Duration::ZERO,
        gap: Duration::from_micros(gap),
    };
    assert_eq!(by_priority(&[of(6, 10), of(5, 10), of(1, 10)], 2), None);
    assert!(by_priority(&[of(6, 10), of(5, 10), of(1, 10)], 0).is_some());
}

/// As a service of a file has it: by priority and in slots the bound of a request grows with the tasks that ask; where all but one are of one
/// component, and have one request outstanding together, it stays what it is.
#[test]
fn tasks_that_share_a_request_keep_the_bound_of_a_service_as_they_grow() {
    let bound = |order: &str, count: usize, shared: bool| {
        let mut text = String::from(
            "[system]\ncores = 2\nduration = '1 s'\n[machine]\noverheads = false\n[policy]\nkind = 'partitions'\nmajor-frame = '20 ms'\n\
             [[component]]\nname = 'c'\ncrate = '.'\n[[partition]]\nname = 'serves'\npolicy = 'partitioned-fp'\n\
             windows = [{ core = 1, start = '0 ms', length = '20 ms' }]\n[[task]]\nname = 'server'\npartition = 'serves'\n\
             priority = 1\nperiod = '10 ms'\nexecution = '1 ms'\n[[partition]]\nname = 'asks'\npolicy = 'partitioned-fp'\n\
             windows = [{ core = 0, start = '0 ms', length = '20 ms' }]\n",
        );
        for n in 0..count {
            let component = if shared && n > 0 { "component = 'c'\n" } else { "" };
            text += &format!(
                "[[task]]\nname = 't{n}'\npartition = 'asks'\npriority = 1\nperiod = '500 ms'\nexecution = '1 ms'\n{component}"
            );
        }
        let others: Vec<String> = (1..count).map(|n| format!("'t{n}'")).collect();
        let others = if shared { format!("[{}]", others.join(", ")) } else { others.join(", ") };
        text += &format!(
            "[[service]]\nname = 'storage'\nserver = 'server'\nclients = ['t0', {others}]\norder = '{order}'\nsize = '8 B'\n\
             latency = '10 s'\n"
        );
        let system = System::parse_toml(&text, Path::new("service.toml")).expect("a good file");
        let check = tactus_analysis::check(&system, &Costs::default());
        let of = |name: &str| {
            let own = check.chains.iter().find(|chain| chain.name.starts_with(name)).expect("the client's");
            own.bound.map(|bound| bound.as_nanos() / 1_000_000)
        };
        of("storage for t0")
    };
    for order in ["turns", "slots"] {
        let own = [2, 8, 20].map(|count| bound(order, count, false));
        assert!(own[0] < own[1] && own[1] < own[2], "{own:?}");
        let shared = [2, 8, 20].map(|count| bound(order, count, true));
        let least = shared[0];
        // What is left is that more tasks are before it on its core.
        assert!(shared.iter().all(|it| *it <= least.map(|least| least + 20)), "{order}: {shared:?}");
        assert!(own[2] >= shared[2].map(|shared| shared + 170), "{own:?} {shared:?}");
        println!("{order}: {own:?} ms, shared {shared:?} ms");
    }
}
