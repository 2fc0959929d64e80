//! Many files: the expansion of inputs, one output per input, and reruns.

mod inputs;
#[cfg(unix)]
mod killed;
mod out_dir;
mod resume;

use crate::command::{Ran, robosieve, robosieve_with};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A directory with a snapshot `web.rsieve`: on h0.example to h9.example `/p` is disallowed for all
/// agents, and `/foo` for FooBot.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let robots = "user-agent: *\\ndisallow: /p\\n\\nuser-agent: FooBot\\ndisallow: /p\\ndisallow: /foo\\n";
        let line = |i| {
            format!(
                "{{\"url\": \"https://h{i}.example/robots.txt\", \"status\": 200, \"body\": \"{robots}\"}}\n"
            )
        };
        place.write("web.jsonl", (0..10).map(line).collect::<String>());
        place.done(&["compile", "-q", "-o", "web.rsieve", "web.jsonl"]);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file, and creates its directories.
    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Writes a list of one allowed URL that contains the file name.
    fn write_list(&self, name: &str) {
        self.write(name, format!("https://h1.example/{name}\n"));
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|err| panic!("{name}: {err}"))
    }

    fn run(&self, args: &[&str]) -> Ran {
        robosieve(self.dir.path(), args)
    }

    /// Runs a command, and asserts success.
    fn done(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        ran
    }

    /// Asserts that a command fails with a message that has all these words.
    fn refused(&self, args: &[&str], words: &[&str]) {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        let missing: Vec<_> = words
            .iter()
            .filter(|word| !ran.stderr.contains(**word))
            .collect();
        assert!(
            missing.is_empty(),
            "{args:?} does not say {missing:?} but: {}",
            ran.stderr
        );
    }

    /// The names of the lists that `filter` reads with these arguments, in order.
    fn taken(&self, args: &[&str], stdin: &str) -> Vec<String> {
        let args = [
            &["filter", "-q", "-s", "web.rsieve", "-a", "FooBot"][..],
            args,
        ]
        .concat();
        let ran = robosieve_with(self.dir.path(), &args, stdin.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
        let text = String::from_utf8(ran.stdout).unwrap();
        text.lines()
            .map(|line| line.strip_prefix("https://h1.example/").unwrap().to_owned())
            .collect()
    }
}
