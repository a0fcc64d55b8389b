//! A statement of a source, as the file has it.

use serde::Deserialize;
use std::fmt;

/// A source: a paper, a thesis or a report from which statements are taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Parmer and West: component-based scheduling in Composite.
    Composite,
    /// Herman, Kenna, Mollison, Anderson and Johnson: mixed criticality on several cores.
    Mc2,
    /// JUNIPER D3.6: bounded-delay multipartition.
    Bdm,
    /// Gracioli: a real-time operating system for multicore applications.
    Epos,
    /// West, Li and Missimer: time management in Quest-V.
    QuestV,
    /// Kluge, Triquet, Rochange and Ungerer: manycores in safety-critical systems.
    Mossca,
    /// Falzoi, Lelli and Lipari: a framework for scheduler structures.
    Practise,
    /// Gupta, Tovar, Pereira and Rajkumar: the co-operating system.
    Cos,
    /// Tarasov, Sim, Povzner and Zadok: disk scheduling with a learned latency map.
    Disk,
    /// Cotard, Faucou and Béchennec: dataflow monitoring in a kernel.
    Monitoring,
}

impl Source {
    /// All sources, in the order of the file.
    pub const ALL: [Source; 10] = [
        Source::Composite,
        Source::Mc2,
        Source::Bdm,
        Source::Epos,
        Source::QuestV,
        Source::Mossca,
        Source::Practise,
        Source::Cos,
        Source::Disk,
        Source::Monitoring,
    ];

    /// The name in the file, which is also its page's.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Source::Composite => "composite",
            Source::Mc2 => "mc2",
            Source::Bdm => "bdm",
            Source::Epos => "epos",
            Source::QuestV => "quest-v",
            Source::Mossca => "mossca",
            Source::Practise => "practise",
            Source::Cos => "cos",
            Source::Disk => "disk",
            Source::Monitoring => "monitoring",
        }
    }

    /// The name in headings and tables.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Source::Composite => "Composite",
            Source::Mc2 => "MC²",
            Source::Bdm => "Bounded-delay multipartition",
            Source::Epos => "EPOS",
            Source::QuestV => "Quest-V",
            Source::Mossca => "MOSSCA",
            Source::Practise => "PRACTISE",
            Source::Cos => "CoS",
            Source::Disk => "Disks",
            Source::Monitoring => "Monitoring",
        }
    }

    /// The number of statements that can be checked in the source.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Source::Composite | Source::Mc2 => 24,
            Source::Bdm => 19,
            Source::Epos => 36,
            Source::QuestV | Source::Practise | Source::Monitoring => 18,
            Source::Mossca | Source::Cos => 16,
            Source::Disk => 20,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How far a statement is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A test asserts it, or a command prints a figure that is kept.
    Shown,
    /// A part of it is shown.
    Partly,
    /// Nothing shows it, or what was found is otherwise.
    Missing,
    /// It cannot be asked here.
    NotApplicable,
}

impl Status {
    /// All, in the order of tables.
    pub const ALL: [Status; 4] = [Status::Shown, Status::Partly, Status::Missing, Status::NotApplicable];

    /// The word in the file and on pages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Shown => "shown",
            Status::Partly => "partly",
            Status::Missing => "missing",
            Status::NotApplicable => "not-applicable",
        }
    }
}

/// One statement with its evidence.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The source that says it.
    pub source: Source,
    /// Its number within the source, from 1.
    pub number: usize,
    /// What the source says, in our words.
    pub text: String,
    /// How far it is shown.
    pub status: Status,
    /// Tests that assert it, as `path::name`; empty if none does.
    #[serde(default, rename = "test", deserialize_with = "one_or_many")]
    pub tests: Vec<String>,
    /// What a person types to see it.
    pub command: Option<String>,
    /// What came out.
    pub figure: Option<String>,
    /// The file in which every number of `figure` stands.
    pub kept: Option<String>,
    /// How the figure agrees with the text, see [`crate::relation`].
    #[serde(default, rename = "relation", deserialize_with = "one_or_many")]
    pub relations: Vec<String>,
    /// What its tests assert of the numbers of `text`, where no figure is held against them.
    pub asserted: Option<String>,
    /// What is not shown and why, or how the evidence is to be read.
    pub note: Option<String>,
}

impl Statement {
    /// The words of the command, without the quotes that a shell takes away; none where there is no command.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (n, part) in self.command.as_deref().unwrap_or_default().split('\'').enumerate() {
            if n % 2 == 1 {
                words.push(part.to_string());
            } else {
                words.extend(part.split_whitespace().map(str::to_string));
            }
        }
        words
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.source, self.number)
    }
}

/// A list, or a text that stands for a list of one.
pub(crate) fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}
