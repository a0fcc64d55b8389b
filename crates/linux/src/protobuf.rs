//! The wire format of Protocol Buffers: a message is fields, each a number and a value.

/// The value of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value<'m> {
    /// A varint, or a number of fixed length.
    Number(u64),
    /// A text, a message, or packed numbers.
    Bytes(&'m [u8]),
}

impl<'m> Value<'m> {
    /// The number; nothing for bytes.
    pub(crate) fn number(self) -> Option<u64> {
        match self {
            Value::Number(number) => Some(number),
            Value::Bytes(_) => None,
        }
    }

    /// A thread's number: `int32`, of which a negative one is nobody's.
    pub(crate) fn thread(self) -> Option<u32> {
        self.number().and_then(|number| u32::try_from(number).ok())
    }

    /// The bytes; nothing for a number.
    pub(crate) fn bytes(self) -> Option<&'m [u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            Value::Number(_) => None,
        }
    }

    /// Puts the numbers of a repeated field behind those that are there, packed or one by one.
    pub(crate) fn append_to(self, numbers: &mut Vec<u64>) -> Result<(), Damaged> {
        match self {
            Value::Number(number) => numbers.push(number),
            Value::Bytes(mut bytes) => {
                while !bytes.is_empty() {
                    numbers.push(varint(&mut bytes)?);
                }
            }
        }
        Ok(())
    }
}

/// A message ends within a field, or has a field of no known kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Damaged;

/// The fields of a message, in their order; after a damaged one none.
pub(crate) struct Fields<'m>(&'m [u8]);

/// Goes through a message.
pub(crate) fn fields(message: &[u8]) -> Fields<'_> {
    Fields(message)
}

impl<'m> Iterator for Fields<'m> {
    type Item = Result<(u64, Value<'m>), Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = field(&mut self.0);
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

fn field<'m>(rest: &mut &'m [u8]) -> Result<(u64, Value<'m>), Damaged> {
    let tag = varint(rest)?;
    let value = match tag & 7 {
        0 => Value::Number(varint(rest)?),
        1 => Value::Number(fixed(take(rest, 8)?)),
        2 => {
            let length = varint(rest)?;
            Value::Bytes(take(rest, length)?)
        }
        5 => Value::Number(fixed(take(rest, 4)?)),
        // Groups, which nobody writes any more.
        _ => return Err(Damaged),
    };
    Ok((tag >> 3, value))
}

fn take<'m>(rest: &mut &'m [u8], length: u64) -> Result<&'m [u8], Damaged> {
    let length = usize::try_from(length).ok().filter(|length| *length <= rest.len()).ok_or(Damaged)?;
    let (taken, after) = rest.split_at(length);
    *rest = after;
    Ok(taken)
}

fn fixed(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A number, seven bits a byte, the lowest first. Bits above the 64th are dropped.
pub(crate) fn varint(rest: &mut &[u8]) -> Result<u64, Damaged> {
    let mut number = 0;
    for shift in 0..10 {
        let (byte, after) = rest.split_first().ok_or(Damaged)?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << (7 * shift);
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Damaged)
}
