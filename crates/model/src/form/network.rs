//! Reads a network file: nodes with their systems, who hears whom, areas, and applications with the nodes where their owners deliver them.

use super::each_of;
use super::keys::{shorten, Reader, Section, Value};
use crate::draft::Given;
use crate::network::{
    Content, Network, DEFAULT_CHUNK, DEFAULT_RADIUS, LARGEST, LONGEST_CHUNK, MOST_APPLICATIONS, MOST_NODES,
};
use crate::ordinary::read_ordinary;
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::text::Lines;
use crate::System;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tactus_network::field::{Field, Link, Member};
use tactus_network::place::{Area, Position, MOST_CORNERS};
use tactus_network::scope::{Description, Requirement, Scope, LONGEST_NAME, MOST_AREAS, MOST_REQUIREMENTS};
use tactus_package::envelope::Envelope;
use tactus_time::{Duration, Instant};
use toml::de::{DeTable, DeValue};

mod data;

const TOP: [&str; 6] = ["network", "node", "link", "area", "application", "data"];
const NETWORK: [&str; 10] =
    ["name", "duration", "seed", "byte", "hears", "delay", "loss", "radius", "chunk", "forward"];
const NODE: [&str; 9] = ["name", "system", "at", "tags", "sensors", "actuators", "comes", "goes", "forward"];
const LINK: [&str; 3] = ["between", "delay", "loss"];
const AREA: [&str; 4] = ["name", "corners", "centre", "radius"];
const APPLICATION: [&str; 13] = [
    "name",
    "version",
    "size",
    "package",
    "remove",
    "deliver",
    "time",
    "areas",
    "tags",
    "sensors",
    "actuators",
    "radius",
    "within",
];

/// Reads the text; nothing if something is wrong with it, which is told.
pub(crate) fn read(text: &str, out: &mut Collector) -> Option<Network> {
    let lines = Lines::new(text);
    let root = match DeTable::parse(text) {
        Ok(root) => root,
        Err(error) => {
            let place = error.span().map(|span| lines.place(span.start));
            let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            out.add(place, "", Complaint::Syntax { reason: format!("this is not TOML: {message}") });
            return None;
        }
    };
    let root = toml::Spanned::new(root.span(), DeValue::Table(root.into_inner()));
    let mut reader = Reader { lines, out };
    let top = reader.open(&root, String::new(), &TOP)?;
    for (key, example) in [("network", "[network]"), ("node", "[[node]]")] {
        top.require(&mut reader, key, example);
    }
    if top.get("data").is_none() {
        top.require(&mut reader, "application", "[[application]]");
    }
    let section = top.get("network").and_then(|value| reader.open(value, "[network]".into(), &NETWORK))?;
    let mut builder = Builder { reader, names: HashMap::new(), areas: HashMap::new(), systems: HashMap::new() };
    let mut network = builder.network(&section)?;
    builder.nodes(&top, &mut network, &section);
    for (n, value) in each_of(&top, &mut builder.reader, "link", "link").into_iter().enumerate() {
        builder.link(value, n, &mut network);
    }
    for (n, value) in each_of(&top, &mut builder.reader, "area", "area").into_iter().enumerate() {
        builder.area(value, n);
    }
    for (n, value) in each_of(&top, &mut builder.reader, "application", "application").into_iter().enumerate() {
        builder.application(value, n, &mut network);
    }
    network.field.deliveries.sort_by_key(|it| it.time);
    for (n, value) in each_of(&top, &mut builder.reader, "data", "data").into_iter().enumerate() {
        builder.data(value, n, &mut network);
    }
    Some(network)
}

struct Builder<'a> {
    reader: Reader<'a>,
    /// The node of each name.
    names: HashMap<String, usize>,
    areas: HashMap<String, Area>,
    /// Systems that were read, and which of them have faults.
    systems: HashMap<PathBuf, Option<usize>>,
}

