//! Counts of one thing: "1 origin", not "1 origins".

use crate::test_dir::TestDir;

/// The first count of 1 before a plural, such as "1 origins". Columns are separated by more than one
/// blank, so a column of numbers before a name is not one.
fn plural_of_one(text: &str) -> Option<&str> {
    text.match_indices("1 ").find_map(|(at, _)| {
        let is_number = !text[..at].ends_with(|c: char| c.is_alphanumeric() || ".,-".contains(c));
        let words = &text[at + 2..];
        let noun = words.split([' ', ',', ';', ':', ')', '\n']).next()?;
        let is_plural = noun.len() > 2
            && noun.ends_with('s')
            && !noun.ends_with("ss")
            && !["is", "has", "as", "times"].contains(&noun);
        (is_number && is_plural).then(|| &text[at..at + 2 + noun.len()])
    })
}

#[test]
fn the_check_finds_plurals() {
    for text in ["1 origins", "x 1 files, y", "(1 lines)"] {
        assert!(plural_of_one(text).is_some(), "{text}");
    }
    for text in ["11 origins", "0.1 s", "1 origin", "1 line has", "CP-1 s"] {
        assert_eq!(plural_of_one(text), None, "{text}");
    }
}

#[test]
fn no_verb_counts_one_in_the_plural() {
    let dir = TestDir::new();
    let robots = "User-agent: GPTBot\\nDisallow: /x";
    dir.write(
        "one.jsonl",
        format!(
            "{{\"url\": \"https://a.example/robots.txt\", \"status\": 200, \
             \"fetched_at\": 0, \"body\": \"{robots}\"}}\n"
        ),
    );
    dir.write(
        "none.jsonl",
        "{\"url\": \"https://a.example/x\", \"status\": 200, \"fetched_at\": 0, \"body\": \"\"}\n",
    );
    dir.write(
        "unread.jsonl",
        "{\"url\": \"https://a.example/robots.txt\", \"status\": 200, \"fetched_at\": 0, \
         \"robots_txt\": \"User-agent: *\"}\n",
    );
    dir.write("known", "https://a.example/x\n");
    dir.write("unknown", "https://b.example/\n");
    dir.write("odd", "https://a.example/\nx\n");
    dir.write("pages/urls", "https://a.example/\n");
    dir.write("pages/deep/urls", "https://a.example/\n");
    dir.write("sites/a.example.txt", "User-agent: *");
    dir.write("sites/notes (old)", "x");
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for line in [
        "compile -o web one.jsonl",
        "compile -o other none.jsonl",
        "compile -o other unread.jsonl",
        "compile -o other sites",
        "captures -o c.captures one.jsonl",
        "inspect web",
        "inspect web a.example",
        "inspect c.captures",
        "export -s web -a GPTBot",
        "diff web web",
        "due -s web known unknown --stale-at now",
        "filter -s web -a GPTBot known",
        "filter -s web -a GPTBot unknown",
        "filter -s web -a GPTBot odd",
        "filter -s web -a GPTBot pages",
        "filter -s web -a GPTBot --out-dir out pages/urls",
        "filter -s web -a GPTBot --out-dir out --resume pages/urls",
        "annotate -s web -a GPTBot,CCBot known",
        "check -s web -a GPTBot --explain=all https://a.example/x",
        "report -s web -a GPTBot known",
        "report -s web -a GPTBot odd",
        "report -s web -a GPTBot,CCBot --by domain",
        "report -a GPTBot --series A=web",
        "report -a GPTBot --series A=web --common",
        "lint -s web",
        "lint sites/a.example.txt",
        "agents web",
        "bench --origins 1 --urls 1 --runs 1 --threads 1",
    ] {
        runs.push(line.split(' ').collect());
    }
    for args in runs {
        let ran = dir.run(&args);
        for text in [&String::from_utf8_lossy(&ran.stdout), &*ran.stderr] {
            assert_eq!(plural_of_one(text), None, "{args:?}\n{text}");
        }
    }
}
