//! A snapshot from the responses of a crawler's own HTTP client, later updated by newer ones.

use robosieve::compile::HttpResponse;
use robosieve::{Compiler, Judge, JudgeOptions, Result, Snapshot, Verdict};

/// What the client returned for one URL: a response, or why there is none.
type Fetched = (&'static str, Result<HttpResponse<'static>, &'static str>);

/// Compiles responses. With a previous snapshot, origins without a response stay as they are there.
fn compile(
    previous: Option<Snapshot>,
    time: i64,
    fetched: impl IntoIterator<Item = Fetched>,
) -> Result<Vec<u8>> {
    let mut compiler = Compiler::default();
    if let Some(previous) = previous {
        compiler = compiler.previous(previous)?;
    }
    for (url, response) in fetched {
        match response {
            Ok(response) => compiler.add_response(url, response.fetched_at(time))?,
            Err(cause) => compiler.add_failure(url, cause, Some(time))?,
        }
    }
    compiler.finish()?.to_vec()
}

fn main() -> Result<()> {
    let rules = HttpResponse::new(200)
        .body(b"User-agent: *\nDisallow: /private")
        .max_age(3600);
    let first = [
        ("https://a.example/robots.txt", Ok(rules)),
        (
            "https://b.example/robots.txt",
            Ok(HttpResponse::new(301).location(b"https://a.example/robots.txt")),
        ),
        ("https://c.example/robots.txt", Ok(HttpResponse::new(404))),
        ("https://d.example/robots.txt", Err("connection refused")),
    ];
    let first = compile(None, 1_767_225_600, first)?;
    let verdicts = |snapshot: &[u8]| -> Result<Vec<Verdict>> {
        let judge = Judge::new(
            Snapshot::new(snapshot.to_vec())?,
            &["FooBot".parse()?],
            JudgeOptions::default(),
        )?;
        let hosts = ["a", "b", "c", "d", "e"].into_iter();
        hosts
            .map(|host| {
                Ok(judge
                    .judge(format!("https://{host}.example/private").as_bytes())?
                    .get(0))
            })
            .collect()
    };
    use Verdict::{Allowed, Disallowed, Unknown};
    assert_eq!(
        verdicts(&first)?,
        [Disallowed, Disallowed, Allowed, Disallowed, Unknown]
    );

    // A day later `d` answers. A failure of `a` does not replace its last good copy.
    let later = [
        ("https://a.example/robots.txt", Ok(HttpResponse::new(503))),
        ("https://d.example/robots.txt", Ok(HttpResponse::new(404))),
    ];
    let second = compile(Some(Snapshot::new(first)?), 1_767_312_000, later)?;
    assert_eq!(verdicts(&second)?[3], Allowed);
    println!("a snapshot of {} bytes", second.len());
    Ok(())
}
