//! Tests of images, one program for all of them.

mod channels;
mod colours;
mod common;
mod compiled;
mod grants;
mod iso;
mod layout;
mod limits;
mod packed;
mod per_server;
mod platform;
mod programs;
mod sections;
mod slots;
mod verify;
