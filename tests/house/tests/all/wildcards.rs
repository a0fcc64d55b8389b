//! No wildcard over what a system can have, where the check asks for it: whoever adds a feature, an order or a kind of server has to say
//! there what becomes of it, before anything compiles.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{ExprMatch, Macro, Pat};
use tactus_house::rooms::{collect, parse, root};

/// The enums of what a system can have.
const KINDS: [&str; 12] = [
    "Feature",
    "TaskOrder",
    "Rank",
    "ServerKind",
    "ResourceProtocol",
    "Overrun",
    "Release",
    "EventRule",
    "JobAction",
    "Policy",
    "Mixed",
    "Migration",
];
/// Those of them over which `matches!` is a wildcard that decides what is promised.
const TOLD_APART: [&str; 4] = ["Feature", "TaskOrder", "ServerKind", "ResourceProtocol"];

/// Where the check says what a system has and which tests it meets, and where random systems are drawn that have it. A theorem meets nothing
/// but what its test declares, so that a wildcard in one is no promise.
const PLACES: [&str; 5] = [
    "crates/analysis/src/check",
    "crates/model/src/features.rs",
    "crates/task/src/feature.rs",
    "crates/generate/src/featured.rs",
    "crates/generate/src/featured/frame.rs",
];

fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for place in PLACES.map(|place| root().join(place)) {
        match place.is_dir() {
            true => collect(&place, &mut files),
            false => files.push(place),
        }
    }
    files
}

/// The enums above that a pattern names.
#[derive(Default)]
struct Named(BTreeSet<String>);

impl<'ast> Visit<'ast> for Named {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let [.., kind, _] = &names[..] {
            self.0.extend(KINDS.contains(&kind.as_str()).then(|| kind.clone()));
        }
        visit::visit_path(self, path);
    }
}

/// Whether a pattern takes whatever comes.
fn takes_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        // A constant or a variant without a path has a capital.
        Pat::Ident(it) if it.ident.to_string().starts_with(char::is_uppercase) => false,
        Pat::Ident(it) => it.subpat.as_ref().is_none_or(|(_, inner)| takes_all(inner)),
        Pat::Or(it) => it.cases.iter().any(takes_all),
        Pat::Paren(it) => takes_all(&it.pat),
        Pat::Reference(it) => takes_all(&it.pat),
        _ => false,
    }
}

/// The columns of a pattern: those of a tuple, or the pattern itself; for each alternative.
fn columns(pattern: &Pat) -> Vec<Vec<&Pat>> {
    match pattern {
        Pat::Or(it) => it.cases.iter().flat_map(columns).collect(),
        Pat::Paren(it) => columns(&it.pat),
        Pat::Tuple(it) => vec![it.elems.iter().collect()],
        other => vec![vec![other]],
    }
}

#[derive(Default)]
struct Reader(Vec<String>);

impl<'ast> Visit<'ast> for Reader {
    fn visit_expr_match(&mut self, it: &'ast ExprMatch) {
        let arms: Vec<(Vec<&Pat>, bool)> = it
            .arms
            .iter()
            .flat_map(|arm| columns(&arm.pat).into_iter().map(|columns| (columns, arm.guard.is_some())))
            .collect();
        let wide = arms.iter().map(|(columns, _)| columns.len()).max().unwrap_or(0);
        for place in 0..wide {
            let mut named = Named::default();
            arms.iter().filter_map(|(columns, _)| columns.get(place)).for_each(|pattern| named.visit_pat(pattern));
            let all = |(columns, guarded): &(Vec<&Pat>, bool)| {
                !guarded
                    && (columns.len() < wide && columns.iter().any(|it| takes_all(it))
                        || columns.get(place).is_some_and(|it| takes_all(it)))
            };
            if !named.0.is_empty() && arms.iter().any(all) {
                self.0.push(format!("a match over {:?} takes whatever comes", named.0));
            }
        }
        visit::visit_expr_match(self, it);
    }

    fn visit_macro(&mut self, it: &'ast Macro) {
        if it.path.is_ident("matches") {
            let text = it.tokens.to_string();
            let named = TOLD_APART.iter().filter(|kind| text.contains(&format!("{kind} ::")));
            self.0.extend(named.map(|kind| format!("matches! over {kind}: write a match")));
        }
    }
}

fn wrong(file: &syn::File) -> Vec<String> {
    let mut reader = Reader::default();
    reader.visit_file(file);
    reader.0
}

#[test]
fn nothing_that_a_system_has_falls_under_a_wildcard() {
    let mut all = Vec::new();
    for file in files() {
        let name = file.strip_prefix(root()).unwrap_or(Path::new("")).display().to_string();
        all.extend(wrong(&parse(&file)).into_iter().map(|what| format!("{name}: {what}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_wildcard_is_seen_in_whatever_form_it_comes() {
    let of = |body: &str| wrong(&syn::parse_str(&format!("fn f() {{ {body} }}")).expect("it parses")).len();
    for bad in [
        "match kind { ServerKind::Polling => 1, _ => 2 }",
        "match kind { ServerKind::Polling => 1, other => 2 }",
        "match kind { task::ServerKind::Polling => 1, ServerKind::Misses | _ => 2 }",
        "match (kind, n) { (ServerKind::Polling, 0) => 1, (_, n) => 2 }",
        "match (kind, n) { (ServerKind::Polling, 0) => 1, _ => 2 }",
        "match order { Some(TaskOrder::RoundRobin) => 1, _ => 2 }",
        "let _ = matches!(feature, Feature::Wait | Feature::Signal);",
    ] {
        assert_eq!(of(bad), 1, "{bad}");
    }
    for good in [
        "match kind { ServerKind::Polling => 1, ServerKind::Misses => 2 }",
        "match (kind, n) { (ServerKind::Polling, _) => 1, (ServerKind::Misses, other) => 2 }",
        "match kind { ServerKind::Polling => 1, kind if kind.is_soft() => 2, ServerKind::Misses => 3 }",
        "match n { 1 => 1, _ => 2 }",
        "match kind { Some(ServerKind::Polling) => 1, Some(ServerKind::Misses) | None => 2 }",
        "let _ = matches!(verdict, TaskVerdict::Untested(_));",
    ] {
        assert_eq!(of(good), 0, "{good}");
    }
}
