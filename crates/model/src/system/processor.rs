//! The processor of the machine that a system runs on.

/// A processor that the kernel runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Processor {
    /// x86-64: what everything is measured on.
    #[default]
    X86,
    /// AArch64.
    Arm,
}

impl Processor {
    /// All of them, by their names.
    pub const ALL: [(&'static str, Processor); 2] = [("x86_64", Processor::X86), ("aarch64", Processor::Arm)];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Processor::X86 => "x86_64",
            Processor::Arm => "aarch64",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// The names that there are.
    pub fn named(text: &str) -> Result<Processor, String> {
        let names = Processor::ALL.map(|(name, _)| name).join(" or ");
        Processor::ALL.iter().find(|(name, _)| *name == text).map(|(_, it)| *it).ok_or(format!("write {names}"))
    }
}
