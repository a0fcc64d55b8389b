//! Several kernels on one machine, each in a sandbox: the module from which the monitors load them, the start, and what each left.

use crate::boot::{collect, fits, machine, Onlooker, Ran};
use crate::console::Console;
use crate::emulator::{Board, Boot, Emulator, Execution, IMAGE, LOG, MOST_MEMORY};
use crate::failure::Failure;
use crate::restart::{self, RestartBound, Sizes};
use crate::results::Results;
use crate::symbols::{entry, pieces, Piece};
use crate::watch::{self, Ended, Watch};
use std::fs;
use std::path::Path;
use std::time::Duration as Real;
use tactus_abi::sandbox::{
    board, head, page, part, state, MailboxRun, CAUSES, CONSOLES, MAILBOX_PAGES, MAILBOX_RUNS, PIECE, PIECES,
};
use tactus_image::{Image, TURN_INSTRUCTIONS};
use tactus_model::{Release, Sandboxes, System, SANDBOX_MEMORY};
use tactus_plan::RunPlan;
use tactus_time::{Duration, Instant};
use tactus_trace::Trace;

/// Where the first sandbox's memory begins: above the monitors.
const FIRST: u64 = 16 << 20;
/// Memory beside sandboxes and module, for the firmware's tables.
const BESIDE: u64 = 16 << 20;
/// How long the machine goes on after the length of a run: kernels boot before it, and one that died may be near its end.
const AFTER: Duration = Duration::from_millis(300);
/// When the machine ends of which this is the longest run, since the monitors began, if kernels do not end theirs before.
pub fn end(longest: Duration) -> Duration {
    longest + AFTER
}

/// See [`crate::boot`].
const PATIENCE: Real = Real::from_secs(30);
const SECTOR: usize = 4096;

/// What is started in a sandbox.
pub struct Part<'a> {
    /// The system.
    pub system: &'a System,
    /// What was promised of it.
    pub plan: &'a RunPlan,
    /// How often its kernel is started again.
    pub restarts: u32,
    /// Its kernel.
    pub kernel: &'a Path,
    /// What the kernel runs.
    pub image: &'a Image,
    /// Where its results go: below the whole's.
    pub results: &'a Results,
}

/// What became of a sandbox.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fate {
    /// With which code its kernel ended; nothing if it did not.
    pub code: Option<u32>,
    /// Whether its kernel was dead at the end.
    pub dead: bool,
    /// How often it was started again.
    pub restarts: u64,
    /// Its last death.
    pub death: Option<Death>,
    /// Exits by cause.
    pub exits: Vec<(&'static str, u64)>,
    /// The last port and the last register that were refused.
    pub refused: (u64, u64),
    /// When its run began, since the monitors began.
    pub began: Option<Duration>,
}

/// How a kernel died.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Death {
    /// In words.
    pub why: String,
    /// When, since the monitors began.
    pub at: Duration,
    /// When the kernel was entered again, if it was.
    pub entered: Option<Duration>,
}

impl Fate {
    /// `end of the run 1, modes turned on 1`
    pub fn exits_in_words(&self) -> String {
        let seen = self.exits.iter().filter(|(_, count)| *count > 0).map(|(cause, count)| format!("{cause} {count}"));
        seen.collect::<Vec<_>>().join(", ")
    }

    /// Whether its kernel ran once, and to the end.
    pub fn is_whole(&self) -> bool {
        self.code.is_some_and(|code| crate::boot::WHOLE_RUN.contains(&code)) && self.restarts == 0
    }
}

/// A sandbox at the end of a run.
pub struct PartRan {
    /// What became of it.
    pub fate: Fate,
    /// What it left, where its kernel ran once and to the end; else why there is nothing to judge.
    pub ran: Result<Ran, String>,
    /// Of a kernel that was started again and came to its end: the records of its last life.
    pub last_life: Option<Trace>,
    /// When its first job began to execute, since the monitors began; of its kernel's last life.
    pub first_job: Option<Duration>,
    /// How long a restart of its kernel may take; nothing where it is not started again, or no job has a bound.
    pub restart: Option<RestartBound>,
}

/// What a sandbox sees of mailboxes: of each the messages and the page of what was taken, of which it writes one.
fn mailbox_runs(system: &System) -> impl Iterator<Item = MailboxRun> + '_ {
    system.mailboxes.iter().flat_map(|it| {
        let (first, pages) = (it.first_page, it.pages());
        let messages = MailboxRun { first, pages, writable: it.sends };
        [messages, MailboxRun { first: first + pages, pages: 1, writable: !it.sends }]
    })
}

/// Where the parts lie in the machine's memory, and the module that tells the monitors.
struct Layout {
    bases: Vec<u64>,
    /// Of each part, how long a restart may take.
    restarts: Vec<Option<RestartBound>>,
    end: u64,
    module: Vec<u8>,
}

