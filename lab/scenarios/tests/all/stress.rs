//! Systems whose cores execute at the same time, on a kernel that looks at its own objects: nothing is found, but races that are planted.

use tactus_lab_scenarios::lab;

#[test]
fn cores_that_execute_at_the_same_time_break_no_rule() {
    // The others need programs of their own, whose compilation takes longer than all runs.
    for name in ["arena", "relay", "channels", "restarts"] {
        let said = lab(["stress", "--runs", "1", "--only", name]);
        println!("{}", said.output);
        assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
        assert!(said.output.contains("nothing found"), "{}", said.output);
    }
}

#[test]
fn no_system_of_another_name_is_run() {
    let said = lab(["stress", "--only", "nothing"]);
    assert_eq!(said.status, 2, "{}", said.output);
    assert!(said.errors.contains("there is arena, relay"), "{}", said.errors);
}

#[test]
#[ignore = "takes minutes; run by name"]
fn eight_of_ten_planted_races_are_found() {
    let said = lab(["stress", "--planted", "--runs", "50"]);
    println!("{}", said.output);
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
}
