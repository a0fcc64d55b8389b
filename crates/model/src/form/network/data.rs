//! `[[data]]`: what nodes send to a scope again and again.

use super::{subject, Builder, Section, Value};
use crate::network::{Network, MOST_STREAMS};
use crate::problem::{nearest, Complaint};
use tactus_network::frame::{Name, MOST_REPETITIONS};
use tactus_network::stream::{Stream, LARGEST_MESSAGE};
use tactus_time::{Duration, Instant};

const DATA: [&str; 14] = [
    "name",
    "application",
    "from",
    "time",
    "period",
    "jitter",
    "deadline",
    "size",
    "priority",
    "repetitions",
    "areas",
    "tags",
    "sensors",
    "actuators",
];

impl Builder<'_> {
    pub(super) fn data(&mut self, value: &Value<'_>, n: usize, network: &mut Network) {
        let Some(section) = self.reader.open(value, subject(value, "data", n), &DATA) else { return };
        for (key, example) in [
            ("name", "name = \"light\""),
            ("from", "from = [\"door\"]"),
            ("period", "period = \"100 ms\""),
            ("size", "size = \"16 B\""),
        ] {
            section.require(&mut self.reader, key, example);
        }
        let stream = self.stream(&section, network);
        let place = section.get("from").map_or(section.place, |value| self.reader.place(value));
        let from = self.list(&section, "from");
        let from: Vec<usize> = from.iter().filter_map(|name| self.node(name, place, &section.subject)).collect();
        if section.get("from").is_some_and(|value| value.get_ref().as_array().is_some_and(|all| all.is_empty())) {
            self.reader.out.refuse(place, &section.subject, "nobody sends it", "name the nodes that do");
        }
        let Some(stream) = stream else { return };
        for (at, &node) in from.iter().enumerate() {
            if from[..at].contains(&node) {
                let why = format!("node {:?} is named twice", network.nodes[node]);
                self.reader.out.refuse(place, &section.subject, why, "name each sender once");
                continue;
            }
            self.sent(&section, network, Stream { from: node, ..stream.clone() });
        }
    }

    /// Adds what one node sends, if all of its scope can be reached.
    fn sent(&mut self, section: &Section<'_>, network: &mut Network, stream: Stream) {
        let sender = &network.nodes[stream.from];
        let tree = network.field.tree(&stream);
        let out = &mut self.reader.out;
        if let Some(&to) = tree.unreached.first() {
            let to = &network.nodes[to];
            let why = format!("there is no way from {sender:?} to {to:?} over nodes that are always there");
            let remedy = "let nodes between hear both, or narrow the scope";
            return out.refuse(section.place, &section.subject, why, remedy);
        }
        if tree.hops.len() < 2 {
            let why = format!("no node but {sender:?} itself is in its scope");
            return out.refuse(section.place, &section.subject, why, "widen the scope");
        }
        if let Some(app) = stream.application {
            let versions = network.field.deliveries.iter().filter(|it| it.package.app == app);
            let hosts =
                |n: usize| versions.clone().any(|it| it.package.scope.covers(&network.field.members[n].description));
            let parties = tree.hops.iter().filter(|it| it.receives || it.hops == 0).map(|it| it.node);
            if let Some(stranger) = parties.into_iter().find(|&n| !hosts(n)) {
                let why = format!(
                    "node {:?} is out of the scope of {:?}, and never hosts it",
                    network.nodes[stranger],
                    app.as_str()
                );
                let remedy = "widen the application's scope, or narrow that of the data";
                return out.refuse(section.place, &section.subject, why, remedy);
            }
        }
        if network.field.streams.len() >= MOST_STREAMS {
            let limit = format!("more than {MOST_STREAMS}, each sender of a [[data]] counted");
            let found = network.field.streams.len() + 1;
            return out.out_of_range(
                section.place,
                "",
                "the number of senders of data",
                found,
                limit,
                "leave some out",
            );
        }
        network.field.streams.push(stream);
    }

    /// What is read of it, with no sender yet.
    fn stream(&mut self, section: &Section<'_>, network: &Network) -> Option<Stream> {
        let name = self.name(section);
        if let Some(name) =
            name.as_ref().filter(|it| network.field.streams.iter().any(|known| known.name.as_str() == **it))
        {
            self.twice(section, "data", name);
        }
        let application = self.application_of(section, network);
        let mut scope = self.scope(section);
        let own = ["areas", "tags", "sensors", "actuators"].iter().any(|key| section.get(key).is_some());
        let newest = network.field.deliveries.iter().filter(|it| Some(it.package.app) == application);
        if let Some(newest) = newest.filter(|it| !it.package.removed && !own).max_by_key(|it| it.package.version) {
            scope = newest.package.scope.clone();
        }
        let period = self.time(section, "period", true, None);
        let jitter = self.time(section, "jitter", false, period.map(|it| (it, "its period")));
        let deadline = self.time(section, "deadline", true, None);
        let start = self.time(section, "time", false, Some((network.field.duration, "the network's duration")));
        let reader = &mut self.reader;
        let size = section.size(reader, "size");
        if let Some(at) = size.get().filter(|at| !(1..=LARGEST_MESSAGE.into()).contains(&at.value)) {
            let limit = format!("outside 1 B to {LARGEST_MESSAGE} B, what a frame holds");
            let remedy = "write what a message has";
            reader.out.out_of_range(at.place, &section.subject, "size", at.value, limit, remedy);
        }
        let mut small = |key: &'static str, most: u8| {
            let given = section.integer(reader, key, "a whole number");
            if let Some(at) = given.get().filter(|at| at.value > most.into()) {
                let limit = format!("more than {most}");
                reader.out.out_of_range(at.place, &section.subject, key, at.value, limit, "write a smaller one");
            }
            given.value().unwrap_or(0).min(most.into()) as u8
        };
        let (priority, repetitions) = (small("priority", u8::MAX), small("repetitions", MOST_REPETITIONS));
        let period = period?;
        Some(Stream {
            name: Name::new(&name?)?,
            application,
            from: 0,
            scope,
            start: start.map(|it| Instant::ZERO + it),
            period,
            jitter: jitter.unwrap_or_default(),
            deadline: deadline.unwrap_or(period),
            bytes: size.value()?.min(LARGEST_MESSAGE.into()) as u16,
            priority,
            repetitions,
        })
    }

    /// The application whose data it is, if it is said.
    fn application_of(&mut self, section: &Section<'_>, network: &Network) -> Option<Name> {
        let given = section.string(&mut self.reader, "application", "the name of an application in quotes");
        let at = given.get()?;
        let names = || network.field.deliveries.iter().map(|it| it.package.app);
        let known = names().find(|it| it.as_str() == at.value);
        if known.is_none() {
            let all: Vec<Name> = names().collect();
            let nearest = nearest(&at.value, all.iter().map(Name::as_str));
            let remedy = "describe it in an [[application]]".into();
            let complaint = Complaint::UnknownName { what: "application", name: at.value.clone(), nearest, remedy };
            self.reader.out.add(at.place, &section.subject, complaint);
        }
        known
    }

    /// A time that may have to be some, and no longer than another one.
    fn time(
        &mut self,
        section: &Section<'_>,
        key: &'static str,
        some: bool,
        most: Option<(Duration, &str)>,
    ) -> Option<Duration> {
        let given = section.duration(&mut self.reader, key);
        let at = given.get()?;
        let complaint = match most {
            _ if some && at.value.is_zero() => Some(("no time at all".to_string(), "lengthen it")),
            Some((most, what)) if at.value > most => Some((format!("more than {what} of {most}"), "shorten it")),
            _ => None,
        };
        if let Some((limit, remedy)) = complaint {
            self.reader.out.out_of_range(at.place, &section.subject, key, at.value, limit, remedy);
            return None;
        }
        Some(at.value)
    }
}
