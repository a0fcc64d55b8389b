//! The statements of this tree: valid, with evidence that is there, and pages that are made of them. Spoilt ones are refused.

use std::fs;
use std::path::{Path, PathBuf};
use tactus_sources::evidence::{absent, find, numbers, Found};
use tactus_sources::{page, read, relation, Problem, Source, Statement, Status};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text() -> String {
    fs::read_to_string(root().join("docs/sources/statements.toml")).expect("the statements are there")
}

fn statements() -> Vec<Statement> {
    read(&text()).unwrap_or_else(|problems| panic!("{}", told(&problems)))
}

fn told(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

/// What is said of the file after one text of it was replaced by another.
fn said_of(from: &str, to: &str) -> String {
    let text = text();
    assert!(text.contains(from), "{from}");
    told(&read(&text.replacen(from, to, 1)).expect_err("it is broken"))
}

#[test]
fn all_209_statements_are_there_and_their_tests_figures_and_packages_are_in_the_tree() {
    let statements = statements();
    assert_eq!(statements.len(), 209);
    let problems = absent(&statements, &root());
    assert!(problems.is_empty(), "{}", told(&problems));
}

#[test]
fn pages_and_the_table_of_counts_are_those_that_the_statements_make() {
    let statements = statements();
    let docs = root().join("docs");
    let remedy = "is out of date; run `cargo run -p tactus-sources`";
    for source in Source::ALL {
        let path = docs.join(format!("sources/{source}.md"));
        let there = fs::read_to_string(&path).unwrap_or_default();
        assert!(there == page::page(source, &statements, &there), "{} {remedy}", path.display());
        let by_hand = there.split(page::MADE_BELOW).next().unwrap_or_default();
        assert!(by_hand.trim().lines().count() > 1, "{} has no introduction", path.display());
    }
    let there = fs::read_to_string(docs.join("README.md")).expect("the book has a first page");
    assert!(Some(&there) == page::first_page(&statements, &there).as_ref(), "docs/README.md {remedy}");
}

#[test]
fn a_source_a_status_or_a_key_that_is_not_known_is_refused_with_those_that_are() {
    let said = said_of("source = \"bdm\"", "source = \"bdn\"");
    assert!(said.contains("`bdn`") && said.contains("`quest-v`"), "{said}");
    let said = said_of("status = \"partly\"", "status = \"mostly\"");
    assert!(said.contains("`mostly`") && said.contains("`not-applicable`"), "{said}");
    let said = said_of("figure = \"nine", "figur = \"nine");
    assert!(said.contains("`figur`") && said.contains("`figure`"), "{said}");
}

#[test]
fn a_number_that_lacks_comes_twice_or_is_too_many_is_refused() {
    let said = said_of("source = \"cos\"\nnumber = 3", "source = \"cos\"\nnumber = 2");
    assert!(said.contains("cos: number 2 stands where 3 is expected"), "{said}");
    let said = said_of("source = \"cos\"\nnumber = 16", "source = \"disk\"\nnumber = 21");
    assert!(said.contains("cos: number 16 is not there; cos has 16 statements"), "{said}");
    assert!(said.contains("disk: number 21 stands where 1 is expected"), "{said}");
}

#[test]
fn nothing_is_shown_without_a_test_or_a_kept_figure_and_what_is_not_shown_says_why() {
    let shown = |keys: &str| {
        let row = "source = \"monitoring\"\nnumber = 1\n";
        let text = text();
        let (before, after) = text.split_once(row).expect("it is there");
        let rest = after.split_once("\n\n[[").expect("it is not the last one").1;
        read(&format!("{before}{row}text = \"x\"\n{keys}\n\n[[{rest}")).map_err(|problems| told(&problems))
    };
    let why = |keys: &str| shown(keys).expect_err("it is broken");
    assert!(why("status = \"shown\"").starts_with("monitoring 1: nothing is `shown` without `test`"));
    assert!(why("status = \"shown\"\ncommand = \"./tactus check\"\nfigure = \"3\"").contains("`kept`"));
    assert!(why("status = \"missing\"").contains("says in `note`"));
    assert!(why("status = \"not-applicable\"\nnote = \"n\"\ntest = \"a::b\"").contains("has no evidence"));
    assert!(why("status = \"missing\"\nnote = \" \"").contains("a text is empty"));
    assert!(why("status = \"partly\"\nnote = \"n\"\ncommand = \"rm -r x\"").contains("begins with `./tactus`"));
    assert!(why("status = \"partly\"\nnote = \"n\"\ncommand = \"./tactus run 'x\"").contains("not closed"));
    let kept = "status = \"shown\"\ncommand = \"./tactus check\"\nfigure = \"3 of 8\"\nkept = \"a.md\"";
    assert!(shown(kept).is_ok());
    assert!(why(&format!("{kept}\nrelation = \"8 <= 3\"")).contains("the relation `8 <= 3` does not hold"));
    assert!(shown("status = \"shown\"\ntest = \"a::b\"").is_ok());
    let numbers = said_of("asserted = \"46 of 100 exactly\"\n", "");
    assert!(numbers.contains("quest-v 2: its text has numbers; say in `relation`"), "{numbers}");
}

#[test]
fn tests_figures_files_and_packages_that_are_not_in_the_tree_are_named() {
    let mut row = statements().remove(0);
    row.status = Status::Shown;
    let mut why = |tests: &[&str], command: &str, figure: &str, kept: &str| {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
        row.tests = tests.iter().map(ToString::to_string).collect();
        (row.command, row.figure, row.kept) = (some(command), some(figure), some(kept));
        told(&absent(std::slice::from_ref(&row), &root()))
    };
    let here = "crates/sources/tests/tree.rs::tests_figures_files_and_packages_that_are_not_in_the_tree_are_named";
    assert_eq!(why(&[here], "cargo test -p tactus-sources", "", ""), "");
    assert!(why(&["crates/sources/tests/tree.rs::root"], "", "", "").contains("names no test of that file"));
    assert!(why(&["crates/none.rs::root"], "", "", "").contains("a file that is not there"));
    let moved = "crates/sources/src/read.rs::tests_figures_files_and_packages_that_are_not_in_the_tree_are_named";
    assert!(why(&[moved], "", "", "").contains("; crates/sources/tests/tree.rs has one of that name"));
    assert!(why(&["nowhere"], "", "", "").contains("`path::name`"));
    assert!(why(
        &["crates/analysis/tests/all/quest_v.rs::every_admitted_vcpu_has_its_budget_in_its_period_in_50_000_sets"],
        "",
        "",
        ""
    )
    .contains("left out of ordinary runs"));
    assert!(why(&[here], "cargo test -p tactus-none", "", "").contains("no package of the workspace"));
    assert!(why(&[here], "lab/studies/none.sh x", "", "").contains("`lab/studies/none.sh` is no script"));
    assert!(why(&[], "./tactus study bdm", "1,234,567.5", "docs/measured/bdm.md").contains("`1234567.5 in docs/"));
    assert!(why(&["crates/sources/tests/house.rs::x"], "", "7,654,321 rounds", "").contains("`7654321` stands neither"));
    assert!(why(&[], "./tactus study bdm", "0", "docs/none.md").contains("`docs/none.md` is not there"));
    row.asserted = Some("7,654,321 of 100".into());
    let asserted = told(&absent(std::slice::from_ref(&row), &root()));
    assert!(asserted.contains("`7654321` is `asserted`"), "{asserted}");
}

#[test]
fn a_test_is_a_function_with_its_attribute_a_line_of_a_macro_or_an_example_that_must_not_compile() {
    let text = "#[test]\n#[ignore = \"long\"]\nfn long() {}\n\n#[test]\n/// Says.\nfn short() {}\nfn none() {}\nmade! {\n    s1_x = 1;\n}";
    assert_eq!(find(text, "long"), Found::Ignored);
    assert_eq!(find(text, "short"), Found::Test);
    assert_eq!(find(text, "shor"), Found::Nothing);
    assert_eq!(find(text, "none"), Found::Nothing);
    assert_eq!(find(text, "s1_x"), Found::Test);
    assert_eq!(find(text, "compile_fail"), Found::Nothing);
    assert_eq!(find("//! ```compile_fail,E0499", "compile_fail"), Found::Test);
}

#[test]
fn a_relation_holds_between_a_figure_and_the_text_and_every_other_one_is_told() {
    let mut row = statements().remove(0);
    row.text = "At most 40 µs, half of 1,903.".into();
    row.figure = Some("39.5 beside 2,000; 50 %".into());
    let why = |relation: &str| relation::fault(&row, relation);
    for holds in
        ["39.5 <= 40", "2,000 / 39.5 > 40", "39.5 = 40 within 2 %", "50 % < 1", "39.5 * 50 % < 40", "39.5 >= 0"]
    {
        assert_eq!(why(holds), None, "{holds}");
    }
    for broken in ["39.5 > 40", "39.5 = 40 within 1 %", "39.5 = 40", "50 % >= 1", "2,000 / 39.5 < 40"] {
        assert!(why(broken).is_some_and(|it| it.contains("does not hold")), "{broken}");
    }
    for none in ["39.5", "39.5 ~ 40", "39.5 <= forty", "39.5 + 2,000 <= 40", "39.5 = 40 within some"] {
        assert!(why(none).is_some_and(|it| it.starts_with("is no") || it.starts_with("has a side")), "{none}");
    }
    assert!(why("38 <= 40").is_some_and(|it| it.contains("left side")));
    assert!(why("39.5 <= 41").is_some_and(|it| it.contains("right side")));
    row.figure = Some("41 µs".into());
    row.kept = Some("docs/measured/bdm.md".into());
    row.status = Status::Shown;
    row.relations = vec!["39.5 <= 40".into()];
    assert!(relation::fault(&row, "39.5 <= 40").is_some(), "what is measured anew is held against the text anew");
}

#[test]
fn numbers_are_read_with_their_fractions_and_without_the_commas_that_group() {
    assert_eq!(
        numbers("0 of 27,014,400; -0.5 to 3.30 %, 10,20. x12"),
        ["0", "27014400", "0.5", "3.30", "10", "20", "12"]
    );
}
