//! The rules of the house: who may import whom, no circles of files, one vocabulary.

mod arrows;
mod circles;
mod words;
