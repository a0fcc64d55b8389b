//! Reading a property from text.
//!
//! From loose to tight: `<->`, `->` (to the right), `or`, `and`, `until` / `unless` / `release` (to the right), and what
//! stands before its operand: `not`, `next`, `always`, `eventually`. The signs and letters of other tools are understood.

use crate::formula::{Formula, Span};
use crate::property::{Bound, Property};
use std::fmt;
use tactus_time::Duration;

/// The deepest nesting of a formula that is read.
pub const DEEPEST: usize = 200;

/// The most words and signs of a property that is read.
pub const LONGEST: usize = 4_000;

/// Why a text is not a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Where in the text, in characters from 1.
    pub column: usize,
    /// What is wrong there, and what to write instead.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {} of the property: {}", self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Word(String),
    Number(u64),
    Sign(&'static str),
    End,
}

/// The signs, the longer before those that they begin with, and what they stand for.
const SIGNS: &[(&str, &str)] = &[
    ("<->", "<->"),
    ("<=>", "<->"),
    ("->", "->"),
    ("=>", "->"),
    ("→", "->"),
    ("<=", "<="),
    (">=", ">="),
    ("≤", "<="),
    ("≥", ">="),
    ("&&", "and"),
    ("&", "and"),
    ("∧", "and"),
    ("||", "or"),
    ("|", "or"),
    ("∨", "or"),
    ("!", "not"),
    ("¬", "not"),
    ("~", "not"),
    ("[]", "always"),
    ("<>", "eventually"),
    ("□", "always"),
    ("◇", "eventually"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    (",", ","),
];

/// The words and letters of the language, and what they stand for.
const WORDS: &[(&str, &str)] = &[
    ("true", "true"),
    ("false", "false"),
    ("not", "not"),
    ("and", "and"),
    ("or", "or"),
    ("implies", "->"),
    ("imply", "->"),
    ("iff", "<->"),
    ("next", "next"),
    ("X", "next"),
    ("always", "always"),
    ("G", "always"),
    ("eventually", "eventually"),
    ("F", "eventually"),
    ("until", "until"),
    ("U", "until"),
    ("unless", "unless"),
    ("W", "unless"),
    ("release", "release"),
    ("R", "release"),
    ("V", "release"),
    ("once", "once"),
    ("distance", "distance"),
    ("latency", "latency"),
];

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ParseError> {
    let (mut out, mut rest, mut column) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if first.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let message = || format!("the number {} is too large; write it in a larger unit", &rest[..length]);
            let number = rest[..length].parse().map_err(|_| ParseError { column, message: message() })?;
            (Some(Token::Number(number)), length)
        } else if first.is_alphabetic() || first == '_' {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let length = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
            let word = &rest[..length];
            let sign = WORDS.iter().find(|(written, _)| *written == word);
            (Some(sign.map_or_else(|| Token::Word(word.into()), |(_, sign)| Token::Sign(sign))), length)
        } else if let Some((written, sign)) = SIGNS.iter().find(|(written, _)| rest.starts_with(written)) {
            (Some(Token::Sign(sign)), written.len())
        } else {
            let message = format!(
                "the sign {first:?} is not part of the language; a name has letters, digits, '_' and '.', and the operators are \
                 always, eventually, next, until, unless, release, not, and, or, ->"
            );
            return Err(ParseError { column, message });
        };
        if let Some(token) = token {
            out.push((column, token));
        }
        if out.len() > LONGEST {
            let message =
                format!("the property has more than {LONGEST} words and signs; split it into several monitors");
            return Err(ParseError { column, message });
        }
        column += rest[..length].chars().count();
        rest = &rest[length..];
    }
    out.push((column, Token::End));
    Ok(out)
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
}

type Read<T> = Result<T, ParseError>;

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
        let make = if self.take("until") {
            Formula::Until
        } else if self.take("unless") {
            Formula::WeakUntil
        } else if self.take("release") {
            Formula::Release
        } else {
            return Ok(left);
        };
        let right = self.deeper(Self::until)?;
        Ok(make(Box::new(left), Box::new(right)))
    }
    fn unary(&mut self) -> Read<Formula> {
        self.deeper(|reader| {
            for (sign, make) in [("not", Formula::Not as fn(Box<Formula>) -> Formula), ("next", Formula::Next)] {
                if reader.take(sign) {
                    return Ok(make(Box::new(reader.unary()?)));
                }
            }
            for span in [Span::Always, Span::Eventually, Span::Once] {
                if !reader.take(span.word()) {
                    continue;
                }
                if reader.take("[") {
                    reader.expect("<=", "a bound is written [<= 20 ms]")?;
                    let bound = reader.duration()?;
                    reader.expect("]", "a bound is written [<= 20 ms]")?;
                    return Ok(Formula::Within(span, bound, Box::new(reader.unary()?)));
                }
                return match span {
                    Span::Always => Ok(Formula::Always(Box::new(reader.unary()?))),
                    Span::Eventually => Ok(Formula::Eventually(Box::new(reader.unary()?))),
                    Span::Once => reader.fail("once looks back and needs a bound: write once[<= 20 ms]"),
                };
            }
            reader.operand()
        })
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
            "{}, where a proposition, a bracket, not, next, always or eventually is wanted",
            self.found()
        ))
    }
    fn duration(&mut self) -> Read<Duration> {
        let Token::Number(number) = *self.peek() else {
            return self.fail(format!("{}, where a length of time is wanted, such as 20 ms", self.found()));
        };
        self.at += 1;
        let unit = match self.peek() {
            Token::Word(unit) => match unit.as_str() {
                "ns" => 1,
                "us" | "µs" => 1_000,
                "ms" => 1_000_000,
                "s" => 1_000_000_000,
                _ => return self.fail(format!("{unit:?} is not a unit of time; write ns, us, ms or s")),
            },
            _ => return self.fail("a length of time needs its unit: ns, us, ms or s"),
        };
        let Some(nanoseconds) = number.checked_mul(unit) else {
            return self.fail("this is longer than any run; shorten it");
        };
        if nanoseconds == 0 {
            return self.fail("a bound of no time at all; write a longer one, or use a property without time");
        }
        self.at += 1;
        Ok(Duration::from_nanos(nanoseconds))
    }
    fn boolean(&mut self, of: &str) -> Read<Formula> {
        let at = self.at;
        let formula = self.formula()?;
        if !formula.is_boolean() {
            self.at = at;
            return self.fail(format!("{of} takes propositions joined with not, and, or; found {formula}"));
        }
        Ok(formula)
    }

    fn property(&mut self) -> Read<Property> {
        let property = if self.take("distance") {
            self.expect("(", "write distance(event) >= 5 ms")?;
            let of = self.boolean("distance")?;
            self.expect(")", "write distance(event) >= 5 ms")?;
            let bound = if self.take(">=") {
                Bound::AtLeast
            } else if self.take("<=") {
                Bound::AtMost
            } else {
                return self.fail("a distance is bounded with >= or <=");
            };
            Property::Distance { of, bound, length: self.duration()? }
        } else if self.take("latency") {
            self.expect("(", "write latency(write, read, …) <= 20 ms")?;
            let mut chain = vec![self.boolean("latency")?];
            while self.take(",") {
                chain.push(self.boolean("latency")?);
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
