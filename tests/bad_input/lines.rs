//! Odd lines: each stays a separate line, unchanged.

use super::*;

/// Lines and their expected letters.
const ODD: [(&[u8], char); 21] = [
    (b"https://a.example/ok", 'A'),
    (b"", 'I'),
    (b"\r", 'I'),
    (b" ", 'I'),
    (b"\0", 'I'),
    (b"\r\r", 'I'),
    (b"https://a.example/x\r", 'D'),
    (b"https://a.example/ok\r", 'A'),
    (b"https://a.example/x\rhttps://a.example/", 'D'),
    (b"https://a.example/\0", 'A'),
    (b"https://a.example/x\0\0\0", 'D'),
    (b"https://a.example/\tx", 'A'),
    (b"\thttps://a.example/x\t\r", 'D'),
    (b"https://a.example/ x\x1b", 'A'),
    (b"https://a.exa\0mple/", 'I'),
    (b"https://a.example/\xff\xfe", 'A'),
    (b"\xff\xfeh\0t\0t\0p\0", 'I'),
    (b"https://q.example/", 'U'),
    (b"https://q.example/\xc3\x28\r", 'U'),
    (b"not a URL", 'I'),
    (b"https://a.example/x", 'D'),
];

/// The number that follows a name in the summary.
fn summary(stderr: &str, name: &str) -> u64 {
    let lines = stderr
        .lines()
        .skip_while(|line| !line.starts_with("lines "));
    let mut words = lines
        .flat_map(str::split_whitespace)
        .skip_while(|word| *word != name);
    words.nth(1).unwrap().replace(',', "").parse().unwrap()
}

/// Asserts that the summary has the count of each letter, and of all lines and bytes.
fn assert_summary(stderr: &str, letters: &[char], bytes: usize) {
    let count = |letter| letters.iter().filter(|&&l| l == letter).count();
    for (name, expected) in [
        ("lines", letters.len()),
        ("allowed", count('A')),
        ("disallowed", count('D')),
        ("unknown", count('U')),
        ("invalid", count('I')),
        ("bytes", bytes),
    ] {
        assert_eq!(summary(stderr, name), expected as u64, "{name} in {stderr}");
    }
}

/// Writes the odd lines to three files without a last line end, and an empty file between them.
fn write_odd(dir: &TestDir) -> [&'static str; 4] {
    let text: Vec<&[u8]> = ODD.iter().map(|(line, _)| *line).collect();
    let text = text.join(&b'\n');
    dir.write("1.txt", &text);
    dir.write("2.txt", "");
    dir.write("3.txt.gz", gz(&text));
    dir.write("4.txt.zst", zst(&text));
    ["1.txt", "2.txt", "3.txt.gz", "4.txt.zst"]
}

#[test]
fn annotate_preserves_odd_lines() {
    let dir = snapshot_dir();
    let inputs = write_odd(&dir);
    let ran = dir.done(
        &[
            &["annotate", "-s", "good.rsieve", "-a", "FooBot"][..],
            &inputs,
        ]
        .concat(),
    );
    let lines: Vec<Vec<u8>> = ODD
        .iter()
        .map(|(line, letter)| [format!("{letter}\t").as_bytes(), line].concat())
        .collect();
    let text = lines.join(&b'\n');
    assert_eq!(ran.stdout, [text.as_slice(); 3].join(&b'\n'));
    let letters = ODD.map(|(_, letter)| letter).repeat(3);
    assert_summary(&ran.stderr, &letters, 3 * (text.len() - 2 * ODD.len()));
}

#[test]
fn filter_writes_every_line_once() {
    let dir = snapshot_dir();
    let inputs = write_odd(&dir);
    let outputs = words("-o A --disallowed-to D --unknown-to U --invalid-to I");
    let ran = dir.done(
        &[
            &["filter", "-s", "good.rsieve", "-a", "FooBot"][..],
            &outputs,
            &inputs,
        ]
        .concat(),
    );
    for letter in ["A", "D", "U", "I"] {
        let lines = ODD
            .iter()
            .filter(|(_, l)| letter.starts_with(*l))
            .map(|(line, _)| *line);
        let mut expected = lines.collect::<Vec<_>>().repeat(3).join(&b'\n');
        // Only the last line of the last file has no line end.
        if letter != "D" {
            expected.push(b'\n');
        }
        let found = dir.read(letter).escape_ascii().to_string();
        assert_eq!(found, expected.escape_ascii().to_string(), "{letter}");
    }
    let bytes = inputs[..1]
        .iter()
        .map(|name| dir.read(name).len())
        .sum::<usize>()
        * 3;
    assert_summary(&ran.stderr, &ODD.map(|(_, letter)| letter).repeat(3), bytes);
}

#[test]
fn empty_lists_give_empty_outputs() {
    let dir = snapshot_dir();
    dir.write("empty", "");
    for verb in ["filter", "annotate"] {
        let ran = dir.done_line(&format!("{verb} -s good.rsieve -a FooBot empty -o new"));
        assert_eq!(dir.read("new"), b"");
        assert_summary(&ran.stderr, &[], 0);
        assert_eq!(
            dir.done(&[verb, "-q", "-s", "good.rsieve", "-a", "FooBot"])
                .stdout,
            b""
        );
    }
}

