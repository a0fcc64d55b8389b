//! Which files of a room import which: what their `use` lines and their paths from `crate`, `super` or a child module name. A
//! name that a module only hands on leads to the file that defines it; handing on is no import, but using what is handed on is one.

use crate::rooms::{is_for_tests, parse, Room};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Item, UseTree};

/// A module's path in its room, from the root.
type Name = Vec<String>;

struct Module {
    /// Names that are defined in the file itself.
    defined: BTreeSet<String>,
    /// Names that come from elsewhere, with the path that brings each.
    brought: BTreeMap<String, Name>,
    /// Paths all of whose names come from elsewhere.
    globs: Vec<Name>,
    /// What the file imports, as written.
    paths: BTreeSet<Name>,
    /// Types, constants and functions that it names without a path.
    names: BTreeSet<String>,
}

/// The files of a room, from the room's `src`, and those that each imports.
pub fn imports(room: &Room, root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let source = root.join(&room.path).join("src");
    let mut files: BTreeMap<Name, String> = BTreeMap::new();
    let mut modules: BTreeMap<Name, Module> = BTreeMap::new();
    for file in &room.files {
        let inside = file.strip_prefix(&source).unwrap_or(file).with_extension("");
        let mut name: Name = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let both = room.files.iter().any(|other| other.ends_with("src/lib.rs"));
        match name.last().map(String::as_str) {
            Some("mod") => drop(name.pop()),
            Some("lib") if name.len() == 1 => name.clear(),
            Some("main") if name.len() == 1 && !both => name.clear(),
            _ => {}
        }
        let path = file.strip_prefix(&source).unwrap_or(file).to_string_lossy().into_owned();
        modules.insert(name.clone(), read(file));
        files.insert(name, path);
    }
    let mut found = BTreeMap::new();
    for (name, module) in &modules {
        let mut all = BTreeSet::new();
        let named = module.names.iter().filter(|name| !module.defined.contains(*name));
        let brought = named.filter_map(|name| module.brought.get(name));
        for path in module.paths.iter().chain(brought) {
            if let Some(to) = absolute(&modules, name, path).and_then(|path| resolve(&modules, &path, 0)) {
                if to != *name {
                    all.insert(files[&to].clone());
                }
            }
        }
        found.insert(files[name].clone(), all);
    }
    found
}

fn read(file: &Path) -> Module {
    let syntax = parse(file);
    let mut module = Module {
        defined: BTreeSet::new(),
        brought: BTreeMap::new(),
        globs: Vec::new(),
        paths: BTreeSet::new(),
        names: BTreeSet::new(),
    };
    let mut reader = Reader { module: &mut module, depth: 0 };
    reader.visit_file(&syntax);
    module
}

struct Reader<'a> {
    module: &'a mut Module,
    /// How many modules of this file the reader is inside of.
    depth: usize,
}

impl Reader<'_> {
    fn leaves(tree: &UseTree, path: &mut Name, leaves: &mut Vec<(Name, Option<String>)>) {
        match tree {
            UseTree::Path(it) => {
                path.push(it.ident.to_string());
                Self::leaves(&it.tree, path, leaves);
                path.pop();
            }
            UseTree::Name(it) if it.ident == "self" => {
                leaves.push((path.clone(), path.last().cloned()));
            }
            UseTree::Name(it) => {
                let full = path.iter().cloned().chain([it.ident.to_string()]).collect();
                leaves.push((full, Some(it.ident.to_string())));
            }
            UseTree::Rename(it) => {
                let full = path.iter().cloned().chain([it.ident.to_string()]).collect();
                leaves.push((full, Some(it.rename.to_string())));
            }
            UseTree::Glob(_) => leaves.push((path.clone(), None)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| Self::leaves(tree, path, leaves)),
        }
    }
}

