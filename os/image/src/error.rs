//! Why an image cannot be built: which program, which value, which limit, and what to do about it.

use std::fmt;
use std::path::PathBuf;
use tactus_abi::layout::{INFO, MAX_GRANTS, MAX_INVOCATIONS, PROGRAM};
use tactus_abi::shared::{is_complete, NAME_BYTES};
use tactus_model::format_size;
use tactus_time::Duration;

/// Why an image cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ImageError {
    /// The request names a number of things that is not the system's.
    Incomplete {
        /// What was counted.
        what: &'static str,
        /// How many the system has.
        expected: usize,
        /// How many the request has.
        found: usize,
    },
    /// A component that is loaded late is not there when its partition starts.
    Late {
        /// Its name.
        component: String,
        /// How many steps loading it takes.
        needed: u64,
        /// How many there are in the windows before.
        possible: u64,
        /// In so many frames.
        frames: u64,
    },
    /// A monitor of which no table can be made.
    Monitor {
        /// Its name.
        monitor: String,
        /// Its line in the system file.
        line: usize,
        /// Why.
        why: String,
    },
    /// A program cannot be loaded.
    Program {
        /// Whose it is: a component of the user's, or a part of the system.
        component: String,
        /// The crate it was built from; nothing for a part of the system.
        crate_path: Option<PathBuf>,
        /// What is wrong with it.
        error: ProgramError,
    },
    /// The system file says that a component provides a service, and its program does not.
    MissingService {
        /// Name of the component.
        component: String,
        /// The crate it was built from; nothing for a part of the system.
        crate_path: Option<PathBuf>,
        /// The service.
        service: String,
        /// Line of the system file that begins the component which wants it.
        line: Option<usize>,
        /// What the program does provide.
        provided: Vec<String>,
    },
    /// A component is granted a service whose provider does not list it in the system file.
    NotProvided {
        /// The component that is granted it.
        component: String,
        /// The component that should provide it.
        provider: String,
        /// The service.
        service: String,
        /// Line of the system file that begins the component which is granted it.
        line: usize,
    },
    /// A component is granted more than it can hold.
    TooManyGrants {
        /// Name of the component.
        component: String,
        /// Line of the system file.
        line: usize,
        /// How many services the file grants it.
        grants: usize,
        /// How many schedulers its tasks have.
        ends: usize,
    },
    /// Two grants of one component have one name, or one has the name of the grant that everybody has.
    DuplicateGrant {
        /// Name of the component.
        component: String,
        /// Line of the system file.
        line: usize,
        /// The name.
        name: String,
    },
    /// A grant's name does not fit.
    LongGrantName {
        /// Name of the component.
        component: String,
        /// Line of the system file.
        line: usize,
        /// The name.
        name: String,
    },
    /// Components may call each other in a circle.
    Circle {
        /// The components on the circle, the first once more at the end.
        names: Vec<String>,
        /// Line of the system file that begins the first of them.
        line: usize,
    },
    /// A chain of calls enters more components than a thread can be inside of.
    TooDeep {
        /// The components of the chain.
        names: Vec<String>,
    },
    /// More components or threads than an image can hold.
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A task is released more often than the machine can serve.
    ShortPeriod {
        /// The task.
        task: String,
        /// Its period.
        period: Duration,
        /// The shortest that there may be.
        least: Duration,
        /// Line of the system file.
        line: usize,
    },
    /// Something does not fit into the addresses that are kept for it.
    NoRoom {
        /// What it is.
        what: String,
        /// Its length in bytes.
        bytes: u64,
        /// How many bytes there may be.
        limit: u64,
        /// What to do.
        remedy: &'static str,
    },
    /// The machine has too few frames of a colour.
    Colour {
        /// The colour.
        colour: u32,
        /// What is wanted of it (bytes).
        bytes: u64,
        /// Who wants most of it.
        whose: String,
        /// How much that is (bytes).
        most: u64,
        /// What the system file gives (bytes).
        memory: u64,
        /// What would do (bytes).
        needed: u64,
    },
    /// The machine's memory is too small.
    Memory {
        /// What the system file gives (bytes).
        memory: u64,
        /// What would do (bytes).
        needed: u64,
        /// How much of it is for the trace of all cores (bytes).
        trace: u64,
        /// The most that a machine can be given (bytes).
        most: u64,
    },
}

