//! The texts of `--help` that belong to no single option: headings, examples and notes.
//!
//! `-h` ends with a few examples and a pointer to `--help`, which ends with all examples and notes.

/// Headings of the groups of options.
pub(super) const COMMON: &str = "Common";
pub(super) const POLICY: &str = "Policy";
pub(super) const RESOURCES: &str = "Memory and temporary files";
pub(super) const UNITS: &str = "Units";
pub(super) const INPUT: &str = "Input";
pub(super) const OUTPUT: &str = "Output";
pub(super) const MANY_FILES: &str = "Many files";
pub(super) const SYNTHETIC_WEB: &str = "Synthetic web";
pub(super) const MEASUREMENT: &str = "Measurement";

/// The top-level help, with the verbs in groups. A test compares it with the verbs.
pub(super) const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

Snapshots:
  compile      Compile robots.txt archives (WARC, JSONL, directories) into a snapshot
  captures     Write the captures of archives to one file, for later compilations
  inspect      Show the contents of a snapshot or a captures file, or the entry for one origin
  export       Write a snapshot as a table: TSV, CSV, JSON lines or Parquet
  diff         Show what changed between two snapshots
  due          List the robots.txt files to fetch next: of unknown origins, and stale ones

URLs:
  filter       Keep the URLs that agents may fetch
  annotate     Add to every line its verdicts, one letter per agent
  check        Judge single URLs, and explain the verdicts
  report       Report how much robots.txt files disallow to agents, and why
  audit        Find the crawlers in access logs that broke the rules

robots.txt files, and your own lists:
  lint         Find mistakes in robots.txt files, or count those of a snapshot
  lists        Compile your own lists of domains and URL prefixes, or look URLs up in them

Tools:
  agents       List known crawlers, or rank the names in a snapshot's robots.txt files
  bench        Time the stages of judging, on your data or on a synthetic web
  completions  Print a shell completion script
  man          Print the man pages, or write them

Options:
{options}{after-help}";

pub(super) const SHORT_EXAMPLES: &str = "\
Examples:
  robosieve compile -o web.rsieve crawl-robots-*.warc.gz
  robosieve filter -s web.rsieve -a GPTBot urls.txt.gz -o allowed.txt.zst

`robosieve COMMAND -h` is a summary of a command, `robosieve COMMAND --help` its whole help.";

pub(super) const EXAMPLES: &str = "\
Examples:
  robosieve compile -o web.rsieve crawl-robots-*.warc.gz
  robosieve filter -s web.rsieve -a GPTBot urls.txt.gz -o allowed.txt.zst
  robosieve annotate -s web.rsieve -a GPTBot,CCBot,Googlebot-Image:Googlebot < urls.txt
  robosieve check -s web.rsieve -a GPTBot --explain https://example.com/private/
  robosieve check --robots robots.txt -a GPTBot /private/
  robosieve lint robots.txt
  robosieve inspect web.rsieve https://example.com

Exit status: 0 done (check: allowed), 1 check: disallowed (diff --exit-code: they differ, lint: \
errors found), 2 error. If the reader of standard output goes away (robosieve ... | head), the run \
ends with 0, but check, lint and diff --exit-code end with 2. Files that the run also writes are \
completed first. Ctrl-C, SIGTERM and SIGHUP leave no unfinished file.";

pub(super) const COMPILE_SHORT: &str = "\
Examples:
  robosieve compile -o web.rsieve crawl-robots-*.warc.gz
  robosieve compile --previous web.rsieve -o web.rsieve fetched-again.warc.gz
  robosieve compile --previous web.rsieve -o web.rsieve --max-failing 100% fetched.jsonl

`robosieve compile --help` shows all options, examples and details.";

