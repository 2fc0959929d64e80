//! Shell completion scripts and man pages: generated from `--help`, and accepted by their readers.

use crate::command::{VERBS, robosieve};
use std::path::Path;
use std::process::Command;

fn printed(args: &[&str]) -> String {
    let ran = robosieve(Path::new("."), args);
    assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""), "{args:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Pipes a text to a program, and returns its standard output and standard error. Prints a notice
/// and returns `None` if the program is not installed.
fn read_by(program: &str, args: &[&str], text: &str) -> Option<(String, String)> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, text).unwrap();
    let Ok(out) = Command::new(program).args(args).arg(file.path()).output() else {
        eprintln!("skipped: {program} is not installed");
        return None;
    };
    let [stdout, stderr] =
        [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(out.status.success(), "{program}: {stderr}");
    Some((stdout, stderr))
}

/// Splits a line into words as readline does: `@` and `=` are words too.
fn bash_words(line: &str) -> Vec<String> {
    let separated = line.replace('=', " = ").replace('@', " @ ");
    let mut words: Vec<String> = separated.split_whitespace().map(str::to_owned).collect();
    if line.ends_with(' ') {
        words.push(String::new());
    }
    words
}

/// The part of the last word that readline replaces.
fn replaced_part(line: &str) -> &str {
    let word = line.rsplit([' ', '=']).next().unwrap();
    word.rfind('@').map_or(word, |at| &word[at..])
}

/// The completions of a line that ends at the cursor, by the function that the script registers.
#[cfg(unix)]
fn bash_completes(script: &str, line: &str) -> Vec<String> {
    let words = bash_words(line);
    let [previous, _] = words.last_chunk().unwrap();
    let input = format!(
        "{script}\nCOMP_LINE='{line}' COMP_POINT={} COMP_WORDS=({}) COMP_CWORD={}\n\
         registered=$(complete -p robosieve); registered=${{registered#*-F }}\n\
         ${{registered%% *}} robosieve '{}' '{previous}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        line.len(),
        words
            .iter()
            .map(|word| format!("'{word}' "))
            .collect::<String>(),
        words.len() - 1,
        replaced_part(line),
    );
    let (found, _) = read_by("bash", &[], &input).unwrap();
    found.lines().map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn bash_completes_verbs_options_and_values() {
    let script = printed(&["completions", "bash"]);
    for (line, expected) in [
        ("robosieve ann", "annotate"),
        ("robosieve filter --snap", "--snapshot"),
        ("robosieve diff --snap", "--snapshot"),
        ("robosieve filter --status-policy str", "strict"),
        ("robosieve completions fi", "fish"),
    ] {
        assert_eq!(bash_completes(&script, line), [expected], "{line}");
    }
}

#[cfg(unix)]
#[test]
fn bash_completes_agents_and_sets_in_comma_lists() {
    let script = printed(&["completions", "bash"]);
    for (line, expected) in [
        ("robosieve filter -a GPT", "GPTBot"),
        ("robosieve filter -a GPTBot,CCB", "GPTBot,CCBot"),
        ("robosieve check -s web -a @ai-t", "@ai-train"),
        // readline keeps the text up to the `@`.
        ("robosieve agents --agent GPTBot,@sea", "@search"),
        ("robosieve annotate --agent=PerplexityB", "PerplexityBot"),
        ("robosieve filter -a MyOwnBot,CCB", "MyOwnBot,CCBot"),
    ] {
        assert_eq!(bash_completes(&script, line), [expected], "{line}");
    }
    let all = bash_completes(&script, "robosieve filter -a ");
    assert!(
        ["@ai", "GPTBot", "CCBot", "Googlebot"]
            .iter()
            .all(|name| all.iter().any(|found| found == name)),
        "{all:?}"
    );
}

#[test]
fn scripts_of_other_shells_are_valid() {
    for (shell, args) in [("zsh", &["-n"][..]), ("fish", &["--no-execute"])] {
        let script = printed(&["completions", shell]);
        assert!(VERBS.iter().all(|verb| script.contains(verb)), "{shell}");
        read_by(shell, args, &script);
    }
    assert_eq!(
        robosieve(Path::new("."), &["completions", "cmd"]).code,
        Some(2)
    );
}

#[test]
fn zsh_and_fish_complete_agents_in_comma_lists() {
    for (shell, function) in [
        ("zsh", ":AGENT:_sequence compadd - @ai "),
        ("fish", "(__fish_append , @ai "),
    ] {
        let script = printed(&["completions", shell]);
        let lists: Vec<&str> = script.split(function).skip(1).collect();
        assert!(lists.len() >= 7, "{shell}: {} lists", lists.len());
        assert!(
            lists.iter().all(|list| list.contains(" GPTBot ")),
            "{shell}"
        );
    }
    let Some((found, _)) = read_by(
        "fish",
        &["--no-config"],
        &(printed(&["completions", "fish"])
            + "
complete -C 'robosieve filter -a GPTBot,@sea'
"),
    ) else {
        return;
    };
    assert!(found.starts_with("GPTBot,@search\t"), "{found}");
}

#[test]
fn every_verb_has_a_man_page() {
    let dir = tempfile::tempdir().unwrap();
    let ran = robosieve(dir.path(), &["man", "--out-dir", "man/man1"]);
    assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""));
    let found = std::fs::read_dir(dir.path().join("man/man1"))
        .unwrap()
        .count();
    assert_eq!(found, VERBS.len() + 1);
    let whole = printed(&["man"]);
    assert!(
        VERBS
            .iter()
            .all(|verb| whole.contains(&format!("robosieve\\-{verb}(1)"))),
        "{whole}"
    );
    for verb in VERBS {
        let page = std::fs::read_to_string(dir.path().join(format!("man/man1/robosieve-{verb}.1")))
            .unwrap();
        assert_eq!(page, printed(&["man", verb]));
        assert!(page.contains("\n.SH EXAMPLES\n"), "{verb}");
        if let Some((text, warnings)) = read_by(
            "groff",
            &["-man", "-Kutf8", "-Tutf8", "-P-c", "-ww", "-rLL=200n"],
            &page,
        ) {
            assert_eq!(warnings, "", "{verb}");
            assert!(text.contains(&format!("  robosieve {verb}")), "{text}");
        }
    }
    let ran = robosieve(dir.path(), &["man", "sieve"]);
    ran.refused("there are pages on compile, captures, filter");
}