/// What an item is called and what its attributes are.
fn head(item: &Item) -> (Option<String>, &[syn::Attribute]) {
    match item {
        Item::Const(it) => (Some(it.ident.to_string()), &it.attrs),
        Item::Enum(it) => (Some(it.ident.to_string()), &it.attrs),
        Item::Fn(it) => (Some(it.sig.ident.to_string()), &it.attrs),
        Item::Macro(it) => (it.ident.as_ref().map(ToString::to_string), &it.attrs),
        Item::Mod(it) => (it.content.as_ref().map(|_| it.ident.to_string()), &it.attrs),
        Item::Static(it) => (Some(it.ident.to_string()), &it.attrs),
        Item::Struct(it) => (Some(it.ident.to_string()), &it.attrs),
        Item::Trait(it) => (Some(it.ident.to_string()), &it.attrs),
        Item::Type(it) => (Some(it.ident.to_string()), &it.attrs),
        Item::Union(it) => (Some(it.ident.to_string()), &it.attrs),
        Item::Impl(it) => (None, &it.attrs),
        Item::Use(it) => (None, &it.attrs),
        _ => (None, &[]),
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (name, attributes) = head(item);
        if is_for_tests(attributes) {
            return;
        }
        if self.depth == 0 {
            self.module.defined.extend(name);
        }
        if let Item::Mod(it) = item {
            self.depth += usize::from(it.content.is_some());
            visit::visit_item(self, item);
            self.depth -= usize::from(it.content.is_some());
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut leaves = Vec::new();
        Self::leaves(&item.tree, &mut Vec::new(), &mut leaves);
        // A `super` inside a module of this file is this file.
        let inner = self.depth > 0;
        for (path, name) in
            leaves.into_iter().filter(|(path, _)| !(inner && path.first().is_some_and(|it| it == "super")))
        {
            match (&item.vis, &name) {
                _ if inner => {}
                (_, Some(name)) => drop(self.module.brought.insert(name.clone(), path.clone())),
                (_, None) => self.module.globs.push(path.clone()),
            }
            if matches!(item.vis, syn::Visibility::Inherited) {
                self.module.paths.insert(path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Name = path.segments.iter().map(|it| it.ident.to_string()).collect();
        match &names[..] {
            // A variable may have the name of a function or of a module.
            [name] if !name.starts_with(char::is_uppercase) => {}
            [name] => drop(self.module.names.insert(name.clone())),
            [first, ..] if self.depth > 0 && first == "super" => {}
            _ => drop(self.module.paths.insert(names)),
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(callee) = &*call.func {
            self.module.names.extend(callee.path.get_ident().map(ToString::to_string));
        }
        visit::visit_expr_call(self, call);
    }
}

/// The path from the room's root; none if it leads elsewhere.
fn absolute(modules: &BTreeMap<Name, Module>, of: &Name, path: &[String]) -> Option<Name> {
    let first = path.first()?;
    let mut at = match first.as_str() {
        "crate" => Vec::new(),
        "self" => of.clone(),
        "super" => of.split_last()?.1.to_vec(),
        _ => {
            let child: Name = of.iter().chain([first]).cloned().collect();
            let module = modules.get(of)?;
            return if modules.contains_key(&child) {
                Some(of.iter().chain(path).cloned().collect())
            } else {
                let brought = module.brought.get(first).filter(|it| it.first() != Some(first))?;
                let start = absolute(modules, of, brought)?;
                Some(start.into_iter().chain(path[1..].iter().cloned()).collect())
            };
        }
    };
    for part in &path[1..] {
        if part == "super" {
            at.pop();
        } else {
            at.push(part.clone());
        }
    }
    Some(at)
}

/// The file that defines what a path from the room's root names; none if it comes from another room.
fn resolve(modules: &BTreeMap<Name, Module>, path: &[String], depth: usize) -> Option<Name> {
    if modules.contains_key(path) {
        return Some(path.to_vec());
    }
    let length = (0..path.len()).rev().find(|&n| modules.contains_key(&path[..n]))?;
    let (name, rest) = (path[..length].to_vec(), &path[length..]);
    let module = &modules[&name];
    if module.defined.contains(&rest[0]) || depth > 8 {
        return Some(name);
    }
    if let Some(brought) = module.brought.get(&rest[0]) {
        let onward: Name = absolute(modules, &name, brought)?.into_iter().chain(rest[1..].iter().cloned()).collect();
        return if onward == path { Some(name) } else { resolve(modules, &onward, depth + 1) };
    }
    for glob in &module.globs {
        let Some(start) = absolute(modules, &name, glob) else { continue };
        let onward: Name = start.into_iter().chain(rest.iter().cloned()).collect();
        let found = resolve(modules, &onward, depth + 1);
        if found.as_ref().is_some_and(|at| modules[at].defined.contains(&rest[rest.len() - 1])) {
            return found;
        }
    }
    Some(name)
}

/// The circles among files: sets of more than one that all reach each other.
pub fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut waiting: Vec<&String> = imports[from].iter().collect();
        while let Some(at) = waiting.pop() {
            if seen.insert(at) {
                waiting.extend(&imports[at]);
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> = imports.keys().map(|file| (file, reach(file))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (file, to) in &reached {
        let circle: Vec<String> = reached
            .keys()
            .filter(|other| to.contains(**other) && reached[**other].contains(*file))
            .map(|it| (*it).clone())
            .collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}