pub(super) const COMPILE_EXAMPLES: &str = "\
Examples:
  robosieve compile -o web.rsieve cc/robotstxt
  robosieve compile -o web.rsieve --skip-damaged --stats-json stats.json a.warc.gz b.jsonl
  my-crawler --robots-as-jsonl | robosieve compile -o web.rsieve -
  robosieve compile --previous web.rsieve -o web.rsieve fetched-again.warc.gz
  robosieve compile --as-of 2024-05-31 -o may.rsieve robots-2024-*.warc.gz
  robosieve compile -o web.rsieve archive/*.captures today.warc.gz

A JSONL line is {\"url\": \"https://host/robots.txt\", \"status\": 200, \"body\": \"...\"}. The \
keys body_base64, content, text, robots and robots_txt may hold the body too, and status_code the \
status. Optional keys: fetched_at or timestamp (RFC 3339, without a zone in UTC, or seconds since \
1970), headers, error (instead of a status) and truncated. A 2xx (except 204) without a body counts \
as unreachable, and so does a body shorter than its content-length. A 304 confirms the copy \
captured before it.

A directory holds archives, named .warc, .jsonl, .ndjson or .captures (.gz or .zst may follow). \
Without archives, it holds robots.txt files named HOST, HOST_PORT or SCHEME_HOST_PORT (.txt may \
follow), or directories of such names with a robots.txt in each. Other files and directories \
beside these, such as indexes, tables and images, are skipped, counted and named in a warning. \
Beside archives, a file that may be the robots.txt of a host is an error. The newest capture of an \
origin wins, in any order of the inputs.

--previous gives the same snapshot as compiling all archives together, as far as OLD still has \
their data. Origins without a newer capture keep their entry, with the last good copy and the time \
of the first failure. Counts of failures continue, and redirects are followed between old and new \
captures. A capture without a time (from a directory, for example) is older than any with one. \
Without INPUT, OLD is written again; a different --profile is compiled from the stored texts. \
Inputs without a capture are an error.

An outage of the fetcher looks like one of every site. So --previous fails, and writes nothing, if \
more than --max-failing of the captured origins fail that answered in OLD. The message names the \
causes. Fetch them again, or accept them with --max-failing 100%.";

pub(super) const CAPTURES_SHORT: &str = "\
Examples:
  robosieve captures -o 2026-09.captures crawl-robots-2026-09-*.warc.gz
  robosieve captures -o 2026.captures 2026-*.captures

`robosieve captures --help` shows all options, examples and details.";

pub(super) const CAPTURES_EXAMPLES: &str = "\
Examples:
  robosieve captures -o 2026-09.captures crawl-robots-2026-09-*.warc.gz
  robosieve captures -o 2026.captures 2026-*.captures
  robosieve compile -o web.rsieve archive/*.captures
  robosieve inspect --verify 2026.captures

A captures file keeps every capture, also those that a newer one supersedes, and each robots.txt \
without comments and unknown lines. `compile` takes it in place of the archives, next to others \
and with any option, and writes the same snapshot, byte for byte. The file is sorted, and \
compressed inside.

The same captures give the same file, in any order of the inputs. Inputs may be captures files, \
which are merged. A damaged block of one is skipped with --skip-damaged. docs/FORMAT.md describes \
the format.

Checksums detect damage, not intent: take captures files only from those whose snapshots you would \
take.";

pub(super) const LISTS_SHORT: &str = "\
Examples:
  robosieve lists -o own.rlists adult=adult/domains ads=hosts.txt.gz --allow ours=good.txt
  robosieve lists own.rlists --find https://www.example.com/

`robosieve lists --help` shows all options, examples and details.";

pub(super) const LISTS_EXAMPLES: &str = "\
Examples:
  robosieve lists -o own.rlists adult=adult/domains ads=hosts.txt.gz --allow ours=good.txt
  robosieve lists own.rlists --find https://www.example.com/
  robosieve lists own.rlists
  robosieve lists ads=hosts.txt --find https://ads.example.com/banner.png
  robosieve lists -o own.rlists adult/domains --block-words words.txt --soft-words soft.txt

A list has one entry per line, in any of these forms, also mixed:

  example.com            the host and all its subdomains; also *.example.com and ||example.com^
  0.0.0.0 a.example      a hosts file: each name with its subdomains, but for localhost and the like
  address=/a.example/    dnsmasq: the same; also server=/a.example/ and local=/a.example/
  =example.com           the host without its subdomains
  192.0.2.1, [::1]       an address
  example.com/path       URLs of the host that begin so; also https://example.com:8080/path
  example.com/*/print$   a pattern with * and $, as in robots.txt
  @@||good.example^      an exception; so are all entries of --allow

`#` and `!` begin comments. Case, Punycode, default ports, user information and a dot at the end of \
a host do not matter. Other lines, such as regular expressions and adblock rules with options, are \
skipped, counted, and the first ones are named.

