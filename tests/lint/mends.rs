//! Findings are mended in any order, and no rule that a fix removed is missed afterwards.
//!
//! A file is kept twice: *mended*, with all fixes, and *whole*, with the same fixes except those that
//! remove a superfluous line. Both must give the same verdicts, whatever was mended and in which
//! order: each finding alone, all in the order of the file, and all in random orders.

use super::effects::{SHARED_AGENTS, file_of_broken_lines};
use crate::command::cells;
use crate::generate::{ORIGIN, Random};
use robosieve::lint::{Code, Finding, FixOptions, fix, lint};
use robosieve::robots::reference;
use robosieve::{Agent, AgentMatch, Profile};

/// Codes whose fixes remove a line.
const REMOVING: &[Code] = &[
    Code::DuplicateRule,
    Code::NeverDecides,
    Code::RedundantRule,
    Code::EmptyRule,
    Code::EmptyGroup,
    Code::RepeatedAgent,
];

/// A line of both files, with its end. A mend may make several of it, or none.
#[derive(Clone, Default)]
struct Line {
    mended: Vec<u8>,
    whole: Vec<u8>,
}

/// A file while its findings are mended.
#[derive(Clone)]
struct MendedFile {
    lines: Vec<Line>,
}

impl MendedFile {
    fn new(body: &str) -> Self {
        let lines = body.split_inclusive('\n').map(|line| Line {
            mended: line.into(),
            whole: line.into(),
        });
        Self {
            lines: lines.collect(),
        }
    }

    fn mended(&self) -> Vec<u8> {
        self.lines
            .iter()
            .flat_map(|line| line.mended.clone())
            .collect()
    }

    fn whole(&self) -> Vec<u8> {
        self.lines
            .iter()
            .flat_map(|line| line.whole.clone())
            .collect()
    }

    /// The index of the line with a number in the mended file.
    fn index_of(&self, number: u32) -> usize {
        let mut first = 1;
        let is_after = |line: &Line| {
            first += line.mended.iter().filter(|byte| **byte == b'\n').count() as u32;
            first > number
        };
        self.lines.iter().position(is_after).unwrap()
    }

    /// Follows the help of a finding. Returns whether there was something to do.
    fn mend(&mut self, finding: &Finding) -> bool {
        if finding.fix().is_some() {
            self.apply_fix(finding);
            return true;
        }
        let index = self.index_of(finding.line);
        let text = String::from_utf8(self.lines[index].mended.clone()).unwrap();
        let value = text.split_once(':').map_or("", |(_, value)| value.trim());
        let field = text.split(':').next().unwrap_or_default();
        match finding.code {
            Code::FullUrl => {
                let path = value.splitn(4, '/').nth(3).unwrap_or_default();
                self.write(index, format!("{field}: /{path}\n"));
            }
            Code::SpaceInPattern => {
                let rules = value
                    .split_whitespace()
                    .map(|path| format!("{field}: {path}\n"));
                self.write(index, rules.collect());
            }
            Code::EmptyAgent => self.write(index, "user-agent: *\n".to_owned()),
            Code::OutsideGroup => self.insert(index, "user-agent: *\n"),
            Code::JoinedGroups => self.insert(index, "allow: /\n"),
            Code::MisspeltField => self.write(index, String::new()),
            _ => return false,
        }
        true
    }

    /// Writes a line of both files, if they have not differed before.
    fn write(&mut self, index: usize, text: String) {
        let line = &mut self.lines[index];
        if line.whole == line.mended {
            line.whole = text.clone().into();
        }
        line.mended = text.into();
    }

    fn insert(&mut self, index: usize, text: &str) {
        let line = Line {
            mended: text.into(),
            whole: text.into(),
        };
        self.lines.insert(index, line);
    }

    fn apply_fix(&mut self, finding: &Finding) {
        let is_removing = REMOVING.contains(&finding.code);
        for edit in finding.fix().unwrap().edits.iter().rev() {
            let mut start = 0;
            for line in &mut self.lines {
                let end = start + line.mended.len();
                if edit.range.start < end {
                    let is_same = line.whole == line.mended;
                    let range = edit.range.start - start..edit.range.end - start;
                    line.mended.splice(range, edit.text.bytes());
                    if is_same && !is_removing {
                        line.whole.clone_from(&line.mended);
                    }
                    break;
                }
                start = end;
            }
        }
    }

