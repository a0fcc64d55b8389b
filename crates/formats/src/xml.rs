//! Reading and writing XML, as far as task sets need it.

use crate::fault::Reason;
use crate::format::{Format, Found};
use roxmltree::{Document, Node, ParsingOptions};

/// Reads a text. Documents with a DTD are refused: entities may blow up.
pub(crate) fn document(text: &str) -> Found<Document<'_>> {
    // SchedCAT's largest sets have some thousand nodes; a million is a mistake.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: 4_000_000 };
    Document::parse_with_options(text, options).map_err(|error| {
        let line = error.pos().row as usize;
        (line, Reason::Syntax { reason: format!("this is not XML: {error}") })
    })
}

/// The format that the root element tells.
pub(crate) fn recognise(text: &str) -> Found<Format> {
    let document = document(text)?;
    let root = document.root_element();
    match root.tag_name().name() {
        "taskset" | "testpoint" => Ok(Format::SchedCat),
        "simulation" => Ok(Format::SimSo),
        found => Err((line(root), Reason::UnknownRoot { found: found.into() })),
    }
}

/// The line at which an element begins.
pub(crate) fn line(node: Node<'_, '_>) -> usize {
    node.document().text_pos_at(node.range().start).row as usize
}

/// An element's children of this name.
pub(crate) fn children<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

/// An attribute that must be there; `of` is whose.
pub(crate) fn needed<'a>(node: Node<'a, '_>, name: &str, of: &str) -> Found<&'a str> {
    let missing = || (line(node), Reason::Missing { what: format!("attribute {name}"), of: of.into() });
    node.attribute(name).ok_or_else(missing)
}

/// A whole number; `what` is which.
pub(crate) fn number(node: Node<'_, '_>, text: &str, what: String, most: u64) -> Found<u64> {
    // Python writes whole numbers as 3.0 when they went through a float.
    let digits = text.trim();
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    digits.parse().ok().filter(|n| *n <= most).ok_or_else(|| {
        let expected = format!("a whole number from 0 to {most}");
        (line(node), Reason::Value { what, found: text.chars().take(40).collect(), expected })
    })
}

/// A text as it stands in an attribute between double quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => out.push(' '),
            // XML 1.0 has no other control characters.
            c if c < ' ' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
