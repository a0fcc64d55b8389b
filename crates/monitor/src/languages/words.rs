//! The words of formats in the manner of C: names, texts in quotes, signs, comments.

use super::{error, LanguageError};

/// A word and its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub line: usize,
    pub kind: TokenKind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// Letters, digits, `_`, `.`, `-` inside, and numbers.
    Name(String),
    /// What stands between quotes; a `\n` in it is two characters still.
    Text(String),
    /// One of `{ } [ ] = ; , :` or `->`.
    Sign(&'static str),
}

impl Token {
    /// For messages.
    pub fn shown(&self) -> String {
        match &self.kind {
            TokenKind::Name(name) => format!("the name {name:?}"),
            TokenKind::Text(text) => format!("the text {text:?}"),
            TokenKind::Sign(sign) => format!("{sign:?}"),
        }
    }
    pub fn is(&self, sign: &str) -> bool {
        matches!(self.kind, TokenKind::Sign(found) if found == sign)
    }
}

const SIGNS: [&str; 9] = ["->", "{", "}", "[", "]", "=", ";", ",", ":"];

/// All words of a text; or what is none, with its line.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, LanguageError> {
    let (mut out, mut rest, mut line) = (Vec::new(), text, 1);
    let syntax = |line, reason: String| Err(error(line, reason));
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if rest.starts_with("//") || first == '#' {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            match rest.find("*/") {
                Some(end) => (None, end + 2),
                None => return syntax(line, "a comment begins here and never ends; close it with */".into()),
            }
        } else if first == '"' {
            match rest[1..].find('"') {
                Some(end) => (Some(TokenKind::Text(rest[1..=end].to_owned())), end + 2),
                None => return syntax(line, "a text begins here and never ends; close it with a quote".into()),
            }
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Some(TokenKind::Sign(sign)), sign.len())
        } else if first.is_alphanumeric() || first == '_' {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let length = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
            (Some(TokenKind::Name(rest[..length].to_owned())), length)
        } else {
            return syntax(line, format!("the sign {first:?} has no place in this format; remove it"));
        };
        out.extend(kind.map(|kind| Token { line, kind }));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    Ok(out)
}