    fn remove_superfluous(&mut self) {
        while let Some(finding) = lint(&self.mended())
            .iter()
            .find(|finding| REMOVING.contains(&finding.code) && finding.fix().is_some())
        {
            self.apply_fix(finding);
        }
    }
}

fn verdicts(body: &[u8], agents: &[Agent], urls: &[String]) -> Vec<bool> {
    let mut verdicts = Vec::new();
    for profile in [Profile::Google, Profile::Rfc9309] {
        for agent in agents {
            for url in urls {
                let url = url.as_bytes();
                let how = AgentMatch::Extended;
                verdicts.push(reference::judge(body, agent, how, profile, url).allowed);
            }
        }
    }
    verdicts
}

/// The agents and URLs that are asked.
fn questions() -> (Vec<Agent>, Vec<String>) {
    let names = SHARED_AGENTS.iter().chain(&["GPTBot", "CCBot"]);
    let urls = ["", "/a", "/a/b", "/ab", "/a/b/c", "/b", "/a/c", "/c/b"];
    (
        names.map(|name| name.parse().unwrap()).collect(),
        urls.map(|path| format!("{ORIGIN}{path}")).to_vec(),
    )
}

#[test]
fn removed_rules_are_never_missed() {
    let (agents, urls) = questions();
    let assert_same = |file: &MendedFile, body: &str| {
        let [mended, whole] = [file.mended(), file.whole()];
        assert!(
            mended == whole
                || verdicts(&mended, &agents, &urls) == verdicts(&whole, &agents, &urls),
            "{body}\n-- mended\n{}\n-- whole\n{}",
            mended.escape_ascii().to_string().replace("\\n", "\n"),
            whole.escape_ascii().to_string().replace("\\n", "\n"),
        );
    };
    let mut random = Random(12);
    let mut removed = 0;
    for _ in 0..120 {
        let body = file_of_broken_lines(&mut random);
        let mut file = MendedFile::new(&body);
        file.remove_superfluous();
        removed += usize::from(file.mended() != file.whole());
        // Each finding alone, after all superfluous lines are gone.
        for finding in lint(&file.mended()) {
            let mut file = file.clone();
            if !REMOVING.contains(&finding.code) && file.mend(&finding) {
                assert_same(&file, &body);
            }
        }
        // All findings, first in the order of the file.
        for order in 0..21 {
            let mut file = MendedFile::new(&body);
            for _ in 0..60 {
                let mut findings = lint(&file.mended());
                let mut is_mended = false;
                while !findings.is_empty() && !is_mended {
                    let next = match order {
                        0 => 0,
                        _ => random.below(findings.len() as u64) as usize,
                    };
                    is_mended = file.mend(&findings.remove(next));
                }
                if !is_mended {
                    break;
                }
            }
            assert_same(&file, &body);
        }
        // As the command does.
        let all = FixOptions::new().unsafe_fixes(true);
        let kept = all.clone().allowed(REMOVING.iter().copied());
        let [mended, whole] = [all, kept].map(|options| fix(body.as_bytes(), &options).body);
        let found = verdicts(&mended, &agents, &urls);
        assert_eq!(found, verdicts(&whole, &agents, &urls), "{body}");
    }
    // The generator meets files with superfluous lines.
    assert!(removed > 10, "{removed}");
}

/// A mend of a user-agent line keeps every name in it.
#[test]
fn names_are_kept() {
    for (line, names) in [
        ("User-agent GPTBot:", &["GPTBot"][..]),
        ("User agent GPTBot:", &["GPTBot"]),
        ("User-agnt GPTBot:", &["GPTBot"]),
        ("User-agent: GPTBot CCBot", &["GPTBot", "CCBot"]),
        ("User-agent GPTBot CCBot", &["GPTBot", "CCBot"]),
        ("User-agent: GPTBot; CCBot", &["GPTBot", "CCBot"]),
        ("User-agent: GPTBot FooBot", &["GPTBot", "FooBot"]),
        ("User-agent: * all", &["*", "all"]),
        ("User-agent: * Disallow: /x", &["*", "Disallow: /x"]),
        ("User-agent: \"GPTBot\"", &["GPTBot"]),
        ("\u{feff}User-agent: GPTBot", &["GPTBot"]),
        ("Allow Googlebot: /", &["Googlebot"]),
        ("Useragent : GPTBot # CCBot", &["GPTBot", "CCBot"]),
    ] {
        let body = format!("User-agent: *\nDisallow: /a\n{line}\nDisallow: /\n");
        for finding in lint(body.as_bytes()) {
            let listed = names.iter().all(|name| finding.help.contains(name));
            let is_shown = finding.code != Code::AgentName || finding.line != 3 || listed;
            assert!(
                is_shown || !line.contains("CCBot"),
                "{line}: {}",
                finding.help
            );
        }
        let fixed = fix(body.as_bytes(), &FixOptions::new().unsafe_fixes(true));
        let fixed = String::from_utf8(fixed.body).unwrap();
        for name in names {
            assert!(fixed.contains(name), "{line}: {fixed}");
        }
        assert!(fixed.contains("Disallow: /a"), "{line}: {fixed}");
    }
}

