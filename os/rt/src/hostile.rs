//! For components that test and measure the kernel: what a scheduler of good will never does.
//!
//! They look at every field of their regions and write what they like there, lock and unlock where they should not, call the kernel
//! with anything, read memory that nobody has, and count instructions too closely for a function around them. All of it is safe to
//! call: in the regions ([`Field`]) lies nothing that Rust knows of, every place in them is checked, and what the kernel refuses it
//! refuses by stopping the component.

use crate::arch::hostile as arch;
use crate::calls;
use crate::region;
use crate::sequences;
use core::mem::{align_of, offset_of, size_of};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use tactus_abi::layout::{MAX_CORES, REGIONS, REGION_STRIDE, SLOTS};
use tactus_abi::shared::{Fault, Region, Slot};

mod sealed {
    /// # Safety
    /// Any bits are a value.
    pub unsafe trait AnyBits: Copy {}
    // SAFETY: integers, and structures of integers without gaps.
    unsafe impl AnyBits for u16 {}
    // SAFETY: as above.
    unsafe impl AnyBits for u64 {}
    // SAFETY: as above.
    unsafe impl AnyBits for super::Slot {}
    // SAFETY: as above.
    unsafe impl AnyBits for super::Fault {}
}
use sealed::AnyBits;

/// A place in the component's region of one core. Whoever is no scheduler has none, and is stopped where it looks.
pub struct Field<T>(*mut T);

impl<T> Clone for Field<T> {
    fn clone(&self) -> Field<T> {
        *self
    }
}

impl<T> Copy for Field<T> {}

/// The place of a field of the region of a core: `region_field!(0, events)`, `region_field!(0, slots[3])`,
/// `region_field!(0, slots[3].urgency)`.
#[macro_export]
macro_rules! region_field {
    ($core:expr, slots[$slot:expr]) => {
        $crate::hostile::slot($core, $slot)
    };
    ($core:expr, slots[$slot:expr].$field:ident) => {
        $crate::hostile::slot($core, $slot)
            .part(core::mem::offset_of!($crate::abi::shared::Slot, $field), |it: &$crate::abi::shared::Slot| &it.$field)
    };
    ($core:expr, $field:ident) => {
        $crate::hostile::field(
            $core,
            core::mem::offset_of!($crate::abi::shared::Region, $field),
            |it: &$crate::abi::shared::Region| &it.$field,
        )
    };
}

/// The place this far into a structure, which `_type` gives its type. Stops the component if that lies outside.
#[inline(always)]
fn inside<S, T>(base: *mut S, offset: usize) -> Field<T> {
    assert!(offset % align_of::<T>() == 0 && offset + size_of::<T>() <= size_of::<S>(), "no place in here");
    Field(base.wrapping_byte_add(offset).cast())
}

/// For [`region_field!`]: the field at this offset, whose type `_type` tells.
#[inline(always)]
pub fn field<T>(core: u8, offset: usize, _type: fn(&Region) -> &T) -> Field<T> {
    inside(region::of(core % MAX_CORES as u8), offset)
}

/// The slot with this number, or the last one.
#[inline(always)]
pub fn slot(core: u8, slot: usize) -> Field<Slot> {
    field(core, offset_of!(Region, slots) + slot.min(SLOTS - 1) * size_of::<Slot>(), |it| &it.slots[0])
}

/// Any word of the region of a core, numbered from 0; again from its beginning behind the last one.
#[inline(always)]
pub fn word(core: u8, number: u64) -> Field<u64> {
    Field(region::of(core % MAX_CORES as u8).cast::<u64>().wrapping_add((number % (REGION_STRIDE / 8)) as usize))
}

/// The word at this address. None if no region of any core is there.
pub fn word_at(address: u64) -> Option<Field<u64>> {
    let offset = address.checked_sub(REGIONS).filter(|it| it % 8 == 0)?;
    (offset < REGION_STRIDE * MAX_CORES as u64).then_some(Field(address as *mut u64))
}