The most specific entry decides: that of the host with the most labels, and there the one with the \
longest path. Between an exception and a listed entry that are equal, the exception wins.

Lists of words (--block-words, --soft-words, --block-substrings) decide about a URL for which no entry \
for a host or a path does: first words, then soft words, then substrings. Regular expressions and the \
files of Nutch are not supported.

The compiled file is mapped into memory, and opens at once. The same lists give the same bytes. \
docs/LISTS.md has the details, and docs/FORMAT.md every byte.";

pub(super) const FILTER_SHORT: &str = "\
Examples:
  robosieve filter -s web.rsieve -a GPTBot --lists own.rlists urls.txt.gz -o allowed.txt.zst
  robosieve filter -s web.rsieve -a @ai-train --keep disallowed --require any urls.txt

`robosieve filter --help` shows all options, examples and details.";

pub(super) const FILTER_EXAMPLES: &str = "\
Examples:
  robosieve filter -s web.rsieve -a GPTBot urls.txt.gz -o allowed.txt.zst
  robosieve filter -s web.rsieve -a GPTBot,CCBot --require any urls.txt > some-may-fetch.txt
  robosieve filter -s web.rsieve -a @ai-train,MyBot --keep disallowed --require any \
      --reason rules,last-good-copy urls.txt > opted-out.txt
  robosieve filter -s web.rsieve -a MyBot -o go.txt --disallowed-to no.txt --unknown-to new.txt log
  robosieve filter -s web.rsieve -a GPTBot --field page --default-scheme https pages.csv \
      -o allowed.csv --disallowed-to disallowed.csv --disallowed-add reason,rule
  robosieve filter -s web.rsieve -a GPTBot cdx-00000.gz -o allowed.cdxj.zst
  robosieve filter -s web.rsieve -a GPTBot --keep disallowed --host example.com --delimiter space \
      --field 7 access.log
  robosieve filter -s web.rsieve -a MyBot --at 2026-03-01 log
  robosieve filter -s web.rsieve -a MyBot --out-dir go --disallowed-to no --resume 'crawl/*.txt.gz'
  robosieve filter -s web.rsieve -a MyBot --out-dir go --shard $SLURM_ARRAY_TASK_ID/64 --resume \
      --files-from files.txt
  robosieve filter -s web.rsieve -a GPTBot --field page.url crawl.parquet -o allowed.parquet
  robosieve filter -s web.rsieve -a GPTBot --out-dir allowed 'pages/**/*.parquet'
  robosieve filter -s web.rsieve -a CCBot crawl.warc.wet.gz -o kept.warc.wet.gz --cdxj kept.cdxj
  robosieve filter -s web.rsieve -a MyBot --lists own.rlists urls.txt -o go.txt \
      --listed-to listed.txt
  robosieve filter --block ads=hosts.txt --allow good.txt urls.txt > without-ads.txt

Every line goes to exactly one output, in order and unchanged, except for what --disallowed-add \
adds. Lines without an output are counted. If the kept lines go to a pipe that closes early \
(| head), the run continues until its files are complete.

With --lists or --block, a line is kept if it has the verdict of --keep and no list names it. A \
line that a list names counts as listed only, and goes to --listed-to, whatever its robots.txt \
says. Without -s, the lists alone decide. An exception takes a URL off the lists, and changes no \
verdict. `robosieve lists --help` has the forms of entries, and which one decides.

With --out-dir every input has an output of the same name, which appears when it is complete. \
Several inputs are processed at once. A failing file stops no other: the end of the run lists all \
failures, and the exit status is 2. A directory stands for its files, without hidden files, \
markers of query engines (_SUCCESS, _metadata) and subdirectories ('crawl/**/*.gz' includes \
those). The matches of such a glob keep their directories: pages/year=2025/a.parquet of \
'pages/**/*.parquet' becomes allowed/year=2025/a.parquet. If two inputs have the same name, all \
inputs keep their directories below the common one.

The files of a Delta Lake, Iceberg or Hudi table also hold deleted rows, so its directory is \
refused: write its current rows to plain files with its engine. Files that are named one by one \
are read as they are.

WARC, WET and WAT files are lists of records. Each is judged by its WARC-Target-URI, and goes to \
its output with its bytes and its gzip member. A secondary record, such as \
urn:text:https://e.example/, is judged by the URL of its page. The warcinfo records are kept. \
Records of ARC and WACZ files are written as WARC. docs/WARC.md has the details.

