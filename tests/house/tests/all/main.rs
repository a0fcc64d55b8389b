//! The rules of the house: who may import whom, what an addition touches, no circles of files, no wildcards over what a system has, one vocabulary, a short book.

mod additions;
mod arch;
mod arrows;
mod book;
mod circles;
mod header;
mod lab;
mod wildcards;
mod words;