impl<S> Field<S> {
    /// For [`region_field!`]: a part of it, whose type `_type` tells.
    #[inline(always)]
    pub fn part<T>(self, offset: usize, _type: fn(&S) -> &T) -> Field<T> {
        inside(self.0, offset)
    }
}

#[allow(private_bounds)]
impl<T: AnyBits> Field<T> {
    /// What stands there.
    #[inline(always)]
    pub fn read(self) -> T {
        // SAFETY: a place in the window of regions, where any bits are a value of this type, and where nothing lies that is
        // reached but through pointers like this one.
        unsafe { self.0.read_volatile() }
    }

    /// Writes there.
    #[inline(always)]
    pub fn write(self, value: T) {
        // SAFETY: as above.
        unsafe { self.0.write_volatile(value) }
    }
}

impl Field<Slot> {
    /// Takes link and flags, which are one word, and leaves zero.
    pub fn take_link(self) -> (u16, u16) {
        // SAFETY: as in `read`; the word is aligned as the slot is.
        let taken = unsafe { AtomicU32::from_ptr(self.0.cast()) }.swap(0, SeqCst);
        (taken as u16, (taken >> 16) as u16)
    }
}

impl Field<u64> {
    /// Exchanges the word, in one instruction.
    #[inline(always)]
    pub fn swap(self, value: u64) -> u64 {
        // SAFETY: as in `read`.
        unsafe { AtomicU64::from_ptr(self.0) }.swap(value, SeqCst)
    }

    /// Takes the lower half and leaves zero, by the restartable sequence.
    #[inline(always)]
    pub fn take_word(self) -> u32 {
        // SAFETY: as in `read`. What another core writes meanwhile may be lost, and nothing else.
        unsafe { sequences::take_word(self.0.cast()) }
    }

    /// The same two instructions where the kernel does not look.
    #[inline(never)]
    pub fn take_word_unprotected(self) -> u32 {
        // SAFETY: as in `read`.
        unsafe { arch::take_word(self.0.cast()) }
    }

    /// The restartable exchange, see [`sequences::exchange`].
    #[inline(always)]
    pub fn exchange(self, expected: u64, new: u64) -> u64 {
        // SAFETY: as for `take_word`.
        unsafe { sequences::exchange(self.0, expected, new) }
    }

    /// Takes it as if it were the scheduler lock, for this thread, whoever runs.
    #[inline(always)]
    pub fn lock(self, thread: u64) {
        // SAFETY: as for `take_word`. Who names another thread than the running one excludes nobody, and the kernel dispatches
        // what it names.
        unsafe { sequences::take_lock(self.0, thread) }
    }

    /// Releases it, whoever took it.
    #[inline(always)]
    pub fn unlock(self) {
        // SAFETY: as in `lock`.
        unsafe { sequences::release_lock(self.0) }
    }
}

/// The restartable exchange on a variable of the component, which no other core writes: else that may be lost.
#[inline(always)]
pub fn exchange(place: &AtomicU64, expected: u64, new: u64) -> u64 {
    // SAFETY: an atomic may be read and written by anybody.
    unsafe { sequences::exchange(place.as_ptr(), expected, new) }
}

/// Reads a byte anywhere. Where the component has no memory, the kernel stops it.
#[inline(always)]
pub fn read_anywhere(address: u64) -> u8 {
    arch::read_anywhere(address)
}

/// An instruction of the floating-point unit that does nothing. Where the component has no such unit, the kernel stops it.
#[inline(always)]
pub fn touch_floating_point() {
    arch::touch_floating_point();
}

/// Any call with any words: status and first word that came back. No function is around it, so that a clock beside it counts the
/// call alone.
#[inline(always)]
pub fn call(number: u64, [a, b, c, d, e]: [u64; 5]) -> (u64, u64) {
    let (status, [value, _]) = calls::enter(number, [a, b, c, d, e, 0]);
    (status, value)
}

/// Whether every register that a call does not give back comes back cleared. Set to ones before.
pub fn comes_back_clean(call: u64, grant: u64) -> bool {
    arch::comes_back_clean(call, grant)
}
