//! Right images, to be damaged: their parts are changed by the offsets of the fields, which are written down here once more.

use tactus_abi::image::{Component, Grant, Header, Mapping, Memory, Thread};
use tactus_image::{verify, Parsed};

/// An image whose parts can be changed.
pub struct Draft {
    pub bytes: Vec<u8>,
    pub parsed: Parsed,
}

impl Draft {
    /// From a right image.
    pub fn new(bytes: Vec<u8>) -> Draft {
        let parsed = verify(&bytes).unwrap();
        Draft { bytes, parsed }
    }

    pub fn u32(&mut self, at: usize, value: u32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    pub fn u64(&mut self, at: usize, value: u64) {
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Where the component with this number stands.
    pub fn component(&self, number: usize) -> usize {
        size_of::<Header>() + number * size_of::<Component>()
    }

    pub fn grant(&self, number: usize) -> usize {
        self.component(self.parsed.components.len()) + number * size_of::<Grant>()
    }

    pub fn memory(&self, number: usize) -> usize {
        self.grant(self.parsed.grants.len()) + number * size_of::<Memory>()
    }

    pub fn mapping(&self, number: usize) -> usize {
        self.memory(self.parsed.memories.len()) + number * size_of::<Mapping>()
    }

    pub fn thread(&self, number: usize) -> usize {
        self.mapping(self.parsed.mappings.len()) + number * size_of::<Thread>()
    }

    /// The number of the component's mapping at this address.
    fn number(&self, component: usize, address: u64) -> usize {
        let here = |it: &Mapping| (it.component as usize, it.address) == (component, address);
        let found = self.parsed.mappings.iter().position(here);
        found.unwrap_or_else(|| panic!("component {component} has nothing at {address:#x}"))
    }

    /// The component's mapping at this address.
    pub fn at(&self, component: usize, address: u64) -> usize {
        self.mapping(self.number(component, address))
    }

    /// The number of the memory that it shows.
    pub fn memory_at(&self, component: usize, address: u64) -> usize {
        self.parsed.mappings[self.number(component, address)].memory as usize
    }

    /// The memory that it shows.
    pub fn shown(&self, component: usize, address: u64) -> usize {
        self.memory(self.memory_at(component, address))
    }

    /// Where the contents of it lie in the image.
    pub fn contents(&self, component: usize, address: u64) -> usize {
        self.parsed.memories[self.memory_at(component, address)].offset as usize
    }
}

/// Changes a right image and gives what verification says then.
pub fn after(bytes: Vec<u8>, change: impl FnOnce(&mut Draft)) -> String {
    let mut draft = Draft::new(bytes.clone());
    change(&mut draft);
    assert_ne!(bytes, draft.bytes, "the change must change something");
    verify(&draft.bytes).map_or_else(|error| error.to_string(), |_| "nothing".to_string())
}

/// A test for each kind of damage of the image: it is caught, in these words.
macro_rules! caught {
    ($image:expr; $($name:ident: $change:expr => $says:literal;)*) => {
        $(#[test]
        fn $name() {
            let said = $crate::common::draft::after($image, $change);
            assert!(said.contains($says), "{said}");
        })*
    };
}
pub(crate) use caught;