/// Why a program cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProgramError {
    /// It is no ELF file that can be read.
    NotElf(String),
    /// It is for another machine.
    WrongMachine {
        /// Which.
        found: String,
        /// What it is to be built for, as the compiler names it.
        wanted: &'static str,
    },
    /// It is not an executable with fixed addresses.
    NotFixed(&'static str),
    /// A segment lies where programs may not lie.
    OutOfRange {
        /// The segment's first address.
        start: u64,
        /// Its length in memory.
        bytes: u64,
    },
    /// A segment may be written and executed.
    WritableAndExecutable {
        /// The segment's first address.
        start: u64,
    },
    /// Two segments with different rights share a page.
    SharedPage {
        /// The page.
        page: u64,
        /// First address of one segment.
        first: u64,
        /// First address of the other.
        second: u64,
    },
    /// Two segments claim the same bytes.
    Overlap {
        /// First address of one segment.
        first: u64,
        /// First address of the other.
        second: u64,
    },
    /// Nothing is to be loaded.
    Empty,
    /// An entry does not lie in code.
    EntryNotCode {
        /// What begins there.
        what: String,
        /// The address.
        entry: u64,
    },
    /// The table of services is no such table.
    BadServices(String),
    /// The table of restartable sequences is no such table.
    BadSequences(String),
    /// It is larger than the machine's memory.
    TooLarge {
        /// Its length in memory.
        bytes: u64,
        /// The machine's memory.
        memory: u64,
    },
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Incomplete { what, expected, found } => {
                write!(f, "the image needs {expected} {what} and was given {found}; give one for each, in file order")
            }
            ImageError::Late { component, needed, possible, frames } => write!(
                f,
                "component {component:?} is loaded late in {needed} steps, of which {possible} fit into the longest window of its partition in the \
                 {frames} frames before that starts; raise start-frame, lengthen the window, give it less memory, or remove load"
            ),
            ImageError::Monitor { monitor, line, why } => write!(f, "line {line}: monitor {monitor:?}: {why}"),
            ImageError::Program { component, crate_path, error } => {
                write!(f, "{}: {error}", Who(component, crate_path.as_ref()))
            }
            ImageError::MissingService { component, crate_path, service, line, provided } => {
                write!(f, "{} has no service {service:?}", Who(component, crate_path.as_ref()))?;
                if let Some(line) = line {
                    write!(f, ", which line {line} of the system file wants of it")?;
                }
                match provided.as_slice() {
                    [] => write!(f, "; its program exports no services at all: is TACTUS_SERVICES declared there?"),
                    some => write!(f, "; its program provides {}", some.join(", ")),
                }
            }
            ImageError::NotProvided { component, provider, service, line } => write!(
                f,
                "component {component:?} (line {line}) uses {service:?} of {provider:?}, which does not list it; \
                 add it to the list `provides` of {provider:?}"
            ),
            ImageError::TooManyGrants { component, line, grants, ends } => write!(
                f,
                "component {component:?} (line {line}) uses {grants} services; at most {} can be granted, \
                 so join some into one service",
                MAX_GRANTS - ends
            ),
            ImageError::DuplicateGrant { component, line, name } if is_complete(name.as_bytes()) => write!(
                f,
                "component {component:?} (line {line}) calls a service {name:?}, which is the system's own name for \
                 the end of a job; choose another"
            ),
            ImageError::DuplicateGrant { component, line, name } => {
                write!(f, "component {component:?} (line {line}) calls two services {name:?}; give each its own name")
            }
            ImageError::LongGrantName { component, line, name } => write!(
                f,
                "component {component:?} (line {line}) calls a service {name:?}: {} bytes, more than {NAME_BYTES}; \
                 choose a shorter name",
                name.len()
            ),
            ImageError::Circle { names, line } => write!(
                f,
                "components may call each other in a circle: {} (line {line}); a thread could fill its stacks that \
                 way, so take one of these grants out",
                names.join(" → ")
            ),
            ImageError::TooDeep { names } => write!(
                f,
                "calls can go through {} components ({}), at most {MAX_INVOCATIONS} are possible; shorten the chain",
                names.len(),
                names.join(" → ")
            ),
            ImageError::TooMany { what, count, limit } => {
                write!(
                    f,
                    "the system has {count} {what}, an image holds at most {limit}; use fewer tasks or components"
                )
            }
            ImageError::ShortPeriod { task, period, least, line } => write!(
                f,
                "line {line}: the period of task \"{task}\" is {period}; a machine with this instruction time serves {least} or more; \
                 lengthen it, or use `tactus simulate`"
            ),
            ImageError::NoRoom { what, bytes, limit, remedy } => {
                write!(f, "{what}: {bytes} bytes, more than the {} kept for it; {remedy}", format_size(*limit))
            }
            ImageError::Colour { colour, bytes, whose, most, memory, needed } => {
                let size =
                    |bytes: u64| format_size(if bytes < 1 << 20 { bytes } else { bytes.next_multiple_of(1 << 20) });
                let (wanted, most, memory, needed) = (size(*bytes), size(*most), size(*memory), size(*needed));
                write!(
                    f,
                    "memory of colour {colour} is too small: {wanted} of it are wanted, {most} by {whose}, and of the machine's \
                     {memory} each colour has an equal part; write memory = \"{needed}\", or give that part more colours"
                )
            }
            ImageError::Memory { memory, needed, trace, most } => {
                write!(
                    f,
                    "the machine has {} of memory and needs {}, {} of it for the trace of the whole run; ",
                    format_size(*memory),
                    format_size(*needed),
                    // In whole MiB like the others: nobody sets it to the byte.
                    format_size(if *trace < 1 << 20 { *trace } else { trace.next_multiple_of(1 << 20) })
                )?;
                if needed <= most {
                    write!(f, "write memory = \"{}\", or a shorter duration", format_size(*needed))
                } else {
                    write!(f, "a machine has at most {}: write a shorter duration", format_size(*most))
                }
            }
        }
    }
}

