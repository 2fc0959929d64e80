//! The examples that each verb's `--help` ends with.

pub(super) const EXAMPLES: &str = "\
Examples:
  robosieve compile -o web.rsieve crawl-robots-*.warc.gz
  robosieve filter -s web.rsieve -a GPTBot urls.txt.gz -o allowed.txt.zst
  robosieve annotate -s web.rsieve -a GPTBot,CCBot,Googlebot-Image:Googlebot < urls.txt
  robosieve check -s web.rsieve -a GPTBot --explain https://example.com/private/
  robosieve check --robots robots.txt -a GPTBot /private/
  robosieve inspect web.rsieve https://example.com

Exit status: 0 done (check: allowed), 1 check: disallowed (diff --exit-code: they differ), 2 error. A reader of standard output \
that goes away (robosieve ... | head) ends a run with 0, but check and diff --exit-code with 2; files that the run also writes are \
completed first. Ended by Ctrl-C, SIGTERM or SIGHUP, it leaves no unfinished file.";

pub(super) const COMPILE_EXAMPLES: &str = "\
Examples:
  robosieve compile -o web.rsieve cc/robotstxt
  robosieve compile -o web.rsieve --skip-damaged --stats-json stats.json a.warc.gz b.jsonl
  my-crawler --robots-as-jsonl | robosieve compile -o web.rsieve -
  robosieve compile --previous web.rsieve -o web.rsieve fetched-again.warc.gz
  robosieve compile --as-of 2024-05-31 -o may.rsieve robots-2024-*.warc.gz