/// For tests: `sandbox=way@nanoseconds`, by which a kernel with the feature `destruction` destroys itself then.
const DESTROYED: &str = "TACTUS_DESTROYED";

/// Where in a ring's head the time stands at which a scheduler looked last.
const HEARTBEAT: u64 = 24;
/// For how long a kernel may keep interrupts off while its scheduler does nothing. The emulator's cores take turns: all of them have theirs
/// meanwhile.
const INTERRUPTS_OFF: Duration = Duration::from_millis(1);
/// The longest patience with a scheduler that does nothing.
const MOST_PATIENCE: Duration = Duration::from_millis(100);

/// For how long a scheduler may do nothing before its kernel is looked at: two of its shortest periods.
fn patience(system: &System) -> Duration {
    shortest_period(system).map_or(MOST_PATIENCE, |period| (period * 2).min(MOST_PATIENCE))
}

/// For how long it may do nothing whatever its kernel does, if that is known: each release has it do something.
fn still(system: &System) -> Option<Duration> {
    let first = system.tasks.iter().map(|task| task.offset).max().unwrap_or_default();
    shortest_period(system).map(|period| first + period * 10)
}

/// How long a kernel may do nothing before its monitor notices, whatever it does.
pub fn silence(system: &System) -> Option<Duration> {
    let beside = system.sharing_cores() as u64 * (u64::from(TURN_INSTRUCTIONS) << system.machine.shift);
    // Whoever looks, and whoever is looked at, have their turn.
    still(system).map(|still| still.max(patience(system) + INTERRUPTS_OFF) + Duration::from_nanos(2 * beside))
}

fn shortest_period(system: &System) -> Option<Duration> {
    let release = |n: usize| system.scheduling.places.get(n).map(|place| place.release).unwrap_or_default();
    let tasks = system.tasks.iter().enumerate();
    tasks.filter(|(n, _)| release(*n) == Release::Periodic).map(|(_, task)| task.period).min()
}

/// The features of kernels in sandboxes, beside those of any kernel.
pub fn features(whole: &Sandboxes) -> Vec<&'static str> {
    let destroyed = std::env::var_os(DESTROYED).map(|_| "destruction");
    (!whole.open).then_some("x2apic").into_iter().chain(destroyed).collect()
}

fn destroyed(sandbox: &str) -> Option<(u64, u64)> {
    let told = std::env::var(DESTROYED).ok()?;
    let (way, at) = told.strip_prefix(sandbox)?.strip_prefix('=')?.split_once('@')?;
    Some((way.parse().ok()?, at.parse().ok()?))
}

/// A sandbox's memory: what its file gives it, and what its image needs at least.
fn memory(part: &Part<'_>) -> u64 {
    let image = part.image.bytes.len() as u64;
    part.system.memory.max(part.image.facts.memory_needed + image).next_multiple_of(SANDBOX_MEMORY)
}

/// How long a restart of a part may take whose kernel and image have this many bytes.
fn bound(part: &Part<'_>, reloaded: u64) -> Result<Option<RestartBound>, Failure> {
    if part.restarts == 0 {
        return Ok(None);
    }
    let sizes = Sizes { reloaded, memory: part.image.facts.memory_filled };
    restart::fits(part.system, sizes, Sizes::most(fits(part.system, part.plan)?))?;
    Ok(RestartBound::of(part.system, part.plan, sizes))
}

