//! Writes a small Perfetto trace.

#![allow(dead_code)]

pub fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub fn number(field: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3, &mut out);
    varint(value, &mut out);
    out
}

pub fn bytes(field: u64, content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3 | 2, &mut out);
    varint(content.as_ref().len() as u64, &mut out);
    out.extend(content.as_ref());
    out
}

pub fn event(time: u64, kind: u64, content: &[Vec<u8>]) -> Vec<u8> {
    bytes(2, [number(1, time), number(2, 9), bytes(kind, content.concat())].concat())
}

pub fn switch(time: u64, (from, name): (u64, &str), state: u64, (to, next): (u64, &str)) -> Vec<u8> {
    event(time, 4, &[bytes(1, name), number(2, from), number(4, state), bytes(5, next), number(6, to)])
}

pub fn waking(time: u64, name: &str, thread: u64) -> Vec<u8> {
    event(time, 20, &[bytes(1, name), number(2, thread)])
}

pub fn bundle(cpu: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(1, bytes(1, [number(1, cpu), parts.concat()].concat()))
}

/// Two processors, one after the other; on the second one events are missing; one event of an unknown kind.
pub fn small() -> Vec<u8> {
    let first = [
        waking(1_000, "control", 7),
        switch(1_010, (0, "swapper/0"), 0, (7, "control")),
        event(1_020, 3, &[bytes(2, "C|7|job begins")]),
        event(1_030, 300, &[number(1, 1)]),
        switch(3_000, (7, "control"), 1, (0, "swapper/0")),
    ];
    let second = [
        number(3, 1),
        switch(2_000, (9, "worker"), 2, (0, "swapper/1")),
        switch(2_500, (0, "swapper/1"), 0, (10, "x")),
    ];
    let other = bytes(1, bytes(45, "a packet of another kind"));
    [other, bundle(0, &first), bundle(1, &second)].concat()
}
