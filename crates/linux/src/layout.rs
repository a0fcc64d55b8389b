//! Where the fields of an event lie: the kernel's own words (`events/…/format` of tracefs).

use std::borrow::Cow;
use std::collections::HashMap;

/// The events that matter here.
const KNOWN: [&str; 5] = ["sched_switch", "sched_wakeup", "sched_waking", "sched_wakeup_new", "print"];

/// The layouts of the events that matter, by the number that each event begins with.
#[derive(Default)]
pub(crate) struct Layouts(HashMap<u16, Layout>);

impl Layouts {
    /// Takes a layout in, if its event matters. What is no layout is passed over.
    pub(crate) fn add(&mut self, format: &[u8]) {
        let format = String::from_utf8_lossy(format);
        let value = |key: &str| format.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let (Some(name), Some(id)) = (value("name:"), value("ID:").and_then(|id| id.parse().ok())) else { return };
        if KNOWN.contains(&name) {
            let fields = format.lines().filter_map(field).collect();
            let flags = value("print fmt:").map(flags).unwrap_or_default();
            self.0.insert(id, Layout { name: name.into(), fields, flags });
        }
    }

    /// The layout of an event.
    pub(crate) fn of(&self, event: &[u8]) -> Option<&Layout> {
        let number = event.get(..2)?;
        self.0.get(&u16::from_le_bytes([number[0], number[1]]))
    }
}

/// The layout of one kind of event.
pub(crate) struct Layout {
    pub(crate) name: String,
    fields: HashMap<String, Field>,
    /// What the kernel calls the bits of a number of the event, in the order in which it looks at them.
    flags: Vec<(u64, String)>,
}

struct Field {
    offset: usize,
    size: usize,
    /// It holds where its content lies: offset and length, 16 bits each.
    elsewhere: bool,
}

/// `field:char prev_comm[16]; offset:8; size:16; signed:0;`, a tab before each part.
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let number = |part: Option<&str>, key: &str| part?.strip_prefix(key)?.parse().ok();
    let (offset, size) = (number(parts.next(), "offset:")?, number(parts.next(), "size:")?);
    let name = declared.split_whitespace().last()?.split('[').next()?;
    Some((name.to_owned(), Field { offset, size, elsewhere: declared.starts_with("__data_loc") }))
}

/// `… __print_flags(REC->prev_state & 0xff, "|", { 0x01, "S" }, { 0x02, "D" }, …) …`
fn flags(print: &str) -> Vec<(u64, String)> {
    let flag = |text: &str| {
        let (bits, name) = text.split('}').next()?.split_once(',')?;
        let bits = bits.trim();
        let bits = bits.strip_prefix("0x").map_or(bits.parse(), |hex| u64::from_str_radix(hex, 16)).ok()?;
        Some((bits, name.trim().trim_matches('"').to_owned()))
    };
    print.split('{').skip(1).filter_map(flag).collect()
}

impl Layout {
    /// What the kernel calls the first bit that a number has; nothing if it has no name for any.
    pub(crate) fn flag(&self, number: u64) -> Option<&str> {
        self.flags.iter().find(|(bits, _)| number & bits != 0).map(|(_, name)| name.as_str())
    }

    /// A number of the event.
    pub(crate) fn number(&self, event: &[u8], name: &str) -> Option<u64> {
        let field = self.fields.get(name).filter(|field| field.size <= 8)?;
        let bytes = event.get(field.offset..field.offset.checked_add(field.size)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A text of the event, up to a zero; one without a size goes to the event's end.
    pub(crate) fn text<'e>(&self, event: &'e [u8], name: &str) -> Option<Cow<'e, str>> {
        let field = self.fields.get(name)?;
        let (from, size) = match field.elsewhere {
            true => {
                self.number(event, name).map(|place| ((place & 0xffff) as usize, (place >> 16) as usize & 0xffff))?
            }
            false => (field.offset, field.size),
        };
        let end = if size == 0 { event.len() } else { from.checked_add(size)? };
        let bytes = event.get(from..end)?;
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..length]))
    }
}
