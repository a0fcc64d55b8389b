//! Races planted on purpose, so that one sees whether they are found: each a change of a few words in a copy of the sources.

/// A change of the sources that makes a race.
pub struct Race {
    /// Its name.
    pub name: &'static str,
    /// The file, seen from the root.
    pub file: &'static str,
    /// What stands there once.
    pub old: &'static str,
    /// What stands there instead.
    pub new: &'static str,
    /// The system in whose runs it is looked for.
    pub subject: &'static str,
}

impl Race {
    /// The file's text with the race; nothing if what it changes does not stand there once.
    pub fn planted(&self, text: &str) -> Option<String> {
        (text.matches(self.old).count() == 1).then(|| text.replace(self.old, self.new))
    }
}

/// All of them.
pub const RACES: [Race; 14] = [
    // A look and a store in place of a compare-and-exchange: two cores take one thread.
    Race {
        name: "thread-taken-by-two",
        file: "os/kernel/src/thread.rs",
        old: "self.hold.compare_exchange(held, held | mark(core), Ordering::Acquire, Ordering::Relaxed).is_ok()",
        new: "self.hold.load(Ordering::Relaxed) == held && { self.hold.store(held | mark(core), Ordering::Release); true }",
        subject: "arena",
    },
    // No lock over the pool of frames.
    Race {
        name: "pool-without-a-lock",
        file: "os/kernel/src/memory.rs",
        old: "return Err(Error::NotAllowed);\n    }\n    if BUSY.swap(true, Ordering::Acquire) {",
        new: "return Err(Error::NotAllowed);\n    }\n    if BUSY.load(Ordering::Acquire) {",
        subject: "frames",
    },
    // A look and a store in place of a compare-and-exchange: a slot of two threads.
    Race {
        name: "slot-of-two",
        file: "os/kernel/src/tree.rs",
        old: "place.compare_exchange(before, holder, SeqCst, SeqCst).map_err(|_| Error::Busy)?;",
        new: "place.store(holder, SeqCst);",
        subject: "arena",
    },
    // A scheduler's entry in a path is replaced by a look and a store.
    Race {
        name: "path-replaced-blindly",
        file: "os/kernel/src/path.rs",
        old: "place.compare_exchange(old.0, new.0, SeqCst, SeqCst).is_ok()",
        new: "place.load(SeqCst) == old.0 && { place.store(new.0, SeqCst); true }",
        subject: "arena",
    },
    // Two steps of one restart at once.
    Race {
        name: "restart-without-a-lock",
        file: "os/kernel/src/restart.rs",
        old: "return Err(Error::NotStopped);\n    }\n    if BUSY.swap(true, Ordering::Acquire) {",
        new: "return Err(Error::NotStopped);\n    }\n    if BUSY.load(Ordering::Acquire) {",
        subject: "arena",
    },
    // The interrupt before what it is about.
    Race {
        name: "rings-before-it-writes",
        file: "os/kernel/src/mailbox.rs",
        old: "mail.schedulers[number / 64].fetch_or(1 << (number % 64), SeqCst);\n        ring(target);",
        new: "ring(target);\n        mail.schedulers[number / 64].fetch_or(1 << (number % 64), SeqCst);",
        subject: "relay",
    },
    // The count of triggers after the look for a free upcall.
    Race {
        name: "counts-after-the-look",
        file: "os/kernel/src/delivery.rs",
        old: "brand.push(word);\n    // An upcall that is active looks itself for more when it ends.\n    if brand.has_free_upcall() &&",
        new: "let free = brand.has_free_upcall();\n    brand.push(word);\n    if free &&",
        subject: "relay",
    },
    // The look for further triggers before the upcall is free.
    Race {
        name: "looks-before-it-is-free",
        file: "os/kernel/src/upcall.rs",
        old: "    post_slots(core, &brand.path, slot::COMPLETED);\n    upcall.set(state::INACTIVE);\n    upcall.release();",
        new: "    let waits = brand.waits();\n    post_slots(core, &brand.path, slot::COMPLETED);\n    upcall.set(state::INACTIVE);\n    upcall.release();\n    if !waits {\n        return;\n    }",
        subject: "relay",
    },
    // Nobody waits for the lock of what cores share.
    Race {
        name: "lock-without-a-wait",
        file: "crates/sync/src/lock.rs",
        old: "while self.serving.load(Ordering::Acquire) != ticket {",
        new: "while self.serving.load(Ordering::Acquire).wrapping_sub(ticket) > u32::MAX {",
        subject: "global-queue",
    },
    // The number of a decision before the lock that orders it.
    Race {
        name: "ticket-before-the-lock",
        file: "crates/policy/src/clustered.rs",
        old: "        let mut container = self.containers[core.cluster].lock(&mut core.order);\n        let ticket = self.tickets.next();",
        new: "        let ticket = self.tickets.next();\n        let mut container = self.containers[core.cluster].lock(&mut core.order);",
        subject: "global-queue",
    },
    // Nobody waits for the lock of resources that cores share.
    Race {
        name: "resources-without-a-lock",
        file: "crates/sync/src/lock.rs",
        old: "while self.serving.load(Ordering::Acquire) != ticket {",
        new: "while self.serving.load(Ordering::Acquire).wrapping_sub(ticket) > u32::MAX {",
        subject: "resource",
    },
    // A message is there before its words are.
    Race {
        name: "sent-before-it-is-written",
        file: "os/rt/src/channel.rs",
        old: "        for word in 0..WORDS {\n            slot[word].store(message[word], Ordering::Relaxed);\n        }\n        end.own.store(sent.wrapping_add(1), Ordering::Relaxed);\n        End::shared_at(base, SENT).store(sent.wrapping_add(1), Ordering::Release);",
        new: "        end.own.store(sent.wrapping_add(1), Ordering::Relaxed);\n        End::shared_at(base, SENT).store(sent.wrapping_add(1), Ordering::Release);\n        for word in 0..WORDS {\n            slot[word].store(message[word], Ordering::Release);\n        }",
        subject: "channels",
    },
    // A place is given back before its message was read.
    Race {
        name: "taken-before-it-is-read",
        file: "os/rt/src/channel.rs",
        old: "        let message = core::array::from_fn(|word| slot[word].load(Ordering::Relaxed));\n        end.own.store(taken.wrapping_add(1), Ordering::Relaxed);\n        end.shared(TAKEN).store(taken.wrapping_add(1), Ordering::Release);",
        new: "        end.own.store(taken.wrapping_add(1), Ordering::Relaxed);\n        end.shared(TAKEN).store(taken.wrapping_add(1), Ordering::SeqCst);\n        let message = core::array::from_fn(|word| slot[word].load(Ordering::Acquire));",
        subject: "channels",
    },
    // A sample is not looked at again when it has been read.
    Race {
        name: "sample-read-once",
        file: "crates/sync/src/queue.rs",
        old: "        if sequence.load(Ordering::Relaxed) != count {\n            return Ok(None);\n        }\n        match (read, behind) {",
        new: "        match (read, behind) {",
        subject: "channels",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::systems::SUBJECTS;
    use std::fs;
    use std::path::Path;

    #[test]
    fn each_race_changes_one_place_of_the_sources_and_is_looked_for_in_a_system() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for race in RACES {
            let text = fs::read_to_string(root.join(race.file)).expect("the file is there");
            let planted = race.planted(&text).unwrap_or_else(|| panic!("{}: not once in {}", race.name, race.file));
            assert_ne!(planted, text, "{}", race.name);
            assert!(SUBJECTS.iter().any(|it| it.name == race.subject), "{}", race.name);
        }
    }
}