A JSONL line is {\"url\": \"https://host/robots.txt\", \"status\": 200, \"body\": \"...\"}; the body may also be in body_base64, content, \
text or robots. Also read: fetched_at (RFC 3339, or whole seconds since 1970), headers, error (in place of a status) and truncated. A 2xx \
(but 204) without a body counts as unreachable. A 304 confirms the copy captured before it. A directory holds archives, named \
.warc, .jsonl or .ndjson (.gz or .zst may follow), or else robots.txt files named HOST, HOST_PORT or SCHEME_HOST_PORT (.txt may follow). Files whose names are no hosts, and archives, tables, images and other binary files among them, are left out, counted, and named in a warning. The newest capture of an origin wins, in whatever order they come.

--previous makes the snapshot that all archives together would make, as far as OLD still knows of its own: what the inputs tell nothing newer of stays, with last good copies and the times of first failures; failures go on being counted; redirects are followed from the one to the other. A capture without a time (from a directory, say) is older than any with one. Without INPUT, OLD is written anew; another --profile than its own is compiled from the texts it holds.";

pub(super) const FILTER_EXAMPLES: &str = "\
Examples:
  robosieve filter -s web.rsieve -a GPTBot urls.txt.gz -o allowed.txt.zst
  robosieve filter -s web.rsieve -a GPTBot,CCBot --require any urls.txt > some-may-fetch.txt
  robosieve filter -s web.rsieve -a GPTBot --keep disallowed urls.txt > opted-out.txt
  robosieve filter -s web.rsieve -a @ai-train,MyBot --keep disallowed --require any urls.txt > opted-out.txt
  robosieve filter -s web.rsieve -a MyBot -o go.txt --disallowed-to no.txt --unknown-to new.txt log
  robosieve filter -s web.rsieve -a GPTBot --field page --default-scheme https pages.csv -o allowed.csv
  robosieve filter -s web.rsieve -a GPTBot cdx-00000.gz -o allowed.cdxj.zst
  robosieve filter -s web.rsieve -a GPTBot --keep disallowed --host example.com --delimiter space --field 7 access.log
  robosieve filter -s web.rsieve -a MyBot --at 2026-03-01 log
  robosieve filter -s web.rsieve -a MyBot --out-dir go --disallowed-to no --resume 'crawl/*.txt.gz'
  robosieve filter -s web.rsieve -a MyBot --out-dir go --shard $SLURM_ARRAY_TASK_ID/64 --resume --files-from files.txt
  robosieve filter -s web.rsieve -a GPTBot --field page.url crawl.parquet -o allowed.parquet
  robosieve filter -s web.rsieve -a GPTBot --out-dir allowed 'pages/**/*.parquet'

Every line goes to exactly one place, in order and with its bytes unchanged; what has no place of its own is counted. If the kept \
lines go to a pipe whose reader ends (| head) and others to files, the run goes on until the files are complete.

With --out-dir every input has an output of its own name, which appears when it is complete; several are done at once. A file \
that fails stops no other: all that failed are told in the end, and the exit status is 2. A directory stands for the files in it, \
but not for hidden ones and those further down ('crawl/**/*.gz' takes them). The files that such a glob matches keep their directories: \
pages/year=2025/a.parquet of 'pages/**/*.parquet' becomes allowed/year=2025/a.parquet. Where two inputs have the same name, all keep their \
directories below the one that they have in common.

The outputs of one run appear together or not at all. An output may not be a file that is read, and its name may not say another \
format than is written. Devices, pipes and open files (/dev/stdout, /dev/fd/3) are written to as they are.";

pub(super) const ANNOTATE_EXAMPLES: &str = "\
Examples:
  robosieve annotate -s web.rsieve -a GPTBot,CCBot urls.txt
  robosieve annotate -s web.rsieve --agents-from agents.txt urls.txt.gz -o verdicts.tsv.zst
  robosieve annotate -s web.rsieve -a GPTBot --as mask pages.jsonl.zst -o mask.txt.zst
  robosieve annotate -s web.rsieve -a GPTBot,CCBot --as jsonl pages.jsonl -o with-verdicts.jsonl
  robosieve annotate -s web.rsieve -a GPTBot,CCBot crawl.parquet -o annotated.parquet
  robosieve annotate -s web.rsieve -a GPTBot --out-dir verdicts --resume crawl/
  robosieve annotate -s web.rsieve -a GPTBot,CCBot --preferences urls.txt

A line becomes its letters, one an agent in the order given (the summary and `robosieve agents -a …` number them), a TAB, and the line unchanged:
  AD<TAB>https://example.com/page
With --as jsonl: {\"url\": \"https://example.com/page\", \"robots\": {\"GPTBot\": \"allowed\", \"CCBot\": \"disallowed\"}}
With --as mask: 10

--preferences tells what sites say about use, and changes no verdict. It adds two columns before the line, in each a semicolon between \
agents: two letters for train-ai and search of content-usage (y, n, - for unknown), and the content-signal values (- for none):
  AD<TAB>ny;--<TAB>search=yes,ai-train=no;-<TAB>https://example.com/page
With --as jsonl it is a last key \"robots_preferences\", with {\"train-ai\": \"n\", \"search\": \"y\", \"content-signal\": {\"search\": \"yes\"}} for \
each agent. A header gets the names content-usage and content-signal. mask and Parquet files take verdicts only.

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
  robosieve check -s web.rsieve -a GPTBot,CCBot --json https://example.com/ | jq -r 'select(.verdict == \"disallowed\") | .rule.text'
  curl -s https://example.com/robots.txt | robosieve check --robots - -a MyBot /page

A line is the verdict, the agent and the URL, with TABs between; where the robots.txt has content-usage or content-signal for the agent, \
these follow as columns of their own. docs/CHECK.md lists the keys of --json.

Exit status: 0 all are allowed, 1 one or more are disallowed, 2 there is no verdict, nobody read what was printed, or an error.";

pub(super) const INSPECT_EXAMPLES: &str = "\
Examples:
  robosieve inspect web.rsieve
  robosieve inspect web.rsieve --verify
  robosieve inspect web.rsieve https://example.com
  robosieve inspect web.rsieve --stale-at 2026-01-31 > fetch-again.txt
  robosieve inspect web.rsieve --stale-at 2026-01-31T12:00:00Z --json | jq -r 'select(.outcome == \"server-error\") | .url'

A robots.txt is shown with control characters escaped; --json has its text as it is.";

pub(super) const DIFF_EXAMPLES: &str = "\
Examples:
  robosieve diff spring.rsieve autumn.rsieve
  robosieve diff spring.rsieve autumn.rsieve -a @ai --svg ai.svg
  robosieve diff spring.rsieve autumn.rsieve --top 100 --examples 10 --json
  robosieve diff old.rsieve new.rsieve --exit-code > changes.txt || notify changes.txt

An agent is newly refused where the old robots.txt let it fetch something and the new one refuses every URL to it, and newly allowed \
the other way round. Origins count that answered in both snapshots, with a robots.txt or with none (4xx), which refuses nothing; where \
fetching failed nobody knows. `of it named`: either robots.txt has a group for the agent; at the others the groups for all changed. `*` stands \
for agents that neither names. Without agents every name counts that a robots.txt of either snapshot names, and those are shown for \
which the most changed by groups of their own. Rules have changed where another is said to some agent: comments, sitemaps and what changes no \
verdict do not count.

Exit status: 0 whether or not they differ, with --exit-code 1 if they differ; 2 error (with --exit-code also if nobody read all that was \
printed).";

pub(super) const AGENTS_EXAMPLES: &str = "\
Examples:
  robosieve agents
  robosieve agents -a @ai-train
  robosieve agents -a @ai,MyBot
  robosieve agents web.rsieve
  robosieve agents web.rsieve -a @ai --json

Without SNAP the table of crawlers is listed that robosieve ships, or what it knows of the agents of -a, under the numbers that their \
letters and columns have in what `annotate` writes for the same -a. Sets: @ai-train (crawlers that collect training data), \
@ai-search (that read pages for the answers of AI products), @ai-user (that fetch what people ask AI products about), @ai (these \
three) and @search (web search). They may differ from version to version; a list of your own stays: \
robosieve agents -a @ai --tsv | tail -n +2 | cut -f 1 > agents.txt, then --agents-from agents.txt.

With SNAP the names are ranked that its robots.txt files have groups for: by how many origins, and how many of these refuse it wholly \
(every URL, but perhaps /robots.txt), partly, or not. `*` are the global groups, which hold for all whom no group \
names. Origins whose newest answer was no robots.txt do not count.";

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

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  robosieve completions bash > ~/.local/share/bash-completion/completions/robosieve
  robosieve completions zsh > ~/.zfunc/_robosieve                   # with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  robosieve completions fish > ~/.config/fish/completions/robosieve.fish";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  robosieve man | man -l -
  robosieve man filter | man -l -
  robosieve man --out-dir ~/.local/share/man/man1";