impl Layout {
    fn of(parts: &[Part<'_>], limit: Duration, held_back: bool) -> Result<Layout, Failure> {
        let words = head::WORDS + parts.len() * part::WORDS;
        let mut table = vec![0_u64; words];
        (table[head::IS_ONE], table[head::COUNT]) = (head::MAGIC, parts.len() as u64);
        table[head::LIMIT] = limit.as_nanos();
        table[head::HOLDS_BACK] = held_back.into();
        table[head::TURN] = u64::from(TURN_INSTRUCTIONS) << parts[0].system.machine.shift;
        let (mut bases, mut end, mut restarts) = (Vec::new(), FIRST, Vec::new());
        let (mut contents, mut has_mailboxes) = (Vec::new(), false);
        let mut put = |bytes: &[u8]| {
            contents.resize(contents.len().next_multiple_of(SECTOR), 0_u8);
            let at = (words * 8).next_multiple_of(SECTOR) + contents.len();
            contents.extend(bytes);
            at as u64
        };
        for (n, it) in parts.iter().enumerate() {
            let kernel = fs::read(it.kernel).map_err(|error| machine(format!("{}: {error}", it.kernel.display())))?;
            let loaded = pieces(&kernel).map_err(machine)?;
            if loaded.len() > PIECES {
                return Err(machine(format!("{}: it has {} pieces", it.kernel.display(), loaded.len())));
            }
            let own = &mut table[head::WORDS + n * part::WORDS..][..part::WORDS];
            let bytes = memory(it);
            own[part::BASE] = end;
            own[part::BYTES] = bytes;
            own[part::ENTRY] = entry(&kernel).map_err(machine)?;
            own[part::RESTARTS] = it.restarts.into();
            own[part::HEARTBEAT] = it.image.facts.trace_address + HEARTBEAT;
            own[part::PATIENCE] = patience(it.system).as_nanos();
            own[part::INTERRUPTS_OFF] = INTERRUPTS_OFF.as_nanos();
            for (n, run) in mailbox_runs(it.system).take(MAILBOX_RUNS).enumerate() {
                own[part::MAILBOXES + n] = run.word();
                has_mailboxes = true;
            }
            own[part::STILL] = still(it.system).map_or(u64::MAX, Duration::as_nanos);
            (own[part::FAULT], own[part::FAULT_AT]) = destroyed(&it.system.name).unwrap_or_default();
            let image = it.image.bytes.len() as u64;
            restarts.push(bound(it, image + loaded.iter().map(|piece| piece.length).sum::<u64>())?);
            let place = (bytes - image) / SECTOR as u64 * SECTOR as u64;
            let of_image = Piece { offset: put(&it.image.bytes), address: place, copied: image, length: image };
            let placed = loaded.into_iter().map(|piece| {
                let from = piece.offset as usize;
                Piece { offset: put(&kernel[from..from + piece.copied as usize]), ..piece }
            });
            for (n, piece) in [of_image].into_iter().chain(placed).enumerate() {
                let words = [piece.offset, piece.address, piece.copied, piece.length];
                own[part::IMAGE + n * PIECE..][..PIECE].copy_from_slice(&words);
            }
            bases.push(end);
            end += bytes;
        }
        if has_mailboxes {
            table[head::MAILBOXES] = end;
            end += MAILBOX_PAGES as u64 * SECTOR as u64;
        }
        let mut module: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
        module.resize(module.len().next_multiple_of(SECTOR), 0);
        module.extend(contents);
        // It is read in words.
        module.resize(module.len().next_multiple_of(SECTOR), 0);
        Ok(Layout { bases, restarts, end, module })
    }
}

/// Boots the machine with all sandboxes, waits for its end and collects what each left.
pub fn boot(
    whole: &Sandboxes,
    parts: &[Part<'_>],
    results: &Results,
    (monitor, emulator): (&Path, &Emulator),
    onlooker: &mut dyn Onlooker,
) -> Result<Vec<PartRan>, Failure> {
    let duration = parts.iter().map(|it| it.system.duration).max().unwrap_or(whole.duration);
    let layout = Layout::of(parts, end(duration), !whole.open)?;
    let memory = (layout.end + layout.module.len() as u64 + BESIDE).next_multiple_of(1 << 20);
    if memory > MOST_MEMORY {
        let (most, file) = (MOST_MEMORY >> 20, whole.source.display());
        return Err(Failure::Input(format!(
            "{file}: the sandboxes need {} MiB of memory, the machine has {most}: give them less",
            memory >> 20
        )));
    }
    results.put(IMAGE, &layout.module)?;
    let console = |it: &Part<'_>| it.results.file(LOG);
    // The first is the machine's first serial port.
    let others = parts.iter().skip(1).flat_map(|it| {
        let path = std::path::absolute(console(it)).unwrap_or_else(|_| console(it));
        ["-serial".to_string(), format!("file:{}", path.display().to_string().replace(',', ",,"))]
    });
    let boot = Boot {
        processor: parts[0].system.machine.processor,
        kernel: monitor.to_path_buf(),
        folder: results.folder().to_path_buf(),
        // One more lets the time pass.
        cores: parts.len() + 1,
        memory,
        execution: Execution::Counted { shift: parts[0].system.machine.shift },
        board: Board::default(),
        devices: others.collect(),
        monitor: Some(monitor.to_path_buf()),
        emulator: emulator.folder.clone(),
        held_back: !whole.open,
        plug_in: None,
    };
    let first = Watch::over(&parts[0].image.facts, PATIENCE);
    let watch = Watch { trace_address: first.trace_address + layout.bases[0], cores: Some(1), ..first };
    let mut consoles: Vec<_> = parts
        .iter()
        .enumerate()
        .map(|(n, it)| Console::new(if n == 0 { boot.log() } else { console(it) }, &it.image.facts.components))
        .collect();
    let listens = onlooker.listens();
    let ended = watch::run(&boot, watch, &mut |seen| {
        for line in consoles.iter_mut().filter(|_| listens).flat_map(Console::look) {
            onlooker.printed(&line);
        }
        onlooker.reached(seen.now.since(Instant::ZERO));
    });
    // What the first said is its own.
    let _ = fs::rename(boot.log(), console(&parts[0]));
    let ended = ended.map_err(machine)?;
    let each = parts.iter().zip(&layout.bases).enumerate();
    let left = each.map(|(n, (it, base))| left(n, it, *base, &ended)).collect::<Result<Vec<_>, _>>()?;
    Ok(left.into_iter().zip(layout.restarts).map(|(ran, restart)| PartRan { restart, ..ran }).collect())
}

/// What a sandbox left.
fn left(n: usize, part: &Part<'_>, base: u64, ended: &Ended) -> Result<PartRan, Failure> {
    let words = |at: u64, count: usize| -> Result<Vec<u64>, Failure> {
        let mut bytes = vec![0; count * 8];
        ended.rings.frame(at, &mut bytes).map_err(machine)?;
        Ok(bytes.chunks_exact(8).map(|it| u64::from_le_bytes(it.try_into().expect("eight bytes"))).collect())
    };
    let board = words(board::PLACE + (n * board::STRIDE * 8) as u64, board::STRIDE)?;
    let told = words(base + page::PLACE, page::WORDS)?;
    // The emulator's counter counts nanoseconds.
    let since = |at: u64| Duration::from_nanos(at.saturating_sub(board[board::SINCE]));
    let death = (board[board::DEATH] != 0).then(|| Death {
        why: death(&board[board::DEATH..]),
        at: since(board[board::DEATH + 4]),
        entered: (board[board::STATE] != state::DEAD).then(|| since(board[board::ENTERED])),
    });
    let fate = Fate {
        code: (board[board::STATE] == state::ENDED).then_some(board[board::CODE] as u32),
        dead: board[board::STATE] == state::DEAD,
        restarts: board[board::RESTARTS],
        death,
        exits: CAUSES.iter().copied().zip(board[board::EXITS..].iter().copied()).collect(),
        refused: (board[board::LAST], board[board::LAST + 1]),
        began: (told[page::BEGAN] != 0).then(|| since(told[page::BEGAN])),
    };
    let facts = &part.image.facts;
    let rings = ended.rings.of_part((facts.trace_address, facts.ring_bytes, facts.trace_pages), base);
    let own = Ended { code: fate.code.unwrap_or_default(), rings: rings.map_err(machine)?, took: ended.took };
    let ran = collect(part.system, part.image, own, false);
    let executes = |ran: &Ran| {
        let records = ran.trace.cores.iter().flatten();
        records.filter(|it| it.kind == tactus_record::EventKind::Dispatch).map(|it| it.time).min()
    };
    let first_job =
        ran.as_ref().ok().and_then(executes).zip(fate.began).map(|(at, began)| began + at.since(Instant::ZERO));
    let ended = fate.code.is_some_and(|code| crate::boot::WHOLE_RUN.contains(&code));
    let last_life = ran.as_ref().ok().filter(|_| ended && fate.restarts > 0).map(|ran| ran.trace.clone());
    let ran = match (fate.is_whole(), &fate.death) {
        // What a kernel has made of its own trace takes nobody else's verdict away.
        (true, _) => ran.map_err(|why| format!("it left no trace that can be read: {why}")),
        (false, Some(death)) if fate.dead => Err(format!("its kernel died at {}: {}", death.at, death.why)),
        (false, Some(death)) => Err(format!("its kernel died at {}, and was started again: {}", death.at, death.why)),
        (false, None) => match fate.code {
            Some(code) => Err(format!("its kernel gave up with code {code:#x}")),
            None => Err("its kernel did not end its run in time".into()),
        },
    };
    Ok(PartRan { fate, ran, last_life, first_job, restart: None })
}

fn death(words: &[u64]) -> String {
    let (first, second, place) = (words[1], words[2], words[3]);
    match words[0] {
        state::GAVE_UP => format!("it gave up with code {first:#x}"),
        0x7f => format!("it failed while it handled a failure, at {place:#x}"),
        state::SILENT => format!("it did nothing for longer than it may, at {place:#x}"),
        0x400 => format!("it touched {second:#x}, which is not its own, at {place:#x}"),
        other => format!("exit {other:#x} ({first:#x}, {second:#x}) at {place:#x}"),
    }
}

/// The names of the serial ports' number is the most sandboxes that a file may have.
const _: () = assert!(CONSOLES.len() == tactus_model::MOST_SANDBOXES);
/// A sandbox may have an end of each mailbox.
const _: () =
    assert!(MAILBOX_RUNS == 2 * tactus_model::MAX_MAILBOXES && MAILBOX_PAGES as u64 == tactus_model::MAX_MAILBOX_PAGES);
