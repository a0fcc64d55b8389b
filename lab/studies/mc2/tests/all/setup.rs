//! Set-ups that the variants refuse.

use tactus_mc2_variants::{Fine, Machinery, VariantError};
use tactus_policy::{Mc2, PolicyConfig, PolicyConfigError, PolicySpec, Table};
use tactus_time::Duration;

#[test]
fn merged_timers_and_redistributed_work_need_an_interrupt_master() {
    let made = |interrupt_master, timer_merging, work_redistribution| {
        let mc2 =
            Mc2 { enforce: true, slack_shifting: true, allowance: Duration::ZERO, tables: vec![Table::default()] };
        let setup = PolicyConfig { cores: 1, kind: PolicySpec::Mc2(mc2), tasks: Vec::new() };
        Fine::new(&setup, Machinery { interrupt_master, timer_merging, work_redistribution }).err()
    };
    let missing = Some(VariantError::NoInterruptMaster);
    assert_eq!([made(false, true, false), made(false, false, true)], [missing, missing]);
    assert_eq!([made(false, false, false), made(true, true, true)], [None, None]);
    let other = PolicyConfig { cores: 1, kind: PolicySpec::PartitionedRm, tasks: Vec::new() };
    let refused = VariantError::Config(PolicyConfigError::OtherProgram);
    assert_eq!(Fine::new(&other, Machinery::default()).err(), Some(refused), "it schedules MC² alone");
}