#[test]
fn overlong_lines_are_invalid() {
    let dir = snapshot_dir();
    let long = [b"https://a.example/".as_slice(), &vec![b'y'; 100 << 20]].concat();
    let list = [
        b"https://a.example/\n",
        long.as_slice(),
        b"\nhttps://a.example/x",
    ]
    .concat();
    dir.write("long.txt", &list);
    let args = words("annotate -s good.rsieve -a FooBot,BarBot long.txt list.txt -o new");
    let ran = dir.done(&args);
    let rest =
        b"AA\thttps://a.example/\nDD\thttps://a.example/x\nUU\thttps://q.example/\nII\tfoo\n";
    let parts = [
        b"AA\thttps://a.example/\nII\t",
        long.as_slice(),
        b"\nDD\thttps://a.example/x\n",
        rest,
    ];
    assert!(
        dir.read("new") == parts.concat(),
        "bytes were lost or changed"
    );
    assert_summary(
        &ran.stderr,
        &['A', 'I', 'D', 'A', 'D', 'U', 'I'],
        list.len() + LIST.len(),
    );
}

#[test]
fn urls_of_megabytes_have_verdicts() {
    let dir = snapshot_dir();
    let filler = vec![b'y'; 5 << 20];
    let line = |start: &str, end: &str| [start.as_bytes(), &filler, end.as_bytes()].concat();
    let lines = [
        line("https://a.example/x", ""),
        line("https://a.example/", ""),
        line("https://a.example/", ".secret"),
        line("https://a.example/x", "%c3%a9?\u{e9}"),
        line("https://q.example/", ""),
    ];
    dir.write("long.txt", lines.join(&b'\n'));
    let ran = dir.done_line("annotate -q -s good.rsieve -a FooBot long.txt");
    let letters: Vec<u8> = ran
        .stdout
        .split(|&b| b == b'\n')
        .map(|line| line[0])
        .collect();
    assert_eq!(letters, b"DADDU");
}

#[test]
fn hosts_of_megabytes_are_unknown_or_invalid() {
    let dir = snapshot_dir();
    dir.write(
        "long.txt",
        [
            b"https://",
            vec![b'y'; 5 << 20].as_slice(),
            b".example/\nhttps://a.example/",
        ]
        .concat(),
    );
    let ran = dir.done_line("annotate -q -s good.rsieve -a FooBot long.txt");
    assert!(matches!(ran.stdout[0], b'I' | b'U'));
    assert!(ran.stdout.ends_with(b"\nA\thttps://a.example/"));
}

#[test]
fn seventy_agents_have_seventy_letters() {
    let dir = snapshot_dir();
    let name = |i: usize| {
        format!(
            "bot{}{}",
            char::from(b'a' + (i / 10) as u8),
            char::from(b'a' + (i % 10) as u8)
        )
    };
    let named = [0, 7, 62, 63, 64, 65, 69];
    let groups: String = named
        .iter()
        .map(|&i| format!("user-agent: {}\ndisallow: /x\n\n", name(i)))
        .collect();
    dir.write("good.rsieve", snapshot(&groups));
    let agents: Vec<String> = (0..70).map(name).collect();
    let ran = dir.done(&[
        "annotate",
        "-q",
        "-s",
        "good.rsieve",
        "-a",
        &agents.join(","),
        "list.txt",
    ]);
    let by_rules: String = (0..70)
        .map(|i| if named.contains(&i) { 'D' } else { 'A' })
        .collect();
    let letters = ["A".repeat(70), by_rules, "U".repeat(70), "I".repeat(70)];
    let urls = LIST.split(|&b| b == b'\n');
    let expected: Vec<String> = letters
        .iter()
        .zip(urls)
        .map(|(l, url)| format!("{l}\t{}\n", String::from_utf8_lossy(url)))
        .collect();
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), expected.concat());
}

#[test]
fn quiet_prints_nothing_and_dash_is_a_stream() {
    let dir = snapshot_dir();
    for (verb, expected) in [
        ("filter", "https://a.example/\n"),
        (
            "annotate",
            "A\thttps://a.example/\nD\thttps://a.example/x\nU\thttps://q.example/\nI\tfoo\n",
        ),
    ] {
        let judge = [verb, "-q", "-s", "good.rsieve", "-a", "FooBot"];
        for rest in [
            &[][..],
            &["-"],
            &["-o", "-"],
            &["-o", "-", "-"],
            &["list.txt", "-o", "-"],
        ] {
            let ran = robosieve_with(dir.root(), &[&judge[..], rest].concat(), LIST);
            assert_eq!(ran.code, Some(0), "{verb} {rest:?}");
            assert_eq!(ran.stderr.as_str(), "", "{verb} {rest:?}");
            let found = String::from_utf8(ran.stdout).unwrap();
            assert_eq!(found, expected, "{verb} {rest:?}");
        }
        assert!(!dir.path("-").exists());
    }
    assert_eq!(
        dir.done(&["compile", "-q", "good.jsonl", "-o", "new"])
            .stderr,
        ""
    );
}
