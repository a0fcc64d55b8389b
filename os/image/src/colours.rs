//! Which colours each component's memory has, and how many frames of each colour a system takes.

use crate::parts::{Parts, SCHEDULER};
use crate::ImageError;
use tactus_abi::image::{Interleaved, Memory, MemoryKind, NO_COMPONENT};
use tactus_abi::layout::PAGE;
use tactus_model::{every_colour, Body, ColourBits, System, KERNEL_MEMORY};

/// The kernel's own frames at most: what it is loaded with, and the tables of its half.
const KERNEL_PAGES: u64 = (KERNEL_MEMORY - (1 << 20)) / PAGE + 64;

/// The colours of everything.
pub(crate) struct Colouring {
    pub colours: u32,
    /// Whether any part has not all of them.
    pub assigned: bool,
    pub kernel: ColourBits,
    /// By component number.
    pub components: Vec<ColourBits>,
    /// Of the frames that its window may show, by component number.
    pub windows: Vec<ColourBits>,
}

impl Colouring {
    pub fn of(system: &System, parts: &Parts) -> Colouring {
        let (colours, count) = (system.platform.colours, parts.components.len());
        let every = every_colour(colours);
        let Some(assignment) = &system.platform.colour_assignment else {
            let all = vec![every; count];
            return Colouring { colours, assigned: false, kernel: every, components: all.clone(), windows: all };
        };
        let components = parts.components.iter().map(|part| {
            let workload = part.tasks.first().filter(|task| system.tasks[task.index()].body == Body::Workload);
            match (part.user, workload) {
                (Some(place), _) => assignment.components[place],
                (None, Some(task)) => assignment.tasks[task.index()],
                (None, None) => assignment.rest,
            }
        });
        let components: Vec<ColourBits> = components.collect();
        let mut windows = components.clone();
        for it in &system.platform.buffers {
            let shared = it.colours.iter().fold(0, |bits, colour| bits | 1 << colour);
            for place in &it.between {
                windows[parts.numbers[*place]] |= shared;
            }
        }
        if let Some((loader, _)) = system.loader() {
            for slot in &system.slots {
                windows[parts.numbers[loader]] |= components[parts.numbers[slot.component]];
            }
        }
        Colouring { colours, assigned: true, kernel: assignment.kernel, components, windows }
    }

    /// The pages of the trace, which have the root scheduler's colours.
    pub fn trace(&self) -> Interleaved {
        Interleaved { bits: self.components[SCHEDULER], colours: self.colours }
    }
}

/// Frames by colour, and who takes most of each.
pub(crate) struct Demand {
    colours: u32,
    /// By colour.
    pages: Vec<u64>,
    /// By colour and component; the kernel's come last.
    by: Vec<Vec<u64>>,
}

impl Demand {
    pub fn new(colouring: &Colouring) -> Demand {
        let colours = colouring.colours;
        let by = vec![vec![0; colouring.components.len() + 1]; colours as usize];
        let mut demand = Demand { colours, pages: vec![0; colours as usize], by };
        demand.add(colouring.kernel, KERNEL_PAGES, None);
        demand
    }

    /// So many pages of these colours, for a component or for the kernel.
    pub fn add(&mut self, bits: ColourBits, pages: u64, component: Option<usize>) {
        let each = pages.div_ceil(u64::from(bits.count_ones().max(1)));
        for colour in (0..self.colours as usize).filter(|colour| bits >> colour & 1 != 0) {
            self.pages[colour] += each;
            let last = self.by[colour].len() - 1;
            self.by[colour][component.unwrap_or(last)] += each;
        }
    }

    /// All memory objects but those that lie elsewhere, with what is kept to restart a component.
    pub fn objects(&mut self, memories: &[Memory], seen_by: &[Option<usize>], restarted_by: &[u32]) {
        const ELSEWHERE: [u32; 5] = [
            MemoryKind::InPlace as u32,
            MemoryKind::Trace as u32,
            MemoryKind::Device as u32,
            MemoryKind::Pci as u32,
            MemoryKind::Mailbox as u32,
        ];
        for (it, by) in memories.iter().zip(seen_by).filter(|(it, _)| !ELSEWHERE.contains(&it.kind)) {
            self.add(it.colours, it.bytes / PAGE, *by);
            if by.is_some_and(|by| restarted_by[by] != NO_COMPONENT) && it.kind == MemoryKind::Copied as u32 {
                self.add(it.colours, it.file_bytes.div_ceil(PAGE), *by);
            }
        }
    }

    /// How much memory holds as many frames of each colour as are wanted of any (bytes).
    pub fn bytes(&self) -> u64 {
        self.pages.iter().max().copied().unwrap_or(0) * u64::from(self.colours) * PAGE
    }

    /// That the machine's memory holds it all.
    pub fn fits(&self, system: &System, parts: &Parts, beside: u64) -> Result<(), ImageError> {
        let needed = self.bytes().saturating_add(beside);
        if needed <= system.memory {
            return Ok(());
        }
        let (colour, pages) = self.pages.iter().enumerate().max_by_key(|(_, pages)| **pages).unwrap_or((0, &0));
        let (most, of) = self.by[colour].iter().enumerate().max_by_key(|(_, pages)| **pages).unwrap_or((0, &0));
        let whose =
            parts.components.get(most).map_or("the kernel".to_string(), |it| format!("component {:?}", it.name));
        let (bytes, most) = (pages * PAGE, of * PAGE);
        Err(ImageError::Colour { colour: colour as u32, bytes, whose, most, memory: system.memory, needed })
    }
}
