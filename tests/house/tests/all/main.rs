//! The rules of the house: who may import whom, no circles of files, one vocabulary, a short book.

mod arrows;
mod book;
mod circles;
mod header;
mod words;