impl std::error::Error for ImageError {}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::NotElf(reason) => write!(f, "not an ELF file that can be read: {reason}"),
            ProgramError::WrongMachine { found, wanted } => {
                write!(f, "built for another machine ({found}); build it for {wanted}")
            }
            ProgramError::NotFixed(what) => write!(
                f,
                "{what}; a component has fixed addresses: build it with `-C relocation-model=static` and no shared \
                 libraries"
            ),
            ProgramError::OutOfRange { start, bytes } => write!(
                f,
                "the segment at {start:#x} ({bytes} bytes) does not lie between {PROGRAM:#x} and {INFO:#x}; link it \
                 with `--image-base={PROGRAM:#x}` and without large static data"
            ),
            ProgramError::WritableAndExecutable { start } => write!(
                f,
                "the segment at {start:#x} may be written and executed; link code and data into segments of their own \
                 (no `-N`, no `--omagic`)"
            ),
            ProgramError::SharedPage { page, first, second } => write!(
                f,
                "the segments at {first:#x} and {second:#x} have different rights and share the page {page:#x}; link \
                 with `-z separate-loadable-segments`, or align the segments in the linker script"
            ),
            ProgramError::Overlap { first, second } => {
                write!(f, "the segments at {first:#x} and {second:#x} claim the same bytes; mend the linker script")
            }
            ProgramError::Empty => write!(f, "holds nothing to load; is `_start` kept by the linker?"),
            ProgramError::EntryNotCode { what, entry } => {
                write!(f, "{what} begins at {entry:#x}, where there is no code; is the symbol kept by the linker?")
            }
            ProgramError::BadSequences(why) => {
                write!(f, "TACTUS_SEQUENCES is not a table of restartable sequences: {why}")
            }
            ProgramError::BadServices(why) => write!(f, "TACTUS_SERVICES is not a table of services: {why}"),
            ProgramError::TooLarge { bytes, memory } => write!(
                f,
                "takes {} of memory, the machine has {}; give it more, or link it without large static data",
                format_size(*bytes),
                format_size(*memory)
            ),
        }
    }
}

impl std::error::Error for ProgramError {}

/// Writes `component "x" (/path)` or `the scheduler`.
struct Who<'a>(&'a str, Option<&'a PathBuf>);

impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(path) => write!(f, "component {:?} ({})", self.0, path.display()),
            None => write!(f, "the {}", self.0),
        }
    }
}
