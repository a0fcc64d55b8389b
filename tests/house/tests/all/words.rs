//! One vocabulary: words that were replaced by the field's are in no public name, no key and no heading.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Item, Visibility};
use tactus_house::rooms::{is_for_tests, parse, rooms, root};

/// Words, and what is said instead.
const OLD: &[(&str, &str)] = &[
    ("tier", "child scheduler"),
    ("changeable", "reconfigurable"),
    ("parted", "reconfigurable tree"),
    ("hollow", "WhenIdle"),
    ("doze", "sleep_until"),
    ("rouse", "wake"),
    ("lending", "core grants"),
    ("news", "effects"),
    ("hear", "receive"),
    ("barren", "cannot_have_work"),
    ("vp", "virtual processor"),
    ("feed", "run queue"),
    ("ruling", "admission verdict"),
    ("deaf", "masks lower levels"),
    ("pen", "ring writer"),
    ("quill", "reserved writer"),
    ("ward", "supervised"),
    ("everywhere", "TLB shootdown"),
    ("grave", "dead"),
    ("plant", "fault injection"),
    ("purse", "search budget"),
    ("whatever", "any"),
];

/// Whole names, whose words mean something else elsewhere, and what is said instead.
const OLD_NAMES: &[(&str, &str)] = &[
    ("Promised", "RunPlan"),
    ("Chunks", "Replenishments"),
    ("Supplier", "ServerKind"),
    ("Says", "Effects"),
    ("News", "Effects"),
    ("Newest", "TripleBuffer"),
    ("Letters", "a single-producer ring"),
    ("Quiet", "IdleInstant"),
    ("Changing", "a reconfiguration"),
    ("Concern", "Scope"),
    ("Left", "what is meant: backlog, remaining budget, quiescence"),
    ("Gave", "Yielded"),
    ("Told", "what was published"),
    ("Keeper", "what is kept"),
    ("Spread", "Migration"),
    ("Apart", "what keeps them apart: an assignment, padding"),
    ("Face", "CoreStatus"),
    ("Doing", "an activity"),
    ("LentPage", "ParentPage"),
    ("ToldPage", "ChildPage"),
    ("AtOnce", "Immediate"),
    ("GRAVE", "DEAD"),
    ("KEEPER", "CLOCK_KEEPER"),
];

/// The words of a name: `RingWriter` and `ring_writer` are `ring`, `writer`.
fn words(name: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && word.chars().last().is_some_and(char::is_lowercase)) {
            words.insert(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.push(c);
        }
    }
    words.insert(word);
    words.into_iter().map(|word| word.to_lowercase()).collect()
}

fn old(name: &str) -> Option<&'static (&'static str, &'static str)> {
    let words = words(name);
    OLD_NAMES.iter().find(|(old, _)| *old == name).or_else(|| OLD.iter().find(|(word, _)| words.contains(*word)))
}

/// The public names of a file.
#[derive(Default)]
struct Names(Vec<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        let public = |vis: &Visibility| matches!(vis, Visibility::Public(_));
        let (name, attributes, shown) = match item {
            Item::Const(it) => (it.ident.to_string(), &it.attrs, public(&it.vis)),
            Item::Enum(it) => (it.ident.to_string(), &it.attrs, public(&it.vis)),
            Item::Fn(it) => (it.sig.ident.to_string(), &it.attrs, public(&it.vis)),
            Item::Mod(it) => (it.ident.to_string(), &it.attrs, public(&it.vis)),
            Item::Static(it) => (it.ident.to_string(), &it.attrs, public(&it.vis)),
            Item::Struct(it) => (it.ident.to_string(), &it.attrs, public(&it.vis)),
            Item::Trait(it) => (it.ident.to_string(), &it.attrs, public(&it.vis)),
            Item::Type(it) => (it.ident.to_string(), &it.attrs, public(&it.vis)),
            other => return visit::visit_item(self, other),
        };
        if is_for_tests(attributes) {
            return;
        }
        if shown {
            self.0.push(name);
        }
        visit::visit_item(self, item);
    }
    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if matches!(item.vis, Visibility::Public(_)) {
            self.0.push(item.sig.ident.to_string());
        }
    }
    fn visit_variant(&mut self, item: &'ast syn::Variant) {
        self.0.push(item.ident.to_string());
        visit::visit_variant(self, item);
    }
    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let (Some(name), Visibility::Public(_)) = (&field.ident, &field.vis) {
            self.0.push(name.to_string());
        }
    }
}

fn collect(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, extension, files);
        } else if path.extension().is_some_and(|it| it == extension) {
            files.push(path);
        }
    }
}

#[test]
fn public_names_are_the_fields() {
    let mut wrong = Vec::new();
    for room in rooms() {
        for file in &room.files {
            let mut names = Names::default();
            names.visit_file(&parse(file));
            let path = file.strip_prefix(root()).unwrap_or(file).display().to_string();
            for name in names.0 {
                let Some((word, instead)) = old(&name) else { continue };
                wrong.push(format!("{path}: {name}: say {instead} instead of {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} names:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn headings_of_the_book_are_in_the_fields_words() {
    let mut files = Vec::new();
    collect(&root().join("docs"), "md", &mut files);
    files.push(root().join("README.md"));
    let mut wrong = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("the file was listed");
        for heading in text.lines().filter(|line| line.starts_with('#')) {
            if let Some((word, instead)) = old(heading) {
                wrong.push(format!("{}: {heading}: say {instead} instead of {word}", file.display()));
            }
        }
    }
    assert!(files.len() > 30, "the book is read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The keys and the named values of every example of a system file.
#[test]
fn keys_of_system_files_are_in_the_fields_words() {
    let mut files = Vec::new();
    collect(&root().join("examples"), "toml", &mut files);
    files.retain(|file| file.file_name().is_some_and(|name| name != "Cargo.toml"));
    let mut wrong = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("the file was listed");
        for line in text.lines() {
            let key = line.split('=').next().unwrap_or_default().trim();
            let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            if let Some((word, instead)) = old(key).filter(|_| plain && line.contains('=')) {
                wrong.push(format!("{}: key {key}: say {instead} instead of {word}", file.display()));
            }
        }
    }
    assert!(files.len() > 100, "the examples are read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
