//! `tactus completions` and `tactus man`: the arguments, for a shell and for a manual.

use crate::arguments::{Arguments, Completions, Man};
use clap::CommandFactory;
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;

/// Prints the script by which a shell completes the command's words.
pub fn completions(arguments: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tactus", &mut script);
    lines::put(&String::from_utf8_lossy(&script));
    Outcome::Held
}

/// Prints the page of the manual on the command, or on one of its commands.
pub fn man(arguments: &Man) -> Result<Outcome, Failure> {
    lines::put(&page(arguments.command.as_deref())?);
    Ok(Outcome::Held)
}

fn page(of: Option<&str>) -> Result<String, Failure> {
    let mut whole = Arguments::command();
    whole.build();
    let command = match of {
        None => whole,
        Some(name) => {
            let names: Vec<&str> = whole.get_subcommands().map(|command| command.get_name()).collect();
            let unknown =
                || Failure::Input(format!("there is no command {name:?}: choose one of {}", names.join(", ")));
            let found = whole.find_subcommand(name).cloned();
            found.ok_or_else(unknown)?
        }
    };
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(|error| Failure::Machine(error.to_string()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn each_shells_script_and_the_manual_know_every_command() {
        let names: Vec<String> = Arguments::command().get_subcommands().map(|it| it.get_name().to_string()).collect();
        for shell in clap_complete::Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "tactus", &mut script);
            let script = String::from_utf8(script).expect("text");
            assert!(names.iter().all(|name| script.contains(name.as_str())), "{shell}");
        }
        let whole = page(None).expect("a page");
        for name in &names {
            assert!(whole.contains(&name.replace('-', "\\-")), "{name}");
            assert!(page(Some(name)).is_ok_and(|page| page.contains(".SH SYNOPSIS")), "{name}");
        }
        assert!(page(Some("nothing")).is_err_and(|error| error.to_string().contains("explain")));
    }
}
