//! `robosieve report`: figures against other computations, formats against each other, and the page
//! in a browser.

mod browser;
mod figures;
mod groups;
mod outputs;
mod pages;
mod reach;
mod sampling;
mod series;
mod since;
mod units;

use crate::command::Ran;
use crate::test_dir::TestDir;
use serde_json::Value;

/// The origin of a capture, its status, and its body.
pub(crate) type Capture<'c> = (&'c str, u16, &'c str);

/// Captures of a small web, as JSON lines.
pub(crate) fn archive(robots: &[Capture<'_>]) -> String {
    let line = |(origin, status, body): &Capture<'_>| {
        let fetched_at = "2026-09-15T06:00:00Z";
        let url = format!("{origin}/robots.txt");
        serde_json::json!({ "url": url, "status": status, "body": body, "fetched_at": fetched_at })
            .to_string()
            + "\n"
    };
    robots.iter().map(line).collect()
}

/// Compiles captures into a snapshot.
pub(crate) fn compile(dir: &TestDir, snapshot: &str, robots: &[Capture<'_>]) {
    dir.write("robots.jsonl", archive(robots));
    dir.stdout_of(&format!("compile -q -o {snapshot} robots.jsonl"));
}

/// A directory with the snapshot `s.rsieve` of captures.
pub(crate) fn compiled(robots: &[Capture<'_>]) -> TestDir {
    let dir = TestDir::new();
    compile(&dir, "s.rsieve", robots);
    dir
}

/// Asserts the success of a command, and returns its standard output.
pub(crate) fn done(ran: Ran) -> String {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    String::from_utf8(ran.stdout).unwrap()
}

/// The output of a command that writes JSON.
pub(crate) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The values of these keys in the objects of an array.
pub(crate) fn columns<const N: usize>(array: &Value, keys: [&str; N]) -> Value {
    let rows = array.as_array().unwrap().iter();
    rows.map(|row| keys.map(|key| row[key].clone()).to_vec())
        .collect::<Vec<_>>()
        .into()
}

/// The texts with this key in the objects of an array.
pub(crate) fn texts<'v>(array: &'v Value, key: &str) -> Vec<&'v str> {
    let objects = array.as_array().unwrap().iter();
    objects
        .map(|object| object[key].as_str().unwrap())
        .collect()
}