The outputs of one run appear together or not at all. An output must not be a file that the run \
reads, and its file extension must fit the format. Devices, pipes and open files (/dev/stdout, \
/dev/fd/3) are written to directly.";

pub(super) const ANNOTATE_SHORT: &str = "\
Examples:
  robosieve annotate -s web.rsieve -a GPTBot,CCBot urls.txt
  robosieve annotate -s web.rsieve -a GPTBot --out-dir verdicts --resume crawl/

Letters: A allowed, D disallowed, U unknown origin, I not a URL.
`robosieve annotate --help` shows all options, examples and details.";

pub(super) const ANNOTATE_EXAMPLES: &str = "\
Examples:
  robosieve annotate -s web.rsieve -a GPTBot,CCBot urls.txt
  robosieve annotate -s web.rsieve --agents-from agents.txt urls.txt.gz -o verdicts.tsv.zst
  robosieve annotate -s web.rsieve -a GPTBot --as mask pages.jsonl.zst -o mask.txt.zst
  robosieve annotate -s web.rsieve -a GPTBot,CCBot --as jsonl pages.jsonl -o with-verdicts.jsonl
  robosieve annotate -s web.rsieve -a GPTBot,CCBot crawl.parquet -o annotated.parquet
  robosieve annotate -s web.rsieve -a GPTBot --out-dir verdicts --resume crawl/
  robosieve annotate -s web.rsieve -a GPTBot --add origin,reason crawl.parquet -o annotated.parquet
  robosieve annotate -s web.rsieve -a GPTBot --as csv --add reason,rule,line,agent pages.csv \
      -o annotated.csv
  robosieve annotate -s web.rsieve -a GPTBot,CCBot --preferences urls.txt
  robosieve annotate --lists own.rlists --as csv --add list,entry urls.csv -o with-lists.csv

A line becomes its letters, a TAB, and the line unchanged. Letters: A allowed, D disallowed, U \
unknown origin, I not a URL. There is one letter per agent, in the order of -a; the summary and \
`robosieve agents -a ...` number them:
  AD<TAB>https://example.com/page
