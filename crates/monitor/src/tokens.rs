//! The words and signs of a property; those of other tools stand for ours.

use std::fmt;

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

/// A name, a number, a sign or a word of the language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Token {
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
    ("previously", "previously"),
    ("Y", "previously"),
    ("once", "once"),
    ("O", "once"),
    ("historically", "historically"),
    ("H", "historically"),
    ("since", "since"),
    ("S", "since"),
    ("distance", "distance"),
    ("latency", "latency"),
];

/// The tokens of a text, each with its column, and its end.
pub(crate) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ParseError> {
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
                 always, eventually, next, until, unless, release, previously, once, historically, since, not, and, or, ->"
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
