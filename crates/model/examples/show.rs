//! Reads system files and says what they are, or everything that is wrong with them.
//!
//! ```console
//! $ cargo run -p tactus-model --example show -- examples/avionics.toml
//! ```

use std::path::Path;
use std::process::ExitCode;
use tactus_model::{policy_label, System};

fn main() -> ExitCode {
    let mut status = ExitCode::SUCCESS;
    for file in std::env::args().skip(1) {
        match System::read(Path::new(&file)) {
            Ok(system) => {
                let (tasks, levels) = (system.tasks.len(), system.level_summary());
                let levels = if levels.is_empty() { levels } else { format!(" ({levels})") };
                let policy = policy_label(&system.policy);
                println!("{file}: {} cores · {tasks} tasks{levels} · {policy} · {}", system.cores, system.duration);
                for note in &system.notes {
                    println!("    note: {note}");
                }
            }
            Err(problems) => {
                println!("{problems}");
                status = ExitCode::from(2);
            }
        }
    }
    status
}
