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
  robosieve compile --previous web.rsieve -o web.rsieve fetched-again.warc.gz
  robosieve compile --as-of 2024-05-31 -o may.rsieve robots-2024-*.warc.gz

A JSONL line is {\"url\": \"https://host/robots.txt\", \"status\": 200, \"body\": \"...\"}; also known are body_base64, fetched_at \
(RFC 3339), headers, error (in place of a status) and truncated. A directory holds files named HOST, HOST_PORT or \
SCHEME_HOST_PORT (.txt may follow). The newest capture of an origin wins, in whatever order they come.

--previous makes the snapshot that all archives together would make, as far as OLD still knows of its own: what the inputs tell nothing newer of stays, with last good copies and the times of first failures; failures go on being counted; redirects are followed from the one to the other. A capture without a time (from a directory, say) is older than any with one. Without INPUT, OLD is written anew; another --profile than its own is compiled from the texts it holds.";

pub(super) const FILTER_EXAMPLES: &str = "\
Examples:
  robosieve filter -s web.rsieve -a GPTBot urls.txt.gz -o allowed.txt.zst
  robosieve filter -s web.rsieve -a GPTBot,CCBot --require any urls.txt > some-may-fetch.txt
  robosieve filter -s web.rsieve -a GPTBot --keep disallowed urls.txt > opted-out.txt
  robosieve filter -s web.rsieve -a MyBot -o go.txt --disallowed-to no.txt --unknown-to new.txt log
  robosieve filter -s web.rsieve -a GPTBot --field page --default-scheme https pages.csv -o allowed.csv
  robosieve filter -s web.rsieve -a GPTBot cdx-00000.gz -o allowed.cdxj.zst
  robosieve filter -s web.rsieve -a GPTBot --keep disallowed --host example.com --delimiter space --field 7 access.log
  robosieve filter -s web.rsieve -a MyBot --at 2026-03-01 log
  robosieve filter -s web.rsieve -a MyBot --out-dir go --disallowed-to no --resume 'crawl/*.txt.gz'
  robosieve filter -s web.rsieve -a MyBot --out-dir go --shard $SLURM_ARRAY_TASK_ID/64 --resume --files-from files.txt
  robosieve filter -s web.rsieve -a GPTBot --column page.url crawl.parquet -o allowed.parquet

Every line goes to exactly one place, in order and with its bytes unchanged; what has no place of its own is counted.

With --out-dir every input has an output of its own name, which appears when it is complete; several are done at once. A file \
that fails stops no other: all that failed are told in the end, and the exit status is 2. A directory stands for the files in it, \
but not for hidden ones and those further down ('crawl/**/*.gz' takes them).";

pub(super) const ANNOTATE_EXAMPLES: &str = "\
Examples:
  robosieve annotate -s web.rsieve -a GPTBot,CCBot urls.txt
  robosieve annotate -s web.rsieve --agents-from agents.txt urls.txt.gz -o verdicts.tsv.zst
  robosieve annotate -s web.rsieve -a GPTBot --as mask pages.jsonl.zst -o mask.txt.zst
  robosieve annotate -s web.rsieve -a GPTBot,CCBot --as jsonl pages.jsonl -o with-verdicts.jsonl
  robosieve annotate -s web.rsieve -a GPTBot,CCBot crawl.parquet -o annotated.parquet
  robosieve annotate -s web.rsieve -a GPTBot --out-dir verdicts --resume crawl/

A line becomes its letters, one an agent in the order given, a TAB, and the line unchanged:
  AD<TAB>https://example.com/page
With --as jsonl: {\"url\": \"https://example.com/page\", \"robots\": {\"GPTBot\": \"allowed\", \"CCBot\": \"disallowed\"}}
With --as mask: 10

A Parquet file keeps all its columns, byte for byte, and gets columns of verdicts behind them: --as bits or int8.";

pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  robosieve report -s web.rsieve -a GPTBot,CCBot
  robosieve report -s web.rsieve -a GPTBot,CCBot,Googlebot 'crawl/*.txt.gz' --html report.html --json report.json
  robosieve report -s web.rsieve --agents-from agents.txt --csv - | grep '^agents,'
  robosieve report -s web.rsieve -a GPTBot --column page.url crawl.parquet --html report.html

The table is printed unless another form goes to standard output; with -q and an output named it is not. Files appear whole. \
docs/REPORT.md tells what each figure means.";

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
  robosieve inspect web.rsieve --stale-at 2026-01-31 > fetch-again.txt
  robosieve inspect web.rsieve --stale-at 2026-01-31T12:00:00Z --json | jq -r 'select(.outcome == \"server-error\") | .url'";

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
