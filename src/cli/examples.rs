//! The examples that each verb's `--help` ends with.

pub(super) const EXAMPLES: &str = "\
Examples:
  robosieve compile -o web.rsieve crawl-robots-*.warc.gz
  robosieve filter -s web.rsieve -a GPTBot urls.txt.gz -o allowed.txt.zst
  robosieve annotate -s web.rsieve -a GPTBot,CCBot,Googlebot-Image:Googlebot < urls.txt
  robosieve check -s web.rsieve -a GPTBot --explain https://example.com/private/
  robosieve check --robots robots.txt -a GPTBot /private/
  robosieve inspect web.rsieve https://example.com

Exit status: 0 done (check: allowed), 1 check: disallowed, 2 error.";

pub(super) const COMPILE_EXAMPLES: &str = "\
Examples:
  robosieve compile -o web.rsieve CC-MAIN-*/robotstxt/*.warc.gz
  robosieve compile -o web.rsieve --skip-damaged --stats-json stats.json a.warc.gz b.jsonl
  my-crawler --robots-as-jsonl | robosieve compile -o web.rsieve -

A JSONL line is {\"url\": \"https://host/robots.txt\", \"status\": 200, \"body\": \"...\"}; also known are body_base64, fetched_at \
(RFC 3339), headers, error (in place of a status) and truncated. A directory holds files named HOST, HOST_PORT or \
SCHEME_HOST_PORT (.txt may follow). The newest capture of an origin wins, in whatever order they come.";

pub(super) const FILTER_EXAMPLES: &str = "\
Examples:
  robosieve filter -s web.rsieve -a GPTBot urls.txt.gz -o allowed.txt.zst
  robosieve filter -s web.rsieve -a GPTBot,CCBot --require any urls.txt > some-may-fetch.txt
  robosieve filter -s web.rsieve -a GPTBot --keep disallowed urls.txt > opted-out.txt
  robosieve filter -s web.rsieve -a MyBot -o go.txt --disallowed-to no.txt --unknown-to new.txt log
  robosieve filter -s web.rsieve -a GPTBot --column page.url crawl.parquet -o allowed.parquet

Every line goes to exactly one place, in order and with its bytes unchanged; what has no place of its own is counted.";

pub(super) const ANNOTATE_EXAMPLES: &str = "\
Examples:
  robosieve annotate -s web.rsieve -a GPTBot,CCBot urls.txt
  robosieve annotate -s web.rsieve --agents-from agents.txt urls.txt.gz -o verdicts.tsv.zst
  robosieve annotate -s web.rsieve -a GPTBot,CCBot crawl.parquet -o annotated.parquet

A line becomes its letters, one an agent in the order given, a TAB, and the line unchanged:
  AD<TAB>https://example.com/page

A Parquet file keeps all its columns, byte for byte, and gets columns of verdicts behind them.";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  robosieve check -s web.rsieve -a GPTBot --explain https://example.com/private/
  robosieve check --robots robots.txt -a Googlebot-Image:Googlebot /img/logo.png
  curl -s https://example.com/robots.txt | robosieve check --robots - -a MyBot /page

Exit status: 0 all are allowed, 1 one or more are disallowed, 2 there is no verdict, or an error.";

pub(super) const INSPECT_EXAMPLES: &str = "\
Examples:
  robosieve inspect web.rsieve
  robosieve inspect web.rsieve --verify
  robosieve inspect web.rsieve https://example.com
  robosieve inspect web.rsieve --stale-at 2026-01-31 > fetch-again.txt";

pub(super) const BENCH_EXAMPLES: &str = "\
Examples:
  robosieve bench
  robosieve bench --origins 1M --urls 10M --order shuffled -a GPTBot,CCBot --threads 1,2,4 --json
  robosieve bench -s web.rsieve --urls urls.txt.zst -a GPTBot
  robosieve bench --origins 10M --urls 100M --write-to big && robosieve compile -o big.rsieve big/robots.jsonl.zst

Whole runs are timed, from memory to memory. Stages are told apart by ending all work behind one of them, so a stage's time is the \
difference of two medians; `write` copies the kept lines. What the machine can do at best is measured between the runs. Verdicts on up \
to 2,000 lines are compared with those of the slow reference; a difference ends the benchmark. A seed makes the same web on \
every machine and in every version. Without -a the agent is GPTBot.";
