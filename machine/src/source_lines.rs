//! Where an address of a program is in its sources: function, file and line, from the line tables that every program of a run is built with.

use crate::symbols::{labels, plain};
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use addr2line::Context;
use object::{Object, ObjectSection};
use std::fmt;
use std::fs;
use std::path::Path;

type Slice<'p> = EndianSlice<'p, LittleEndian>;

/// A place in the sources.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The function as its source has it, of those that were inlined the innermost that is not the compiler's library's; nothing where no table says so.
    pub function: Option<String>,
    /// The file, with a path as short as the tables allow, and the line.
    pub file: Option<(String, u32)>,
}

/// `fly::steer (src/main.rs:41)`
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.function, &self.file) {
            (Some(function), Some((file, line))) => write!(f, "{function} ({file}:{line})"),
            (Some(function), None) => f.write_str(function),
            (None, Some((file, line))) => write!(f, "{file}:{line}"),
            (None, None) => f.write_str("a place without a line"),
        }
    }
}

/// Where the address is in the sources of the program in this file; of one without line tables, in which function. Nothing where the file is no
/// program, or says nothing of the address.
pub fn place_of(program: &Path, address: u64) -> Option<Place> {
    if address == u64::MAX {
        return None;
    }
    with_lines(program, |lines| place(lines, address)).or_else(|| {
        let labels = labels(&fs::read(program).ok()?).ok()?;
        let (begin, name) = labels.range(..=address).next_back()?;
        (address - begin < LONGEST).then(|| Place { function: Some(without_hash(&plain(name))), file: None })
    })
}

/// No function is longer.
const LONGEST: u64 = 1 << 20;

/// The function that has this line of this file, as a panic tells them: `src/main.rs` and 41.
pub fn function_at(program: &Path, file: &str, line: u32) -> Option<String> {
    with_lines(program, |lines| {
        let mut of_line = lines.find_location_range(0, u64::MAX).ok()?;
        let here = |it: &addr2line::Location| it.line == Some(line) && it.file.is_some_and(|name| name.ends_with(file));
        let (address, ..) = of_line.find(|(.., it)| here(it))?;
        place(lines, address)?.function
    })
}

/// Part of the path of every file of the compiler's library.
const LIBRARY: &str = "/library/";

fn with_lines<T>(program: &Path, ask: impl FnOnce(&Context<Slice>) -> Option<T>) -> Option<T> {
    let bytes = fs::read(program).ok()?;
    let elf = object::File::parse(&*bytes).ok()?;
    let section = |id: SectionId| -> Result<Slice, addr2line::gimli::Error> {
        let data = elf.section_by_name(id.name()).and_then(|it| it.data().ok()).unwrap_or_default();
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let lines = Context::from_dwarf(Dwarf::load(section).ok()?).ok()?;
    ask(&lines)
}

fn place(lines: &Context<Slice>, address: u64) -> Option<Place> {
    let mut frames = lines.find_frames(address).skip_all_loads().ok()?;
    let mut innermost = None;
    while let Some(frame) = frames.next().ok()? {
        let function = frame.function.as_ref().and_then(|it| it.demangle().ok()).map(|name| without_hash(&name));
        let file = frame.location.as_ref().and_then(|it| it.file);
        let line = frame.location.as_ref().and_then(|it| it.line);
        let place = Place { function, file: file.map(short).zip(line) };
        if file.is_some_and(|file| !file.contains(LIBRARY)) {
            return Some(place);
        }
        innermost = innermost.or(Some(place));
    }
    innermost.filter(|place| place.function.is_some() || place.file.is_some())
}

/// A function without the number that tells versions apart.
fn without_hash(name: &str) -> String {
    match name.rsplit_once("::h") {
        Some((before, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => before.into(),
        _ => name.into(),
    }
}

/// The file from its crate on: `src/main.rs`; of the compiler's library from there on: `core/src/slice/mod.rs`.
fn short(file: &str) -> String {
    if let Some((_, library)) = file.split_once(LIBRARY) {
        return library.into();
    }
    match file.rfind("/src/") {
        Some(place) => file[place + 1..].into(),
        None => file.rsplit('/').next().unwrap_or(file).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn named_by_this_test() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn a_function_of_this_program_is_named_with_its_file() {
        // Where the linker has put the program does not matter to the distance of two functions of it.
        let program = std::env::current_exe().expect("a program");
        let labels = labels(&fs::read(&program).expect("its file")).expect("symbols");
        let own = labels.iter().find(|(_, name)| name.contains("named_by_this_test"));
        let (address, _) = own.expect("the function has a symbol");
        assert_eq!(named_by_this_test(), 7);
        let place = place_of(&program, *address).expect("it is in a function");
        assert!(place.function.as_ref().is_some_and(|name| name.contains("named_by_this_test")), "{place}");
        // Built without line tables, it has none to tell.
        assert!(place.file.as_ref().is_none_or(|(file, _)| file == "src/source_lines.rs"), "{place}");
        assert_eq!([1 << 62, u64::MAX].map(|address| place_of(&program, address)), [None, None]);
        assert_eq!(place_of(Path::new("/nowhere"), *address), None);
    }

    #[test]
    fn files_are_told_from_their_crate_on() {
        assert_eq!(short("/home/me/fly/src/main.rs"), "src/main.rs");
        assert_eq!(short("/rustc/0123/library/core/src/slice/mod.rs"), "core/src/slice/mod.rs");
        assert_eq!(without_hash("fly::steer::h0123456789abcdef"), "fly::steer");
    }
}
