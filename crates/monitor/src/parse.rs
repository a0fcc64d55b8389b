//! Reading a property from text.
//!
//! From loose to tight: `<->`, `->` (to the right), `or`, `and`, `until` / `unless` / `release` / `since` (to the right), and what
//! stands before its operand: `not`, `next`, `always`, `previously` … The signs and letters of other tools are understood.

use crate::formula::{Formula, Interval, Span, FARTHEST};
use crate::property::{self, Property};
use crate::tokens::{tokens, ParseError, Token};
use tactus_time::Duration;

/// The deepest nesting of a formula that is read.
pub const DEEPEST: usize = 200;

struct Reader {
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
}

type Read<T> = Result<T, ParseError>;

/// What makes a formula of the operand behind it.
type Prefix = fn(Box<Formula>) -> Formula;

/// An end of an interval.
#[derive(Clone, Copy, PartialEq)]
enum Bound {
    Zero,
    Time(Duration),
    Events(u32),
}

impl Reader {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].1
    }
    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(found) if *found == sign);
        self.at += usize::from(found);
        found
    }
    fn fail<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(ParseError { column: self.tokens[self.at].0, message: message.into() })
    }
    fn found(&self) -> String {
        match self.peek() {
            Token::Word(word) => format!("found the name {word:?}"),
            Token::Number(n) => format!("found the number {n}"),
            Token::Sign(sign) => format!("found {sign:?}"),
            Token::End => "the text ends here".into(),
        }
    }
    fn expect(&mut self, sign: &'static str, why: &str) -> Read<()> {
        if self.take(sign) {
            return Ok(());
        }
        self.fail(format!("{}, where {sign:?} is wanted: {why}", self.found()))
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEEPEST {
            return self.fail(format!("operators are nested more than {DEEPEST} deep; split the property"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// An operator that groups to the left and those that bind tighter.
    fn formula(&mut self) -> Read<Formula> {
        self.deeper(|reader| {
            let mut left = reader.implication()?;
            while reader.take("<->") {
                left = Formula::Iff(Box::new(left), Box::new(reader.implication()?));
            }
            Ok(left)
        })
    }
    fn implication(&mut self) -> Read<Formula> {
        let left = self.disjunction()?;
        if self.take("->") {
            let right = self.deeper(Self::implication)?;
            return Ok(Formula::Implies(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }
    fn disjunction(&mut self) -> Read<Formula> {
        let mut left = self.conjunction()?;
        while self.take("or") {
            left = Formula::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }
    fn conjunction(&mut self) -> Read<Formula> {
        let mut left = self.until()?;
        while self.take("and") {
            left = Formula::And(Box::new(left), Box::new(self.until()?));
        }
        Ok(left)
    }
    fn until(&mut self) -> Read<Formula> {
        let left = self.unary()?;
        let (word, make) = if self.take("until") {
            ("until", Formula::Until as fn(Box<Formula>, Box<Formula>) -> Formula)
        } else if self.take("unless") {
            ("unless", Formula::WeakUntil as _)
        } else if self.take("release") {
            ("release", Formula::Release as _)
        } else if self.take("since") {
            ("since", Formula::Since as _)
        } else {
            return Ok(left);
        };
        let interval = self.interval()?;
        let right = self.deeper(Self::until)?;
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(match interval {
            None => make(left, right),
            Some(interval) if word == "until" => Formula::UntilWithin(interval, left, right),
            Some(interval) if word == "since" => Formula::SinceWithin(interval, left, right),
            Some(_) => {
                return self.fail(format!(
                    "{word} takes no interval; until, since, eventually, always, once and historically do"
                ))
            }
        })
    }
    fn unary(&mut self) -> Read<Formula> {
        self.deeper(|reader| {
            let plain: [(&str, Prefix); 3] =
                [("not", Formula::Not), ("next", Formula::Next), ("previously", Formula::Previously)];
            for (sign, make) in plain {
                if reader.take(sign) {
                    return Ok(make(Box::new(reader.unary()?)));
                }
            }
            let spans: [(Span, Prefix); 4] = [
                (Span::Always, Formula::Always),
                (Span::Eventually, Formula::Eventually),
                (Span::Once, Formula::Once),
                (Span::Historically, Formula::Historically),
            ];
            for (span, make) in spans {
                if reader.take(span.word()) {
                    let interval = reader.interval()?;
                    let operand = Box::new(reader.unary()?);
                    return Ok(match interval {
                        None => make(operand),
                        Some(interval) => Formula::Within(span, interval, operand),
                    });
                }
            }
            reader.operand()
        })
    }
    /// `[<= 20 ms]`, `[0 ms, 20 ms]`, `[<= 3]` or `[1, 3]`, if there is one.
    fn interval(&mut self) -> Read<Option<Interval>> {
        const WRITTEN: &str = "an interval is written [<= 20 ms], or [1, 3] in events";
        if !self.take("[") {
            return Ok(None);
        }
        let begins = self.at;
        let first = if self.take("<=") { Bound::Zero } else { self.bound(true)? };
        if self.tokens[begins].1 != Token::Sign("<=") {
            self.expect(",", WRITTEN)?;
        }
        let last = self.bound(false)?;
        self.expect("]", WRITTEN)?;
        let interval = match (first, last) {
            (Bound::Time(_), Bound::Time(_)) => {
                self.at = begins;
                return self.fail(
                    "an interval of time that begins later than now takes a stamp for each event that waits, and a monitor has \
                     one; write [<= …], and where nothing may come earlier, always (p -> always[<= …] not q) in a monitor of its own",
                );
            }
            (Bound::Zero, Bound::Time(length)) => Interval::Time(length),
            (Bound::Zero, Bound::Events(most)) => Interval::Events { least: 0, most },
            (Bound::Events(least), Bound::Events(most)) if least <= most => Interval::Events { least, most },
            _ => {
                self.at = begins;
                return self.fail("an interval goes from the less to the more, both in events or both in time");
            }
        };
        if matches!(interval, Interval::Events { most, .. } if most > FARTHEST) {
            self.at = begins;
            return self.fail(format!("an interval reaches {FARTHEST} events at most; bound it by a time"));
        }
        Ok(Some(interval))
    }
    /// An end of an interval; the first may be 0.
    fn bound(&mut self, first: bool) -> Read<Bound> {
        let is_time = matches!(self.tokens.get(self.at + 1), Some((_, Token::Word(_))));
        match *self.peek() {
            Token::Number(0) if is_time && first => {
                self.at += 1;
                self.unit()?;
                Ok(Bound::Zero)
            }
            Token::Number(_) if is_time => Ok(Bound::Time(self.duration()?)),
            Token::Number(number) => {
                self.at += 1;
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                Ok(if number == 0 && first { Bound::Zero } else { Bound::Events(number) })
            }
            _ => self.fail(format!("{}, where a number of events or a length of time is wanted", self.found())),
        }
    }
    fn operand(&mut self) -> Read<Formula> {
        if self.take("true") {
            return Ok(Formula::True);
        }
        if self.take("false") {
            return Ok(Formula::False);
        }
        if self.take("(") {
            let inner = self.formula()?;
            self.expect(")", "each bracket that is opened is closed")?;
            return Ok(inner);
        }
        if let Token::Word(name) = self.peek() {
            let atom = Formula::Atom(name.clone());
            self.at += 1;
            return Ok(atom);
        }
        if matches!(self.peek(), Token::Sign("distance" | "latency")) {
            return self.fail("distance and latency are whole properties; write a monitor of its own for this one");
        }
        self.fail(format!(
            "{}, where a proposition, a bracket or an operator (not, next, always, once …) is wanted",
            self.found()
        ))
    }
    fn duration(&mut self) -> Read<Duration> {
        let Token::Number(number) = *self.peek() else {
            return self.fail(format!("{}, where a length of time is wanted, such as 20 ms", self.found()));
        };
        self.at += 1;
        let unit = self.unit()?;
        let Some(nanoseconds) = number.checked_mul(unit) else {
            return self.fail("this is longer than any run; shorten it");
        };
        if nanoseconds == 0 {
            return self.fail("a bound of no time at all; write a longer one, or use a property without time");
        }
        Ok(Duration::from_nanos(nanoseconds))
    }
    /// The nanoseconds of a unit.
    fn unit(&mut self) -> Read<u64> {
        let nanoseconds = match self.peek() {
            Token::Word(unit) => match unit.as_str() {
                "ns" => 1,
                "us" | "µs" => 1_000,
                "ms" => 1_000_000,
                "s" => 1_000_000_000,
                _ => return self.fail(format!("{unit:?} is not a unit of time; write ns, us, ms or s")),
            },
            _ => return self.fail("a length of time needs its unit: ns, us, ms or s"),
        };
        self.at += 1;
        Ok(nanoseconds)
    }
    /// A formula about the present event and those before it.
    fn value(&mut self, of: &str) -> Read<Formula> {
        let at = self.at;
        let formula = self.formula()?;
        if formula.looks_ahead() || formula.is_timed() {
            self.at = at;
            return self.fail(format!("{of} takes what is and what was, without a time; found {formula}"));
        }
        Ok(formula)
    }

    fn property(&mut self) -> Read<Property> {
        let property = if self.take("distance") {
            self.expect("(", "write distance(event) >= 5 ms")?;
            let of = self.value("distance")?;
            self.expect(")", "write distance(event) >= 5 ms")?;
            let bound = if self.take(">=") {
                property::Bound::AtLeast
            } else if self.take("<=") {
                property::Bound::AtMost
            } else {
                return self.fail("a distance is bounded with >= or <=");
            };
            Property::Distance { of, bound, length: self.duration()? }
        } else if self.take("latency") {
            self.expect("(", "write latency(write, read, …) <= 20 ms")?;
            let mut chain = vec![self.value("latency")?];
            while self.take(",") {
                chain.push(self.value("latency")?);
            }
            if chain.len() < 2 {
                return self.fail("a chain has two events or more: where the data is written and where it is read");
            }
            self.expect(")", "write latency(write, read, …) <= 20 ms")?;
            self.expect("<=", "a latency has a greatest value")?;
            Property::Latency { chain, length: self.duration()? }
        } else {
            Property::Formula(self.formula()?)
        };
        if *self.peek() != Token::End {
            return self.fail(format!("{}, where the property should end; join with and, or, ->, until", self.found()));
        }
        Ok(property)
    }
}

impl Property {
    /// Reads a property.
    ///
    /// # Errors
    /// The text is not a property; the error says where and what to write.
    pub fn parse(text: &str) -> Result<Property, ParseError> {
        Reader { tokens: tokens(text)?, at: 0, depth: 0 }.property()
    }
}

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// As of [`Property::parse`], and if the text is a property of distance or latency.
    pub fn parse(text: &str) -> Result<Formula, ParseError> {
        match Property::parse(text)? {
            Property::Formula(formula) => Ok(formula),
            _ => Err(ParseError { column: 1, message: "distance and latency are properties, no formulas".into() }),
        }
    }
}