With --as jsonl: {\"url\": \"https://example.com/page\", \"robots\": {\"GPTBot\": \"allowed\", \
\"CCBot\": \"disallowed\"}}
With --as mask: 10
With --as csv, of the table title,url: robots_GPTBot,robots_CCBot,title,url
  allowed,disallowed,\"Tea, green\",https://example.com/page
In front of a line of CSV, the letters and the TAB are a part of its first column.

With --as jsonl, --add origin,reason,crawl_delay,rule,line,agent adds the keys \"robots_origin\", \
\"robots_reason\", \"robots_crawl_delay\" and so on. From the third on they have an object with a \
value for each agent. rule, line and agent are the line of the robots.txt that disallows the URL, its \
number, and the name by which the agent obeys it. Parquet files, and tables with --as csv, get columns \
of these names, such as robots_origin, and robots_rule_AGENT for each agent. \
origin is the key of the tables of `robosieve export`. With --as-name NAME the keys and columns \
begin with NAME. list and entry are the names of the lists of --lists or --block that name a URL, \
with commas between them, and their entry. The letters stay those of the robots.txt; the summary counts such \
lines as listed only. Without -s there are no verdicts.

--preferences adds what sites state about the use of their content, and changes no verdict. It \
adds three columns before the line, two of them with one field per agent, separated by semicolons. \
The first has two letters for train-ai and search of content-usage (y, n, - for none). The second \
has the content-signal values, and the third the URLs of the site's licences (- for none). A URL \
that the agent may not fetch has no preference of content-usage:
  AD<TAB>ny;--<TAB>search=yes,ai-train=no;-<TAB>-<TAB>https://example.com/page
With --as jsonl a key \"robots_preferences\" has {\"train-ai\": \"n\", \"search\": \"y\", \
\"content-signal\": {\"search\": \"yes\"}} per agent, and \"robots_license\" a list of URLs. A \
header gets the names content-usage, content-signal and license. mask and Parquet files take \
verdicts only. On WARC responses, the header fields Content-Usage, Content-Signal and X-Robots-Tag \
count too: the most restrictive statement wins, and with --as jsonl \"sources\" has them apart.

A record of a WARC, WET or WAT file becomes a line: its letters, a TAB, and its WARC-Target-URI, \
or - without one. With --as jsonl it is an object with url, type, offset, length, date and id.

A Parquet file keeps all its columns, byte for byte, and gets columns of verdicts after them: \
--as bits or int8.";

pub(super) const REPORT_SHORT: &str = "\
Examples:
  robosieve report -s web.rsieve -a GPTBot,CCBot
  robosieve report -s web.rsieve -a GPTBot,CCBot 'crawl/*.txt.gz' --html report.html

`robosieve report --help` shows all options, examples and details.";

pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  robosieve report -s web.rsieve -a GPTBot,CCBot
  robosieve report -s web.rsieve -a GPTBot,CCBot,Googlebot 'crawl/*.txt.gz' --html report.html \
      --json-to report.json
  robosieve report -s web.rsieve --agents-from agents.txt --csv-to - | grep '^agents,'
  robosieve report -s web.rsieve -a GPTBot --column page.url crawl.parquet --html report.html
  robosieve report -s web.rsieve -a @ai-train --by domain --weights tranco.csv --group-by tld \
      --json-to report.json
  robosieve report --series 2025-01=jan.rsieve 2025-02=feb.rsieve -a @ai-train --by host --common \
      --html series.html
  robosieve report --series 'snaps/*.rsieve' -a '@openai=GPTBot,ChatGPT-User' --sample 10000 \
      --group-by countries.csv --csv-to series.csv
  robosieve report -s years.rsieve -a @ai-train --by domain --disallowed-since --every quarter

The table goes to standard output, unless another form does. -q with a named output prints no \
table. Files appear when they are complete. docs/REPORT.md explains every figure.";

pub(super) const AUDIT_SHORT: &str = "\
Examples:
  robosieve audit --robots robots.txt access.log
  robosieve audit -s site.rsieve --host https://example.com access.log
  robosieve audit -s site.rsieve 'logs/*.gz' --json -o audit.json --html audit.html

`robosieve audit --help` shows all options, examples and details.";

pub(super) const AUDIT_EXAMPLES: &str = "\
Examples:
  robosieve audit --robots robots.txt access.log
  robosieve audit -s site.rsieve --host https://example.com access.log
  robosieve audit -s site.rsieve 'logs/*.gz' --json -o audit.json --html audit.html
  robosieve audit -s 2026-07=july.rsieve -s 2026-08=august.rsieve --host example.com access.log \
      --lines broken.log
  robosieve compile --history -o years.rsieve robots-2026-*.captures
  robosieve audit -s years.rsieve --host example.com access.log
  robosieve audit -s site.rsieve -a MyBot \
      --verify-ips Googlebot=googlebot.json,bingbot.json vhosts.log
  robosieve audit -s site.rsieve --host example.com --verify-ips gptbot.json access.log \
      --lines fake.log --lines-of claimed
  robosieve audit -s site.rsieve \
      --log-format '$host $remote_addr [$time_local] \"$request\" $status \"$http_user_agent\"' log
  robosieve audit -s site.rsieve --host example.com --as annotate access.log | grep '^D'

The crawler of a line is the first known product token in its User-Agent, as a whole word in any \
case. Browsers and unknown agents are counted together. Lines without the format of their log are \
invalid.

A request for /robots.txt is never disallowed. A host that the snapshot does not contain is unknown. \
Each disallowed request counts for the rule that decides. If the rules do not fit in 256 MiB, the \
report states how many requests it leaves out of them.

A snapshot with a history judges each line by the rules in force at its time. Before the first \
capture of a site, requests are unknown. Two kinds of requests that the rules in force disallow are \
not breaches, and count apart: those at most 24 hours after a change whose earlier rules allow them \
(`in 24 h`, letter C), and those between two captures of which the later one allows them \
(`between`, letter B). Each broken rule has the time of its example, for `check --as-of`.

A User-Agent is a claim. With --verify-ips, requests from other addresses than those of the \
crawler have rows of their own. docs/AUDIT.md has all keys of --json.";

pub(super) const CHECK_SHORT: &str = "\
Examples:
  robosieve check -s web.rsieve -a GPTBot --explain https://example.com/private/
  curl -s https://example.com/robots.txt | robosieve check --robots - -a MyBot /page

Exit status: 0 all allowed, 1 some disallowed or listed, 2 no verdict, or an error.
`robosieve check --help` shows all options, examples and details.";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  robosieve check -s web.rsieve -a GPTBot --explain https://example.com/private/
  robosieve check --robots robots.txt -a Googlebot-Image:Googlebot /img/logo.png
  robosieve check -s web.rsieve -a GPTBot,CCBot --json https://example.com/ \
      | jq -r 'select(.verdict == \"disallowed\") | .rule.text'
  curl -s https://example.com/robots.txt | robosieve check --robots - -a MyBot /page
  robosieve check --robots robots.txt --expect expected.tsv --format github

A line has the verdict, the agent and the URL, separated by TABs. If the robots.txt has \
content-usage or content-signal lines for the agent, they follow as further columns. With \
--lists or --block, a line with the deciding entry follows, as `robosieve lists --find` prints it, \
if a list has one. docs/CHECK.md lists the keys of --json.

Exit status: 0 all allowed, 1 some disallowed or listed, 2 no verdict, standard output closed \
early, or an error. With --expect: 0 all answers as expected, 1 some not, 2 an error.";

pub(super) const INSPECT_EXAMPLES: &str = "\
Examples:
  robosieve inspect web.rsieve
  robosieve inspect -s web.rsieve --verify
  robosieve inspect web.rsieve https://example.com
  robosieve inspect 2026.captures --verify

Control characters of a robots.txt are escaped; --json has its exact text.";

pub(super) const INSPECT_SHORT: &str = "\
Examples:
  robosieve inspect web.rsieve
  robosieve inspect web.rsieve https://example.com

`robosieve inspect --help` shows more examples and details.";

pub(super) const DUE_SHORT: &str = "\
Examples:
  robosieve due urls.txt -o due.txt
  robosieve due -s web.rsieve --stale-at now new-urls.txt --as jsonl

`robosieve due --help` shows all options, examples and details.";

pub(super) const DUE_EXAMPLES: &str = "\
Examples:
  robosieve due urls.txt -o due.txt
  robosieve due -s web.rsieve --stale-at now new-urls.txt -o due.txt
  robosieve due -s web.rsieve --stale-at now 'frontier/*.parquet' --field page.url -o due.jsonl.zst
  robosieve due -s web.rsieve 'crawl/*.warc.gz' --as jsonl
  robosieve due -s web.rsieve --stale-at now --outcome server-error,unreachable
  robosieve due -s web.rsieve --stale-at now --as jsonl urls.txt | examples/fetch.py --agent \
      'MyBot (+https://example.com/bot)' > fetched.jsonl

Without -s there is no snapshot yet: every origin of the lists is unknown, and `compile` of the \
answers makes the first one.

Each URL is that of an origin's own robots.txt, once. Hosts are normalised and default ports \
dropped, as in the snapshot. http, https, www and every port are separate origins; origins of other \
schemes are left out and counted. The URLs are in the order of their origins, whatever the order \
of the lists.

An object of JSON lines has url, origin and reason (unknown-origin or stale). Of a stale one it also \
has outcome, status, fetched, stale_from, failing_since (the first of the failures up to now), \
source (the URL that answered after redirects) and detail. Other values are null.

Lists of several formats may be given together. The unknown origins are held in memory: some 100 \
bytes each.";

pub(super) const EXPORT_SHORT: &str = "\
Examples:
  robosieve export -s web.rsieve -a GPTBot,CCBot -o origins.parquet
  robosieve export -s web.rsieve --stale-at now --columns origin,outcome

`robosieve export --help` shows all options, examples and details.";

pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  robosieve export -s web.rsieve -a GPTBot,CCBot -o origins.parquet
  robosieve export -s web.rsieve -a @ai --long --columns domain,agent,access -o access.parquet
  robosieve export -s web.rsieve -a MyBot --columns origin,MyBot.access,MyBot.crawl_delay \
      -o delays.tsv
  robosieve export -s web.rsieve --stale-at now --outcome server-error,unreachable \
      --columns origin,detail
  robosieve export -s web.rsieve --sitemaps -o sitemaps.jsonl.zst
  robosieve export -s web.rsieve --rules -a GPTBot --as jsonl | jq -r .pattern | sort | uniq -c
  robosieve export -s years.rsieve -a GPTBot --disallowed-since -o origins.parquet
  robosieve export -s years.rsieve -a GPTBot --history -o versions.parquet

A row has the outcome of an origin's robots.txt, its fetch, its rules and fields in numbers, and \
three columns for each agent of -a. AGENT.access is allowed, partial or blocked: the agent may \
fetch every URL, some, or none except perhaps /robots.txt. AGENT.named is name, * or none: a group \
names the agent, the groups for all agents apply, or no group. AGENT.crawl_delay is in seconds. \
In Parquet these names have an underscore instead of the dot. With --long, each agent has a row, \
and the columns are agent, access, named and crawl_delay.

Rows are in the order of the snapshot, by origin. In TSV and CSV, control characters are escaped \
as \\t or \\u{1b}, and a backslash as \\\\. A missing value is empty. docs/EXPORT.md describes \
every column.";

pub(super) const LINT_SHORT: &str = "\
Examples:
  robosieve lint robots.txt
  robosieve lint --fix robots.txt
  robosieve lint web.rsieve

`robosieve lint --help` shows all options, examples and details.";

pub(super) const LINT_EXAMPLES: &str = "\
Examples:
  robosieve lint robots.txt
  robosieve lint --deny warning --allow crawl-delay,agent-version public/robots.txt
  robosieve lint --sarif robots.txt > robots.sarif
  robosieve lint --json 'sites/*/robots.txt' \
      | jq -r '.[] | select(.severity == \"error\") | .file' | sort -u
  curl -s https://example.com/robots.txt | robosieve lint -
  robosieve lint --diff robots.txt
  robosieve lint --fix robots.txt
  robosieve lint --fix --unsafe-fixes --allow misspelt-agent robots.txt
  robosieve lint --codes
  robosieve lint web.rsieve

A finding is a line `FILE:LINE: SEVERITY[CODE]: MESSAGE`, and one with help. Errors do not do what \
they say, warnings are read differently by some parsers, and notes have no effect or a surprising \
one. docs/LINT.md describes each code with its source and examples. --json is an array of objects \
with the keys file, line, code, severity, message, help and fix.

--fix rewrites a file in one step, and keeps its permissions. Compressed files are refused, and so \
is a file that changes meanwhile. A safe fix, such as the removal of a superfluous rule, changes no \
verdict, preference, crawl-delay or sitemap. Other fixes write what the author probably meant: \
--unsafe-fixes applies them too, and prints examples of changed verdicts to standard error. --allow \
leaves findings as they are. With `-`, the mended text is standard output, and the findings are \
printed to standard error.

For a snapshot, a table has the number of distinct robots.txt files and of origins for each code. \
A snapshot stores no comments, blank lines and unknown fields, so some codes are found in part or \
not at all; --codes says which.

Exit status: 0 no finding of the severity of --deny or a higher one, 1 such a finding, 2 error, or \
standard output closed early. With --fix, findings that are left count. With --diff 1 if a file \
would change. For a snapshot and for --codes 0, or 2.";

pub(super) const DIFF_SHORT: &str = "\
Examples:
  robosieve diff spring.rsieve autumn.rsieve
  robosieve diff spring.rsieve autumn.rsieve -a @ai --svg ai.svg

`robosieve diff --help` shows all options, examples and details.";

pub(super) const DIFF_EXAMPLES: &str = "\
Examples:
  robosieve diff spring.rsieve autumn.rsieve
  robosieve diff -s spring.rsieve -s autumn.rsieve -a @ai --svg ai.svg
  robosieve diff spring.rsieve autumn.rsieve --top 100 --examples 10 --json
  robosieve diff old.rsieve new.rsieve --exit-code > changes.txt || notify changes.txt

An agent is newly disallowed at an origin if the old robots.txt let it fetch something and the new \
one disallows every URL to it. Newly allowed is the reverse. `by name` counts the origins where the \
groups that disallow name the agent; `by *`, where they are those for all agents. `partly` counts \
origins that newly disallow some URLs and disallowed none before; under newly allowed, the reverse. \
Only origins that answered in both snapshots count: with a robots.txt, or with none (4xx), which \
disallows nothing. `*` stands for agents that neither robots.txt names.

In the JSON, `added`, `gone`, `outcome_changed` and `rules_changed` are origins, with their number and \
some examples, and `outcomes` counts the changes of outcome. `old`, `new`, `common` and `answered` are \
numbers of origins. `agents` has the changes for each agent, `others` those for `*`, and \
`agents_changed` is the number of agents with changes. Each agent has `disallowed`, `allowed`, \
`newly_partly` and `no_longer_partly`. Each has the number of `origins`, of them `by_name` and `by_global` (`*`), `named` (either robots.txt has a \
group for the agent), and `examples`. `refused` is an older name of `disallowed`.

Without -a, every name in a robots.txt of either snapshot counts if its own groups changed. The \
agents that most origins newly disallow by name come first. Rules have changed if some agent gets \
different rules: comments, sitemaps and edits without effect on a verdict do not count.

Exit status: 0, or with --exit-code 1 if the snapshots differ; 2 error (with --exit-code also if \
standard output closed early).";

pub(super) const AGENTS_SHORT: &str = "\
Examples:
  robosieve agents -a @ai-train
  robosieve agents web.rsieve

`robosieve agents --help` shows all options, examples and details.";

pub(super) const AGENTS_EXAMPLES: &str = "\
Examples:
  robosieve agents
  robosieve agents -a @ai-train
  robosieve agents -a @ai,MyBot
  robosieve agents web.rsieve
  robosieve agents -s web.rsieve -a @ai --json
  robosieve agents --crawlers robots.json -a @ai-agent

Without SNAP, the registry of crawlers is listed, with the date of its facts. `obeys` says whether \
the operator says that the crawler obeys robots.txt: yes, partly (with exceptions), no or unknown. \
With -a, the list has these agents, with the numbers of their letters and columns in the output of \
`annotate` for the same -a.

Sets: @ai-train (crawlers that collect training data), @ai-search (that read pages for the answers \
of AI products), @ai-user (that fetch pages on request of an AI product's user), @ai-agent (AI \
agents that act for a person), @data-provider (services that sell data to AI products), @ai (these \
five) and @search (web search). Sets may differ between versions. To fix a list: \
robosieve agents -a @ai --tsv | tail -n +2 | cut -f 1 > agents.txt, then --agents-from agents.txt.

--crawlers adds the crawlers of a file to the registry: a table as --tsv prints it, or robots.json \
of github.com/ai-robots-txt/ai.robots.txt. --only-crawlers leaves out the built-in ones.

With SNAP, the names in the groups of its robots.txt files are ranked by the number of origins. \
The columns count the origins that disallow the name wholly (every URL, except perhaps /robots.txt), \
partly, or not. `*` counts the global groups, which apply to all agents without a group. Origins \
whose newest answer was not a robots.txt do not count.";

pub(super) const BENCH_SHORT: &str = "\
Examples:
  robosieve bench
  robosieve bench -s web.rsieve --urls urls.txt.zst -a GPTBot

`robosieve bench --help` shows all options, examples and details.";

pub(super) const BENCH_EXAMPLES: &str = "\
Examples:
  robosieve bench
  robosieve bench --origins 1M --urls 10M --order shuffled -a GPTBot,CCBot --threads 1,2,4 --json
  robosieve bench -s web.rsieve --urls urls.txt.zst -a GPTBot
  robosieve bench --origins 10M --urls 100M --write-to big \
      && robosieve compile -o big.rsieve big/robots.jsonl.zst

Each run is timed as a whole, from memory to memory. A stage's time is the difference of two \
medians: of runs that end after the stage, and of runs that end before it. `write` copies the kept \
lines. CPU time is that of all threads; on a busy machine it is closer to the truth. The floor is \
what any program that looks origins up in an index does: it finds lines and origins, hashes them, \
and probes the index once for each. The limits of the machine are measured between the runs. \
Verdicts on up to 2,000 lines are compared with the slow reference; a difference ends the \
benchmark. A seed gives the same web on every machine and in every version. Without -a the agent is GPTBot.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  robosieve completions bash > ~/.local/share/bash-completion/completions/robosieve
  robosieve completions zsh > ~/.zfunc/_robosieve                   \
      # with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  robosieve completions fish > ~/.config/fish/completions/robosieve.fish";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  robosieve man | man -l -
  robosieve man filter | man -l -
  robosieve man --out-dir ~/.local/share/man/man1";
