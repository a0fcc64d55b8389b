//! Memory of a colour that the program chooses, in a component whose heap is in parts by colour (`heap-by-colour = true` in the system file).
//!
//! Colours are counted from 0 in the order of the component's `colours`. What is taken in any other way (`Box::new`, a `Vec` that grows)
//! has the colour of the thread that takes it: the thread's number in the component modulo the colours. Whatever is dropped goes back to the
//! colour that it came from, which its address tells, so that a block is no longer than without colours.

use crate::allocator::global::{heaps, thread};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::mem::size_of;

/// How many colours the heap has: 1 where it is in one part.
pub fn colours() -> usize {
    heaps().count()
}

/// In which colour this lies, if it lies in the heap.
pub fn of<T: ?Sized>(it: &T) -> usize {
    heaps().of(core::ptr::from_ref(it).cast())
}

/// The value in memory of this colour; the value itself, if there is no such colour or too little memory in it.
///
/// # Errors
/// See above.
pub fn boxed<T>(colour: usize, value: T) -> Result<Box<T>, T> {
    if size_of::<T>() == 0 {
        return Ok(Box::new(value));
    }
    let place = heaps().allocate(colour, thread(), Layout::new::<T>()).cast::<T>();
    if place.is_null() {
        return Err(value);
    }
    // SAFETY: memory for a `T`, nobody else's, of the allocator to which the box gives it back.
    unsafe {
        place.write(value);
        Ok(Box::from_raw(place))
    }
}

/// An empty vector with room for so many values in this colour; nothing, if there is no such colour or too little memory in it. What
/// exceeds that room moves the vector to the colour of the thread that adds it.
pub fn vec<T>(colour: usize, capacity: usize) -> Option<Vec<T>> {
    let layout = Layout::array::<T>(capacity).ok()?;
    if layout.size() == 0 {
        return Some(Vec::new());
    }
    let place = heaps().allocate(colour, thread(), layout).cast::<T>();
    // SAFETY: memory for so many values, nobody else's, of the allocator to which the vector gives it back.
    (!place.is_null()).then(|| unsafe { Vec::from_raw_parts(place, 0, capacity) })
}
