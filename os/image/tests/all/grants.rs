//! Grants that cannot be given: each is refused with names, line and remedy.

use crate::common::{component, image, image_with, program, programs, system, task};
use tactus_image::{build, ImageError, Request};
use tactus_model::{Body, Component, System};

/// One task, run by the first of these components.
fn with(components: Vec<Component>) -> System {
    let mut first = task("first", Some(0));
    first.body = Body::Component(0);
    system(1, vec![first], components)
}

fn refused(components: Vec<Component>) -> String {
    image(&with(components)).unwrap_err().to_string()
}

#[test]
fn a_service_that_the_crate_lacks_is_named_with_the_crate_and_what_it_has() {
    let system = with(vec![component("radio", &["send", "receive"], &[])]);
    let error = image_with(&system, &program(&["complete"], 1), &program(&[], 2), &[program(&["send", "listen"], 3)]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "component \"radio\" (/crates/radio) has no service \"receive\", which line 30 of the system file wants of it; \
         its program provides send, listen"
    );
    let error = image_with(&system, &program(&["complete"], 1), &program(&[], 2), &[program(&[], 3)]).unwrap_err();
    assert!(error.to_string().contains("exports no services at all"), "{error}");
}

#[test]
fn a_service_that_its_provider_does_not_list_cannot_be_granted() {
    let user = component("user", &[], &[("write", 1, "erase")]);
    let system = with(vec![user, component("disk", &["read"], &[])]);
    let files = [program(&[], 3), program(&["read", "erase"], 4)];
    let error = image_with(&system, &program(&["complete"], 1), &program(&[], 2), &files).unwrap_err().to_string();
    assert!(error.contains("\"user\" (line 30) uses \"erase\" of \"disk\", which does not list it"), "{error}");
}

#[test]
fn sixteen_grants_are_too_many_beside_the_end_of_a_job() {
    let names: Vec<String> = (0..16).map(|n| format!("s{n}")).collect();
    let uses: Vec<_> = names.iter().map(|name| (name.as_str(), 1, "serve")).collect();
    let provider = component("provider", &["serve"], &[]);
    let error = refused(vec![component("user", &[], &uses), provider.clone()]);
    assert!(error.contains("uses 16 services; at most 15"), "{error}");
    assert!(image(&with(vec![component("user", &[], &uses[..15]), provider])).is_ok());
}

#[test]
fn names_of_grants_must_fit_differ_and_not_be_the_systems_own() {
    let provider = component("provider", &["serve"], &[]);
    for (names, expected) in [
        (&["a", "a"][..], "calls two services \"a\""),
        (&["complete"][..], "the system's own name"),
        (&["complete 2"][..], "the system's own name"),
        (&["a-name-of-25-bytes-is-long"][..], "more than 24"),
    ] {
        let uses: Vec<_> = names.iter().map(|name| (*name, 1, "serve")).collect();
        let error = refused(vec![component("user", &[], &uses), provider.clone()]);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn calls_in_a_circle_are_refused_and_the_circle_is_named() {
    let error = refused(vec![
        component("a", &["x"], &[("next", 1, "x")]),
        component("b", &["x"], &[("next", 2, "x")]),
        component("c", &["x"], &[("next", 0, "x")]),
    ]);
    assert!(error.contains("a → b → c → a (line 30)"), "{error}");
    let error = refused(vec![component("alone", &["x"], &[("me", 0, "x")])]);
    assert!(error.contains("alone → alone"), "{error}");
}

#[test]
fn a_chain_of_calls_may_fill_all_invocations_of_a_thread_and_no_more() {
    let chain = |length: usize| -> Vec<Component> {
        let link =
            |n: usize| component(&format!("c{n}"), &["x"], if n + 1 < length { &[("next", 0, "x")] } else { &[] });
        let mut links: Vec<_> = (0..length).map(link).collect();
        for (n, it) in links.iter_mut().enumerate() {
            it.uses.iter_mut().for_each(|grant| grant.provider = n + 1);
        }
        links
    };
    // The scheduler is the last: a service may be in the middle of a job when that ends.
    assert!(image(&with(chain(7))).is_ok());
    let error = refused(chain(8));
    assert!(error.contains("through 9 components (c0 → c1"), "{error}");
}

#[test]
fn more_components_than_an_image_holds_are_refused() {
    let tasks = (0..240).map(|n| task(&format!("t{n}"), Some(0))).collect();
    let components = (0..16).map(|n| component(&format!("u{n}"), &[], &[])).collect();
    let error = image(&system(1, tasks, components)).unwrap_err();
    assert_eq!(error, ImageError::TooMany { what: "components", count: 257, limit: 256 });
}

#[test]
fn a_request_that_does_not_match_its_system_is_refused() {
    let system = with(vec![component("a", &[], &[])]);
    let (scheduler, workload) = (program(&["complete"], 1), program(&[], 2));
    let request = |promises, components| Request {
        system: &system,
        plan: &[],
        promises,
        promised_by_host: 0,
        scheduler: &scheduler,
        children: &[],
        workload: &workload,
        components,
        told: &[],
        slots: &[],
        trials: &[],
    };
    let files = programs(&system);
    assert!(build(&request(&[None], &files)).is_ok());
    assert!(matches!(build(&request(&[], &files)), Err(ImageError::Incomplete { expected: 1, found: 0, .. })));
    assert!(matches!(build(&request(&[None], &[])), Err(ImageError::Incomplete { .. })));
}
