//! A reader of JSON as rt-app files are written: comments, commas before a closing bracket, keys that come several
//! times in one object (their order is what a thread does), keys without a value. It keeps every line.
//!
//! Written here because readers of standard JSON lose the order or the second of two equal keys, and none known to us
//! takes keys without a value.

use crate::problem::Location;
use crate::text::Lines;

/// Deeper than any rt-app file, and shallow enough for any stack.
const MAX_DEPTH: usize = 32;

/// A value and where it begins.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Value {
    pub place: Location,
    pub node: Node,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Node {
    Null,
    Boolean(bool),
    /// As it was written.
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(Vec<Member>),
}

/// One entry of an object, in its order.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Member {
    pub key: String,
    pub place: Location,
    /// Nothing if the key stands alone: `"suspend",`.
    pub value: Option<Value>,
}

/// What the text breaks off with, and where.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct SyntaxError {
    pub place: Location,
    pub reason: String,
}

pub(super) fn parse(text: &str) -> Result<Value, SyntaxError> {
    let mut parser = Parser { text, at: 0, lines: Lines::new(text) };
    parser.skip()?;
    let value = parser.value(0)?;
    parser.skip()?;
    match parser.peek() {
        None => Ok(value),
        Some(c) => Err(parser.error(format!("{c:?} after the end of the outermost object"))),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    lines: Lines<'a>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn place(&self) -> Location {
        self.lines.place(self.at)
    }

    fn error(&self, reason: impl Into<String>) -> SyntaxError {
        SyntaxError { place: self.place(), reason: reason.into() }
    }

    fn expected(&self, what: &str) -> SyntaxError {
        match self.peek() {
            Some(c) => self.error(format!("{what} expected, but there is {c:?}")),
            None => self.error(format!("{what} expected, but the file ends")),
        }
    }

    /// Goes on if the next character is this one.
    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), SyntaxError> {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len();
            self.at += space;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return Err(self.error("this comment does not end")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("nested more than {MAX_DEPTH} deep")));
        }
        let place = self.place();
        let node = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Node::Text(self.text()?),
            Some(c) if c == '-' || c.is_ascii_digit() => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.word()?,
            _ => return Err(self.expected("a value")),
        };
        Ok(Value { place, node })
    }

    fn object(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.take('}') {
                return Ok(Node::Object(members));
            }
            let place = self.place();
            if self.peek() != Some('"') {
                return Err(self.expected("a key in quotes, or }"));
            }
            let key = self.text()?;
            self.skip()?;
            let value = if self.take(':') {
                self.skip()?;
                Some(self.value(depth + 1)?)
            } else {
                None
            };
            let wanted = if value.is_some() { "a comma or }" } else { "a colon, a comma or }" };
            members.push(Member { key, place, value });
            self.skip()?;
            if !self.take(',') && self.peek() != Some('}') {
                return Err(self.expected(wanted));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        let mut values = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.take(']') {
                return Ok(Node::List(values));
            }
            values.push(self.value(depth + 1)?);
            self.skip()?;
            if !self.take(',') && self.peek() != Some(']') {
                return Err(self.expected("a comma or ]"));
            }
        }
    }

    fn number(&mut self) -> Node {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let number = rest[..length].to_string();
        self.at += length;
        Node::Number(number)
    }

    fn word(&mut self) -> Result<Node, SyntaxError> {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        // rt-app's own reader takes words in any case.
        let node = match rest[..length].to_ascii_lowercase().as_str() {
            "true" => Node::Boolean(true),
            "false" => Node::Boolean(false),
            "null" => Node::Null,
            _ => return Err(self.expected("a value")),
        };
        self.at += length;
        Ok(node)
    }

    fn text(&mut self) -> Result<String, SyntaxError> {
        let start = self.place();
        let open = || SyntaxError { place: start, reason: "this text does not end on its line".into() };
        self.at += 1;
        let mut text = String::new();
        loop {
            let c = self.peek().filter(|c| *c != '\n').ok_or_else(open)?;
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(text),
                '\\' => text.push(self.escape()?),
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        let c = self.peek().ok_or_else(|| self.expected("an escaped character"))?;
        let plain = match c {
            '"' | '\\' | '/' => Some(c),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            _ => None,
        };
        if let Some(plain) = plain {
            self.at += 1;
            return Ok(plain);
        }
        let code = self.rest().strip_prefix('u').and_then(|rest| rest.get(..4));
        let code = code.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                self.at += 5;
                // Halves of a pair have no meaning in a name; the sign for the unknown stands in.
                Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            None => Err(self.expected("one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_equal_keys_comments_and_lone_keys_are_kept() {
        let text = "{ // one\n \"run\": 1, /* two\n */ \"sleep\": 2,\n \"run\" : 3, \"suspend\",\n}";
        let Ok(Value { node: Node::Object(members), .. }) = parse(text) else { panic!("not an object") };
        let keys: Vec<_> = members.iter().map(|m| (m.key.as_str(), m.place.line, m.value.is_some())).collect();
        assert_eq!(keys, [("run", 2, true), ("sleep", 3, true), ("run", 4, true), ("suspend", 4, false)]);
    }

    #[test]
    fn a_syntax_error_names_its_line() {
        for (text, line, word) in [
            ("{\n\n \"a\" 1 }", 3, "expected"),
            ("{\n \"a\": }", 2, "a value expected"),
            ("{ \"a\": \"b\n\" }", 1, "does not end"),
            ("{ /* ", 1, "comment"),
            ("{ \"a\": [1, 2 }", 1, "a comma or ]"),
            ("{}\nx", 2, "after the end"),
            ("", 1, "the file ends"),
            ("{ \"\\q\": 1}", 1, "\\uXXXX"),
            ("{ \"a\": nil }", 1, "a value"),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.place.line, line, "{text:?}: {error:?}");
            assert!(error.reason.contains(word), "{text:?}: {error:?}");
        }
        let deep = "[".repeat(1_000_000);
        assert!(parse(&deep).expect_err("deep").reason.contains("deep"));
    }
}
