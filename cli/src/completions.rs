//! `robosieve completions`: prints a shell completion script.
//!
//! The generators of `clap_complete` complete the possible values of an option. For agents these
//! are the sets and crawlers of the registry, although `-a` accepts any name. So only this command
//! gives `-a` possible values. The generators also know no lists of values, so the completion of
//! `-a` is replaced by one that completes the last name of a comma list.

use crate::args::{Cli, CompletionsArgs};
use crate::output::print;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use robosieve::crawlers::{AgentSet, KnownAgent};

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let names = completed_names();
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut command_with_names(&names),
        "robosieve",
        &mut script,
    );
    print(&complete_lists(
        args.shell,
        &String::from_utf8_lossy(&script),
        &names,
    ))
}

/// The sets and crawlers of the registry. Names with spaces are missing, as completion scripts
/// separate words by spaces.
fn completed_names() -> Vec<&'static str> {
    let sets = AgentSet::ALL.into_iter().map(AgentSet::name);
    let crawlers = KnownAgent::all().iter().map(|known| known.token.as_str());
    sets.chain(crawlers)
        .filter(|name| !name.contains(' '))
        .collect()
}

/// The command line, with `names` as possible values of agents.
fn command_with_names(names: &[&'static str]) -> Command {
    let mut command = Cli::command();
    // Builds the deferred arguments of the verbs.
    command.build();
    for verb in command.get_subcommands_mut() {
        if verb.get_arguments().any(|arg| arg.get_id() == "agents") {
            let names = names.to_vec();
            *verb = std::mem::take(verb).mut_arg("agents", |arg| arg.value_parser(names));
        }
    }
    command
}

/// Replaces the completion of a single name by that of a comma list.
fn complete_lists(shell: Shell, script: &str, names: &[&str]) -> String {
    let list = names.join(" ");
    match shell {
        Shell::Bash => {
            let single = format!("compgen -W \"{list}\"");
            let script = script
                .replace(&single, "compgen -W \"\"")
                .replace("-F _robosieve ", "-F _robosieve_or_agents ");
            BASH_FUNCTION.replace("NAMES", &list) + &script
        }
        Shell::Zsh => script.replace(
            &format!(":AGENT:({list})"),
            &format!(":AGENT:_sequence compadd - {list}"),
        ),
        Shell::Fish => {
            let single = names
                .iter()
                .map(|name| format!("{name}\\t''"))
                .collect::<Vec<_>>()
                .join("\n");
            script.replace(
                &format!("\"{single}\""),
                &format!("\"(__fish_append , {list})\""),
            )
        }
        // Their scripts complete no values of options.
        _ => script.to_owned(),
    }
}

/// Completes the last name of the list after `-a` or `--agent`, and leaves everything else to the
/// generated function.
///
/// The list is taken from the line: bash splits words at `@` and `=`, and replaces only the part in
/// `$2`.
const BASH_FUNCTION: &str = r#"_robosieve_or_agents() {
    local line="${COMP_LINE:0:COMP_POINT}"
    if [[ "${line}" =~ [[:space:]](-a[[:space:]]+|--agent[[:space:]]+|--agent=)([^[:space:]]*)$ ]]; then
        local list="${BASH_REMATCH[2]}"
        local last="${list##*,}"
        COMPREPLY=($(compgen -P "${list%"${last}"}" -W "NAMES" -- "${last}"))
        COMPREPLY=("${COMPREPLY[@]#"${list%"$2"}"}")
    else
        _robosieve "$@"
    fi
}

"#;
