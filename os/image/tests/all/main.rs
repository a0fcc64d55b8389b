//! Tests of images, one program for all of them.

mod per_server;
mod common;
mod compiled;
mod grants;
mod iso;
mod layout;
mod platform;
mod programs;
mod verify;
