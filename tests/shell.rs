//! Completions and man pages: made of the same words as `--help`, and understood by those who read them.

use crate::command::robosieve;
use std::path::Path;
use std::process::Command;

const VERBS: &[&str] =
    &["compile", "filter", "annotate", "check", "inspect", "agents", "diff", "report", "bench", "completions", "man"];

fn printed(args: &[&str]) -> String {
    let ran = robosieve(Path::new("."), args);
    assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""), "{args:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// What a program makes of a text; `None` with a notice where it is not installed.
fn read_by(program: &str, args: &[&str], text: &str) -> Option<(String, String)> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, text).unwrap();
    let Ok(out) = Command::new(program).args(args).arg(file.path()).output() else {
        eprintln!("passed over: there is no {program}");
        return None;
    };
    let [stdout, stderr] = [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(out.status.success(), "{program}: {stderr}");
    Some((stdout, stderr))
}

#[cfg(unix)]
#[test]
fn bash_completes_verbs_options_and_values() {
    let script = printed(&["completions", "bash"]);
    for (line, expected) in [
        ("robosieve ann", "annotate"),
        ("robosieve filter --snap", "--snapshot"),
        ("robosieve filter --status-policy str", "strict"),
        ("robosieve completions fi", "fish"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let asked = format!(
            "{script}\\nCOMP_WORDS=({line}); COMP_CWORD={}; _robosieve robosieve {} {}; echo \"${{COMPREPLY[@]}}\"",
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let asked = asked.replace("\\n", "\n");
        let (found, _) = read_by("bash", &[], &asked).unwrap();
        assert_eq!(found.trim(), expected, "{line}");
    }
}

#[test]
fn other_shells_read_theirs() {
    for (shell, args) in [("zsh", &["-n"][..]), ("fish", &["--no-execute"])] {
        let script = printed(&["completions", shell]);
        assert!(VERBS.iter().all(|verb| script.contains(verb)), "{shell}");
        read_by(shell, args, &script);
    }
    assert_eq!(robosieve(Path::new("."), &["completions", "cmd"]).code, Some(2));
}

#[test]
fn there_is_a_page_of_the_manual_for_each_verb() {
    let dir = tempfile::tempdir().unwrap();
    let ran = robosieve(dir.path(), &["man", "--out-dir", "man/man1"]);
    assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""));
    assert_eq!(std::fs::read_dir(dir.path().join("man/man1")).unwrap().count(), VERBS.len() + 1);
    let whole = printed(&["man"]);
    assert!(VERBS.iter().all(|verb| whole.contains(&format!("robosieve\\-{verb}(1)"))), "{whole}");
    for verb in VERBS {
        let page = std::fs::read_to_string(dir.path().join(format!("man/man1/robosieve-{verb}.1"))).unwrap();
        assert_eq!(page, printed(&["man", verb]));
        assert!(page.contains("\n.SH EXAMPLES\n"), "{verb}");
        if let Some((text, warnings)) =
            read_by("groff", &["-man", "-Kutf8", "-Tutf8", "-P-c", "-ww", "-rLL=200n"], &page)
        {
            assert_eq!(warnings, "", "{verb}");
            assert!(text.contains(&format!("  robosieve {verb}")), "{text}");
        }
    }
    let ran = robosieve(dir.path(), &["man", "sieve"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("there are those on compile, filter"), "{}", ran.stderr);
}
