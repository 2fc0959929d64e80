//! A batch of URLs on all cores, for two agents: `Judge` is `Sync`, so rayon can share it.

use rayon::prelude::*;
use robosieve::{Compiler, Judge, JudgeOptions, Result, Snapshot, Verdict};

const ORIGINS: usize = 100;

fn main() -> Result<()> {
    let mut compiler = Compiler::default();
    for i in 0..ORIGINS {
        let robots = format!("User-agent: *\nDisallow: /{i}/\n\nUser-agent: GPTBot\nDisallow: /");
        compiler.add_robots(&format!("https://site-{i}.example"), robots.as_bytes())?;
    }
    let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    let judge = Judge::new(
        snapshot,
        &["FooBot".parse()?, "GPTBot".parse()?],
        JudgeOptions::default(),
    )?;

    // Sorted by origin, as crawl lists are: a judge remembers the last origins that it looked up.
    let urls: Vec<String> = (0..ORIGINS * 100)
        .map(|i| format!("https://site-{}.example/{}/page.html", i / 100, i % 100))
        .collect();
    let verdicts: Vec<[Verdict; 2]> = urls
        .par_iter()
        .map(|url| {
            judge
                .judge(url.as_bytes())
                .map(|verdicts| [verdicts.get(0), verdicts.get(1)])
        })
        .collect::<Result<_>>()?;

    for (i, [foo_bot, gpt_bot]) in verdicts.iter().enumerate() {
        let refused = i / 100 == i % 100;
        assert_eq!(
            *foo_bot,
            if refused {
                Verdict::Disallowed
            } else {
                Verdict::Allowed
            },
            "{}",
            urls[i]
        );
        assert_eq!(*gpt_bot, Verdict::Disallowed);
    }
    println!(
        "{} URLs, {} allowed",
        urls.len(),
        verdicts
            .iter()
            .filter(|[foo_bot, _]| *foo_bot == Verdict::Allowed)
            .count()
    );
    Ok(())
}
