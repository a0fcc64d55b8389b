//! Functions and labels of a program, by their addresses.

use object::elf::PT_LOAD;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionKind};
use std::collections::BTreeMap;

/// Functions and labels, by address.
pub type Labels = BTreeMap<u64, String>;

/// The functions and labels of a program.
pub fn labels(program: &[u8]) -> Result<Labels, object::Error> {
    let elf = object::File::parse(program)?;
    let code: Vec<_> = elf.sections().filter(|it| it.kind() == SectionKind::Text).map(|it| it.index()).collect();
    let within = |symbol: &object::Symbol| symbol.section_index().is_some_and(|it| code.contains(&it));
    let named = elf.symbols().filter(within).filter_map(|it| Some((it.address(), it.name().ok()?.to_string())));
    Ok(named.filter(|it| !it.1.is_empty()).collect())
}

/// Where a program begins.
pub fn entry(program: &[u8]) -> Result<u64, object::Error> {
    Ok(object::File::parse(program)?.entry())
}

/// A piece of a program that is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Where it is in the file.
    pub offset: u64,
    /// Its physical address.
    pub address: u64,
    /// Bytes of the file.
    pub copied: u64,
    /// Length in memory, zeros behind the file's bytes included.
    pub length: u64,
}

/// What of a program is loaded.
pub fn pieces(program: &[u8]) -> Result<Vec<Piece>, object::Error> {
    let elf = ElfFile64::<Endianness>::parse(program)?;
    let end = elf.endian();
    let loaded = elf.elf_program_headers().iter().filter(|it| it.p_type(end) == PT_LOAD && it.p_memsz(end) > 0);
    let piece = |it: &_| -> Piece {
        let it: &object::elf::ProgramHeader64<Endianness> = it;
        Piece { offset: it.p_offset(end), address: it.p_paddr(end), copied: it.p_filesz(end), length: it.p_memsz(end) }
    };
    Ok(loaded.map(piece).collect())
}

/// A symbol as the sources have it: `tactus_kernel::upcall::start` for Rust's long form.
pub fn plain(symbol: &str) -> String {
    let Some(mut rest) = symbol.strip_prefix("_ZN") else { return symbol.to_string() };
    let mut parts = Vec::new();
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0) {
        let Some(part) = rest[..end].parse().ok().and_then(|length: usize| rest.get(end..end + length)) else { break };
        parts.push(part);
        rest = &rest[end + part.len()..];
    }
    // The last part is a number that tells versions apart.
    parts.pop();
    let words = parts.join("::").replace("$LT$", "<").replace("$GT$", ">").replace("$u20$", " ").replace("..", "::");
    words.replace("_<", "<").replace("$C$", ",").replace("$RF$", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_read_as_the_sources_have_them() {
        assert_eq!(plain("trap_timer"), "trap_timer");
        assert_eq!(plain("_ZN13tactus_kernel6upcall5start17h0123456789abcdefE"), "tactus_kernel::upcall::start");
    }
}
