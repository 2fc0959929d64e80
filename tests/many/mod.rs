//! Many files: the expansion of inputs, one output per input, and reruns.

mod inputs;
#[cfg(unix)]
mod killed;
mod out_dir;
mod resume;

use crate::command::robosieve_with;
use crate::test_dir::TestDir;

/// A directory with a snapshot `web.rsieve`: on h0.example to h9.example `/p` is disallowed for all
/// agents, and `/foo` for FooBot.
fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    let robots =
        "user-agent: *\\ndisallow: /p\\n\\nuser-agent: FooBot\\ndisallow: /p\\ndisallow: /foo\\n";
    let line = |i| {
        format!(
            "{{\"url\": \"https://h{i}.example/robots.txt\", \"status\": 200, \"body\": \"{robots}\"}}\n"
        )
    };
    dir.write("web.jsonl", (0..10).map(line).collect::<String>());
    dir.done(&["compile", "-q", "-o", "web.rsieve", "web.jsonl"]);
    dir
}

impl TestDir {
    /// Writes a list of one allowed URL that contains the file name.
    fn write_list(&self, name: &str) {
        self.write(name, format!("https://h1.example/{name}\n"));
    }

    /// The names of the lists that `filter` reads with these arguments, in order.
    fn taken(&self, args: &[&str], stdin: &str) -> Vec<String> {
        let args = [
            &["filter", "-q", "-s", "web.rsieve", "-a", "FooBot"][..],
            args,
        ]
        .concat();
        let ran = robosieve_with(self.root(), &args, stdin.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
        let text = String::from_utf8(ran.stdout).unwrap();
        text.lines()
            .map(|line| line.strip_prefix("https://h1.example/").unwrap().to_owned())
            .collect()
    }
}
