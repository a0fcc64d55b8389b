//! A load, step by step: what the loader does in each of its jobs, and how many jobs that takes.
//!
//! Each step is bounded. The first ones look at the package: who signed it and whether it fits, whether its tasks meet their deadlines,
//! its digest a piece at a time, its segments. Whatever refuses it does so there, before anything of the slot was touched. Then the
//! slot's threads and own memory are set back, the program's pages are written, and its tasks are handed to the scheduler. The loader
//! does what [`Loading::step`] says; the host takes the same steps without doing anything, so both count alike.

use crate::admission::Work;
use crate::keys::TrustedKey;
use crate::manifest::Manifest;
use crate::program::{Page, Program};
use crate::refusal::Refusal;
use crate::slot::{admitted, vouched, Candidate, Slot};

/// Bytes of a program whose digest one step takes.
pub const DIGEST_BYTES: usize = 16 << 10;
/// Of the kernel's steps that set a component back, how many one step of the loader makes.
pub const SET_BACK_STEPS: u64 = 16;
/// Pages that one step writes, or takes away again.
pub const PAGES: u64 = 16;

/// What the loader has to do for one step, beside what [`Loading::step`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Nothing: the package was looked at.
    Look,
    /// So many of the kernel's steps that set the slot's component back, from this one on.
    SetBack {
        /// The first.
        from: u64,
        /// How many.
        count: u64,
    },
    /// So many pages, from this one on, as [`Loading::page`] has them.
    Write {
        /// The first.
        from: u64,
        /// How many.
        count: u64,
    },
    /// The tasks go to the scheduler. The load is over.
    HandOver,
}

/// Where a load stands.
#[derive(Clone)]
enum Phase<'b> {
    Vouch,
    Admit(Candidate<'b>),
    Digest(Candidate<'b>),
    Check(Candidate<'b>),
    SetBack(u64),
    Write(u64),
    HandOver,
    Over,
}

/// A load that is under way.
#[derive(Clone)]
pub struct Loading<'b> {
    package: &'b [u8],
    /// The kernel's steps to set the slot back.
    set_back: u64,
    phase: Phase<'b>,
    manifest: Option<Manifest<'b>>,
    program: Option<Program<'b>>,
    blamed: Option<usize>,
}

impl<'b> Loading<'b> {
    /// A load that begins. `set_back` is how many steps the kernel takes to set the slot's component back.
    pub fn new(package: &'b [u8], set_back: u64) -> Self {
        Loading { package, set_back, phase: Phase::Vouch, manifest: None, program: None, blamed: None }
    }

    /// Takes the next step and says what the loader has to do for it; nothing once the load is over.
    ///
    /// # Errors
    /// If the package is refused. The load is over then, and nothing of the slot was touched.
    pub fn step(&mut self, keys: &[TrustedKey], slot: &Slot<'_>, work: Work) -> Result<Option<Step>, Refusal<'b>> {
        // What is refused stays over.
        match core::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Vouch => self.phase = Phase::Admit(vouched(self.package, keys, slot)?),
            Phase::Admit(candidate) => {
                if let Err(refusal) = admitted(&candidate.manifest, slot, work) {
                    let named = |name: &str| candidate.manifest.tasks.iter().position(|it| it.name == name);
                    self.blamed = refusal.task().and_then(named);
                    return Err(refusal);
                }
                self.phase = Phase::Digest(candidate);
            }
            Phase::Digest(mut candidate) => {
                self.phase =
                    if candidate.read(DIGEST_BYTES) { Phase::Check(candidate) } else { Phase::Digest(candidate) };
            }
            Phase::Check(candidate) => {
                let manifest = candidate.manifest;
                (self.program, self.manifest) = (Some(candidate.program()?), Some(manifest));
                self.phase = self.set_back_from(0);
            }
            Phase::SetBack(from) => {
                let count = SET_BACK_STEPS.min(self.set_back - from);
                self.phase = self.set_back_from(from + count);
                return Ok(Some(Step::SetBack { from, count }));
            }
            Phase::Write(from) => {
                let count = PAGES.min(self.pages() - from);
                self.phase = self.write_from(from + count);
                return Ok(Some(Step::Write { from, count }));
            }
            Phase::HandOver => return Ok(Some(Step::HandOver)),
            Phase::Over => return Ok(None),
        }
        Ok(Some(Step::Look))
    }

    fn set_back_from(&self, from: u64) -> Phase<'b> {
        if from < self.set_back {
            Phase::SetBack(from)
        } else {
            self.write_from(0)
        }
    }

    fn write_from(&self, from: u64) -> Phase<'b> {
        if from < self.pages() {
            Phase::Write(from)
        } else {
            Phase::HandOver
        }
    }

    /// What the package says of itself, once it can no longer be refused.
    pub fn manifest(&self) -> Option<&Manifest<'b>> {
        self.manifest.as_ref()
    }

    /// The task by which the package was refused, by its place in the manifest.
    pub fn blamed(&self) -> Option<usize> {
        self.blamed
    }

    /// The program, once the package can no longer be refused.
    pub fn program(&self) -> Option<&Program<'b>> {
        self.program.as_ref()
    }

    /// Pages of the program; 0 as long as the package can be refused.
    pub fn pages(&self) -> u64 {
        self.program.as_ref().map_or(0, Program::pages)
    }

    /// The page of the program with this number.
    pub fn page(&self, number: u64) -> Option<Page<'b>> {
        self.program.as_ref()?.page(number)
    }
}

/// What becomes of a load, and after how many steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome<'b> {
    /// Steps, that is jobs of the loader; in the last one it is refused or handed over.
    pub steps: u64,
    /// The manifest and the pages that the program takes, or why it is refused.
    pub result: Result<(Manifest<'b>, u64), Refusal<'b>>,
}

/// Takes all steps of a load without doing anything. See [`Loading`].
pub fn steps<'b>(package: &'b [u8], set_back: u64, keys: &[TrustedKey], slot: &Slot<'_>, work: Work) -> Outcome<'b> {
    let mut loading = Loading::new(package, set_back);
    let mut steps = 0;
    let refusal = loop {
        match loading.step(keys, slot, work) {
            Ok(Some(_)) => steps += 1,
            Ok(None) => break None,
            Err(refusal) => {
                steps += 1;
                break Some(refusal);
            }
        }
    };
    let result = match (refusal, loading.manifest) {
        (Some(refusal), _) => Err(refusal),
        (None, Some(manifest)) => Ok((manifest, loading.pages())),
        (None, None) => unreachable!("a load ends with a refusal or a manifest"),
    };
    Outcome { steps, result }
}

/// What the loader has to do for one step of an unload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnloadStep {
    /// The scheduler ends the tasks.
    HandBack,
    /// The component is stopped: nobody enters it any more.
    Stop,
    /// So many of the pages that were written, from this one on, are taken away and given back.
    Unmap {
        /// The first.
        from: u64,
        /// How many.
        count: u64,
    },
}

/// The step with this number of the unload of a program with this number of pages; nothing once it is over.
pub fn unload_step(number: u64, pages: u64) -> Option<UnloadStep> {
    match number {
        0 => Some(UnloadStep::HandBack),
        1 => Some(UnloadStep::Stop),
        _ => {
            let from = (number - 2).checked_mul(PAGES).filter(|from| *from < pages)?;
            Some(UnloadStep::Unmap { from, count: PAGES.min(pages - from) })
        }
    }
}

/// Steps of the unload of a program with this number of pages.
pub fn unload_steps(pages: u64) -> u64 {
    2 + pages.div_ceil(PAGES)
}