impl Builder<'_> {
    fn network(&mut self, section: &Section<'_>) -> Option<Network> {
        let reader = &mut self.reader;
        section.require(reader, "duration", "duration = \"60 s\"");
        section.require(reader, "byte", "byte = \"32 us\", for 250 kbit/s");
        let duration = section.duration(reader, "duration").value();
        let byte = section.duration(reader, "byte").value();
        let seed = section.integer(reader, "seed", "a whole number").value().unwrap_or(1);
        let name = section.string(reader, "name", "a name in quotes").get().map(|it| it.value.clone());
        let given = section.integer(reader, "chunk", "a number of bytes");
        let chunk = given.value().unwrap_or(DEFAULT_CHUNK.into());
        if let Some(at) = given.get().filter(|at| !(32..=LONGEST_CHUNK.into()).contains(&at.value)) {
            let limit = format!("outside 32 to {LONGEST_CHUNK}");
            let remedy = "write what a frame holds";
            reader.out.out_of_range(at.place, &section.subject, "chunk", at.value, limit, remedy);
        }
        let radius = self.radius(section, DEFAULT_RADIUS);
        for (key, value) in [("duration", duration), ("byte", byte)] {
            if value.is_some_and(Duration::is_zero) {
                let place = self.reader.place(section.get(key)?);
                self.reader.out.out_of_range(place, &section.subject, key, "0 s", "no time at all", "lengthen it");
            }
        }
        let (duration, byte, chunk) = (duration?, byte?, u16::try_from(chunk).ok()?.min(LONGEST_CHUNK));
        let field = Field {
            settings: crate::network::settings(byte, chunk),
            byte,
            members: Vec::new(),
            deliveries: Vec::new(),
            streams: Vec::new(),
            duration,
            seed,
        };
        let name = name.unwrap_or_else(|| "network".into());
        Some(Network {
            name,
            nodes: Vec::new(),
            field,
            within: BTreeMap::new(),
            radius,
            chunk,
            systems: Vec::new(),
            system_of: Vec::new(),
            packages: BTreeMap::new(),
            source: self.reader.out.file().to_path_buf(),
        })
    }

    fn radius(&mut self, section: &Section<'_>, otherwise: u8) -> u8 {
        let given = section.integer(&mut self.reader, "radius", "a number of hops");
        let Some(at) = given.get() else { return otherwise };
        u8::try_from(at.value).unwrap_or_else(|_| {
            let (limit, remedy) = (format!("more than {}", u8::MAX), "write fewer hops");
            self.reader.out.out_of_range(at.place, &section.subject, "radius", at.value, limit, remedy);
            otherwise
        })
    }

    /// Delay and loss of a link, or what they are otherwise.
    fn quality(&mut self, section: &Section<'_>, (delay, loss): (Duration, u32)) -> (Duration, u32) {
        let delay = section.duration(&mut self.reader, "delay").value().unwrap_or(delay);
        let given = section.float(&mut self.reader, "loss", "the part of frames that is lost, like 0.05");
        let loss = given.get().map_or(loss, |at| {
            if !(0.0..1.0).contains(&at.value) {
                let limit = "outside 0 to 1, of which 1 is no link";
                let remedy = "write the part of frames that is lost, or leave the link out";
                self.reader.out.out_of_range(at.place, &section.subject, "loss", at.value, limit, remedy);
            }
            (at.value * 1e6) as u32
        });
        (delay, loss)
    }

    fn nodes(&mut self, top: &Section<'_>, network: &mut Network, section: &Section<'_>) {
        let values = each_of(top, &mut self.reader, "node", "node");
        if values.len() > MOST_NODES {
            let (limit, place) = (format!("more than {MOST_NODES}"), self.reader.place(values[MOST_NODES]));
            self.reader.out.out_of_range(place, "", "the number of nodes", values.len(), limit, "leave some out");
            return;
        }
        let forward = section.duration(&mut self.reader, "forward").value().unwrap_or_default();
        for (n, value) in values.into_iter().enumerate() {
            let Some(section) = self.reader.open(value, subject(value, "node", n), &NODE) else { continue };
            section.require(&mut self.reader, "name", "name = \"door\"");
            section.require(&mut self.reader, "at", "at = [2.5, 4]");
            let Some(name) = self.name(&section) else { continue };
            if self.names.insert(name.clone(), network.nodes.len()).is_some() {
                self.twice(&section, "node", &name);
            }
            let description = Description {
                position: section.get("at").and_then(|value| self.position(value, &section, "at")).unwrap_or_default(),
                tags: self.list(&section, "tags"),
                sensors: self.list(&section, "sensors"),
                actuators: self.list(&section, "actuators"),
            };
            let time = |given: Option<Duration>, otherwise| given.map_or(otherwise, |it| Instant::ZERO + it);
            let comes = time(section.duration(&mut self.reader, "comes").value(), Instant::ZERO);
            let goes = time(section.duration(&mut self.reader, "goes").value(), Instant::NEVER);
            if goes <= comes {
                let why = "it goes before it has come";
                self.reader.out.refuse(section.place, &section.subject, why, "let \"goes\" be later than \"comes\"");
            }
            let forward = section.duration(&mut self.reader, "forward").value().unwrap_or(forward);
            let system = self.system(&section, network);
            network.system_of.push(system);
            network.nodes.push(name);
            network.field.members.push(Member { description, comes, goes, links: Vec::new(), slots: None, forward });
        }
        let (delay, loss) = self.quality(section, (Duration::ZERO, 0));
        let given = section.float(&mut self.reader, "hears", "metres");
        let Some(hears) = given.get() else { return };
        if !(0.0..=1e6).contains(&hears.value) {
            let limit = "outside 0 to 1,000,000 m";
            self.reader.out.out_of_range(hears.place, &section.subject, "hears", hears.value, limit, "write metres");
            return;
        }
        let reach = (hears.value * 1e3) as u64;
        let places: Vec<Position> = network.field.members.iter().map(|it| it.description.position).collect();
        for (n, member) in network.field.members.iter_mut().enumerate() {
            let near = |&to: &usize| to != n && places[n].distance_squared(places[to]) <= reach * reach;
            member.links = (0..places.len()).filter(near).map(|to| Link { to, delay, loss }).collect();
        }
    }

    /// The system that runs on a node, read once of all nodes that have it.
    fn system(&mut self, section: &Section<'_>, network: &mut Network) -> Option<usize> {
        let given = section.string(&mut self.reader, "system", "a system file in quotes");
        let at = given.get()?;
        let path = beside(&self.reader, &at.value);
        if let Some(known) = self.systems.get(&path) {
            return *known;
        }
        let read = System::read(&path).map_err(|problems| {
            let problems = problems.to_string();
            let first = problems.lines().next().unwrap_or_default();
            format!("its system has faults: {first}")
        });
        let read = read.and_then(|system| match system.slots.is_empty() {
            true => Err(format!("system {} has no slots, so nothing could come to this node", shorten(&at.value))),
            false => match system.slots.iter().find(|slot| !slot.older) {
                Some(slot) => Err(format!(
                    "slot {:?} of its system takes nothing of a smaller version than the last program, whatever its name, and a \
                     network orders versions of each application by themselves: write older = true there",
                    slot.name
                )),
                None => Ok(system),
            },
        });
        let index = match read {
            Ok(system) => {
                network.systems.push(system);
                Some(network.systems.len() - 1)
            }
            Err(why) => {
                let remedy = format!("see ./tactus check {}; the file is looked for beside this one", path.display());
                self.reader.out.refuse(at.place, &section.subject, why, remedy);
                None
            }
        };
        self.systems.insert(path, index);
        index
    }

    /// What an application's version consists of, and its number; nothing if that is told to be wrong.
    fn content(&mut self, section: &Section<'_>) -> Option<(Content, u32)> {
        let reader = &mut self.reader;
        let given = section.integer(reader, "version", "a whole number");
        let remove = section.boolean(reader, "remove").value().unwrap_or(false);
        let size = section.size(reader, "size");
        let package = section.string(reader, "package", "the file of a package in quotes");
        if usize::from(!size.is_absent()) + usize::from(!package.is_absent()) + usize::from(remove) != 1 {
            let why = "a version has bytes, or says that there are none";
            let remedy = "write one of package = \"blinds.package\", size = \"6 KiB\" and remove = true";
            reader.out.refuse(section.place, &section.subject, why, remedy);
            return None;
        }
        if let Some(at) = package.get() {
            if let Given::Is(version) = &given {
                let why = "a package says its version itself";
                reader.out.refuse(version.place, &section.subject, why, "leave \"version\" out");
            }
            let path = beside(reader, &at.value);
            let read = read_ordinary(&path, LARGEST.into()).map_err(|reason| {
                (
                    format!("package {}: {reason}", shorten(&at.value)),
                    format!("make it: ./tactus pack CRATE --out {}", at.value),
                )
            });
            let numbered = read.and_then(|bytes| {
                match Envelope::read(&bytes).and_then(|it| it.claims()).map(|it| it.sequence_number) {
                    Ok(number) => Ok((bytes, number)),
                    Err(fault) => Err((
                        format!(
                            "{} is not a package: {} is damaged at byte {}",
                            shorten(&at.value),
                            fault.part,
                            fault.at
                        ),
                        format!("make it again: ./tactus pack CRATE --out {}", at.value),
                    )),
                }
            });
            return match numbered {
                Ok((bytes, number)) if u32::try_from(number).is_ok() => {
                    Some((Content::Package(path, Arc::from(bytes)), number as u32))
                }
                Ok(_) => {
                    let why = "its version is above 4294.967.295, the greatest that a network numbers";
                    reader.out.refuse(at.place, &section.subject, why, "give the package a smaller version");
                    None
                }
                Err((why, remedy)) => {
                    reader.out.refuse(at.place, &section.subject, why, remedy);
                    None
                }
            };
        }
        let bytes = size.value().unwrap_or(0);
        if !remove && (size.value() == Some(0) || bytes > LARGEST.into()) {
            let limit = format!("outside 1 B to {}", crate::format_size(LARGEST.into()));
            reader.out.out_of_range(section.place, &section.subject, "size", bytes, limit, "write what it has");
            return None;
        }
        let number = given.value().unwrap_or(1);
        let Ok(version) = u32::try_from(number) else {
            let limit = format!("more than {}", u32::MAX);
            reader.out.out_of_range(section.place, &section.subject, "version", number, limit, "write a smaller one");
            return None;
        };
        Some((Content::Drawn(bytes as u32), version))
    }

    fn link(&mut self, value: &Value<'_>, n: usize, network: &mut Network) {
        let subject = format!("link number {}", n + 1);
        let Some(section) = self.reader.open(value, subject, &LINK) else { return };
        section.require(&mut self.reader, "between", "between = [\"door\", \"lamp\"]");
        let quality = self.quality(&section, (Duration::ZERO, 0));
        let between = self.list(&section, "between");
        let Some(value) = section.get("between") else { return };
        let place = self.reader.place(value);
        let ends: Vec<usize> = between.iter().filter_map(|name| self.node(name, place, &section.subject)).collect();
        match ends[..] {
            [a, b] if a != b => {
                for (from, to) in [(a, b), (b, a)] {
                    let links = &mut network.field.members[from].links;
                    links.retain(|link| link.to != to);
                    links.push(Link { to, delay: quality.0, loss: quality.1 });
                }
            }
            _ if ends.len() < between.len() => {}
            _ => {
                let why = "a link is between two nodes";
                self.reader.out.refuse(
                    place,
                    &section.subject,
                    why,
                    "name two that differ; write a [[link]] for each pair",
                );
            }
        }
    }

    fn area(&mut self, value: &Value<'_>, n: usize) {
        let Some(section) = self.reader.open(value, subject(value, "area", n), &AREA) else { return };
        section.require(&mut self.reader, "name", "name = \"A\"");
        let Some(name) = self.name(&section) else { return };
        let disc = (section.get("centre"), section.float(&mut self.reader, "radius", "metres"));
        let area = match (section.get("corners"), disc) {
            (Some(corners), (None, radius)) if radius.is_absent() => self.corners(corners, &section),
            (None, (Some(centre), radius)) => {
                let centre = self.position(centre, &section, "centre");
                let radius = radius.get().filter(|at| (0.0..=2e6).contains(&at.value));
                centre.zip(radius).map(|(centre, it)| Area::Disc { centre, radius: (it.value * 1e3) as u32 })
            }
            _ => None,
        };
        let Some(area) = area else {
            let why = format!("it is neither 3 to {MOST_CORNERS} corners nor a centre with a radius up to 2,000,000 m");
            let remedy = "write corners = [[0, 0], [5, 0], [5, 4], [0, 4]], or centre = [2, 2] and radius = 3";
            return self.reader.out.refuse(section.place, &section.subject, why, remedy);
        };
        if self.areas.insert(name.clone(), area).is_some() {
            self.twice(&section, "area", &name);
        }
    }

    fn corners(&mut self, value: &Value<'_>, section: &Section<'_>) -> Option<Area> {
        let all = value.get_ref().as_array()?;
        let corners: Vec<Position> = all.iter().filter_map(|it| self.position(it, section, "corners")).collect();
        ((3..=MOST_CORNERS).contains(&corners.len()) && corners.len() == all.len()).then_some(Area::Polygon(corners))
    }

    fn application(&mut self, value: &Value<'_>, n: usize, network: &mut Network) {
        let Some(section) = self.reader.open(value, subject(value, "application", n), &APPLICATION) else { return };
        section.require(&mut self.reader, "name", "name = \"blinds\"");
        section.require(&mut self.reader, "deliver", "deliver = [\"door\"]");
        let reader = &mut self.reader;
        let time = section.duration(reader, "time").value().unwrap_or(Duration::ZERO);
        let within = section.duration(reader, "within").value();
        let content = self.content(&section);
        let radius = self.radius(&section, network.radius);
        let scope = self.scope(&section);
        let Some(name) = self.name(&section) else { return };
        let nodes = self.list(&section, "deliver");
        let at = section.get("deliver").map_or(section.place, |value| self.reader.place(value));
        let nodes: Vec<usize> = nodes.iter().filter_map(|name| self.node(name, at, &section.subject)).collect();
        if time > network.field.duration {
            let limit = format!("after the end at {}", network.field.duration);
            self.reader.out.out_of_range(section.place, &section.subject, "time", time, limit, "deliver it earlier");
        }
        let Some((content, version)) = content else { return };
        let added = network.deliver((&name, version), (content, radius, scope), Instant::ZERO + time, &nodes);
        let why = match added {
            Ok(()) if network.applications() <= MOST_APPLICATIONS => None,
            Ok(()) => Some((format!("there are more than {MOST_APPLICATIONS} applications"), "leave some out")),
            Err(line) => Some((line.to_string(), "give each version of an application a number of its own")),
        };
        if let Some((why, remedy)) = why {
            self.reader.out.refuse(section.place, &section.subject, why, remedy);
        }
        network.promise(&name, within);
    }

    fn scope(&mut self, section: &Section<'_>) -> Scope {
        let mut scope = Scope::default();
        let place = section.get("areas").map_or(section.place, |value| self.reader.place(value));
        for name in self.list(section, "areas") {
            match self.areas.get(&name) {
                Some(area) => scope.areas.push(area.clone()),
                None => {
                    let nearest = nearest(&name, self.areas.keys().map(String::as_str));
                    let remedy = "describe it in an [[area]]".into();
                    let complaint = Complaint::UnknownName { what: "area", name, nearest, remedy };
                    self.reader.out.add(place, &section.subject, complaint);
                }
            }
        }
        for (key, make) in [
            ("tags", Requirement::Tag as fn(String) -> Requirement),
            ("sensors", Requirement::Sensor),
            ("actuators", Requirement::Actuator),
        ] {
            scope.requires.extend(self.list(section, key).into_iter().map(make));
        }
        if scope.areas.len() > MOST_AREAS || scope.requires.len() > MOST_REQUIREMENTS {
            let why = format!("a scope has {MOST_AREAS} areas and {MOST_REQUIREMENTS} requirements at most");
            self.reader.out.refuse(section.place, &section.subject, why, "draw larger areas, or require less");
        }
        scope
    }

    /// The name of a section.
    fn name(&mut self, section: &Section<'_>) -> Option<String> {
        let given = section.string(&mut self.reader, "name", "a name in quotes");
        let at = given.get()?;
        self.text(&at.value, at.place, section, "name").then(|| at.value.clone())
    }

    /// Whether a text is short enough to travel, and is one.
    fn text(&mut self, text: &str, place: Location, section: &Section<'_>, what: &str) -> bool {
        let well = (1..=LONGEST_NAME).contains(&text.len());
        if !well {
            let expected = format!("a name of 1 to {LONGEST_NAME} bytes");
            let complaint = Complaint::Malformed { what: what.into(), found: shorten(text), expected };
            self.reader.out.add(place, &section.subject, complaint);
        }
        well
    }

    fn twice(&mut self, section: &Section<'_>, what: &str, name: &str) {
        let why = format!("{what} {:?} is there already", name);
        self.reader.out.refuse(section.place, "", why, "give each its own name");
    }

    /// A list of names.
    fn list(&mut self, section: &Section<'_>, key: &'static str) -> Vec<String> {
        let Some(value) = section.get(key) else { return Vec::new() };
        let place = self.reader.place(value);
        let all = value.get_ref().as_array().map(|all| all.iter().map(|it| it.get_ref().as_str()).collect());
        let Some(all): Option<Option<Vec<&str>>> = all else {
            self.reader.malformed(place, &section.subject, key, value, "a list of names, like [\"lamp\"]");
            return Vec::new();
        };
        let Some(all) = all else {
            self.reader.malformed(place, &section.subject, key, value, "a list of names in quotes, like [\"lamp\"]");
            return Vec::new();
        };
        all.into_iter().filter(|it| self.text(it, place, section, key)).map(str::to_string).collect()
    }

    /// A point in metres.
    fn position(&mut self, value: &Value<'_>, section: &Section<'_>, what: &str) -> Option<Position> {
        let number = |value: &Value<'_>| match value.get_ref() {
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            DeValue::Integer(number) => i32::from_str_radix(number.as_str(), number.radix()).ok().map(f64::from),
            _ => None,
        };
        let millimetres = |metres: f64| (metres.abs() <= 1e6).then_some((metres * 1e3) as i32);
        let point = match value.get_ref().as_array().map(|all| all.iter().map(number).collect::<Vec<_>>()).as_deref() {
            Some(&[Some(x), Some(y)]) => millimetres(x).zip(millimetres(y)),
            _ => None,
        };
        if point.is_none() {
            let place = self.reader.place(value);
            let expected = "two numbers of metres up to 1,000,000, like [2.5, 4]";
            self.reader.malformed(place, &section.subject, what, value, expected);
        }
        point.map(|(x, y)| Position { x, y })
    }

    /// The node with this name.
    fn node(&mut self, name: &str, place: Location, subject: &str) -> Option<usize> {
        if let Some(&n) = self.names.get(name) {
            return Some(n);
        }
        let nearest = nearest(name, self.names.keys().map(String::as_str));
        let remedy = "describe it in a [[node]]".into();
        let complaint = Complaint::UnknownName { what: "node", name: name.to_string(), nearest, remedy };
        self.reader.out.add(place, subject, complaint);
        None
    }
}

fn beside(reader: &Reader<'_>, name: &str) -> PathBuf {
    reader.out.file().parent().unwrap_or(Path::new("")).join(name)
}

/// `node "door"`, or which one it is.
fn subject(value: &Value<'_>, what: &str, index: usize) -> String {
    super::platform::subject(value, what, index)
}