/// The help of the first finding on a line.
fn help_of(body: &[u8], line: u32) -> String {
    let findings = lint(body);
    let finding = findings.iter().find(|finding| finding.line == line);
    finding.map_or_else(String::new, |finding| finding.help.clone())
}

/// No help deletes what an author wrote, and each one names what to write.
#[test]
fn help_keeps_names_rules_and_values() {
    for row in [
        "3 | write `Sitemap: http://e.example/s.xml` | \
         User-agent: *\nAllow: /\nSitemap\u{ff1a}http://e.example/s.xml\n",
        "2 | write the line again as `Sitemap: VALUE` | \
         User-agent: *\nSitemap=http://e.example/s.xml\n",
        "2 | write `Disallow: /a` | User-agent: *\n\u{201c}Disallow: /a\u{201d}\n",
        "1 | write `User-agent: Yeti`, and a user-agent line for `Foobot` if it is a name | \
         User-agent: Yeti/Foobot\nDisallow: /\n",
        "2 | write `User-agent: GPTBot`, and `Disallow: /` below it | \
         User-agent:\nGPTBot Disallow: /\n",
        "3 | write `User-agent: FooBot`, and `Disallow: /` below it, if `FooBot` is a crawler, or \
         the rule alone | User-agent: *\nDisallow: /a\nFooBot Disallow: /\n",
        "3 | write `User-agent: GPTBot`, and `Disallow: /` below it | \
         User-agent: *\nDisallow: /a\nGPTBot: Disallow: /\n",
        "1 | write `User-agent: *`, and remove all HTML from the file; a server or a plug-in may \
         add it | <pre>User-agent: *\nDisallow: /a\n</pre>\n",
        "4 | write `Disallow: /b`, and remove all HTML from the file; a server or a plug-in may \
         add it | User-agent: *\nDisallow: /a\n<p>\n<b>Disallow: /b</b><br>\n",
        "2 | write `Disallow: /a'b` | User-agent: *\nDisallow: /a&#39;b\n",
        "2 | write `Disallow: /a'b&c` | User-agent: *\nDisallow: /a&amp;#x27;b&amp;c # d\n",
        "2 | write `Disallow: /%C3%A9%23` | User-agent: *\nDisallow: /&#233;&#35;\n",
        "5 | write one group for these agents, with this rule or with that of line 2, whichever is \
         meant to decide | User-agent: GPTBot\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n",
        "1 | serve a text file at /robots.txt, or answer with status 404 | 404 page not found\n",
        "1 | write `FIELD: VALUE`, or `#` before a comment | 404 page not found\nUser-agent: *\n",
        "1 | write `Sitemap: https://e.example/s.xml`, without blanks and invisible characters | \
         Sitemap: \u{3000}https://e.example/s.xml\n",
        "1 | write `Sitemap: https://e.example/s.xml`, without quotes | \
         Sitemap: \"https://e.example/s.xml\"\n",
    ] {
        let [line, help, body] = cells(row);
        let found = help_of(body.as_bytes(), line.parse().unwrap());
        assert_eq!(found, help, "{row:?}");
    }
    // Other encodings.
    let found = help_of(b"User-agent: *\nDisallow\xa3\xba/a\n", 2);
    assert_eq!(found, "write `Disallow: /a`");
    let found = help_of(b"\xff\xfe<\0h\0t\0m\0l\0>\0\n\0", 1);
    let expected = "serve a text file at /robots.txt, or answer with status 404";
    assert_eq!(found, expected);
    let found = help_of(b"\xff\xfea\0l\0l\0o\0w\0:\0/\0\n\0", 1);
    assert_eq!(found, "save the file as UTF-8 without a byte order mark");
}
