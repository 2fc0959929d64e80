//! `robosieve audit`: which crawlers broke the rules, from access logs.

mod csv;
mod html;
mod snapshots;
mod table;
mod totals;

use crate::agent_args::AgentArgs;
use crate::error_advice::at_snapshot;
use crate::figures::counts::{counted, grouped};
use crate::figures::escape::{escape, escape_cut, escape_lines, to_json_pretty};
use crate::help_text::{AUDIT_EXAMPLES, AUDIT_SHORT, COMMON, INPUT, OUTPUT};
use crate::inputs::InputArgs;
use crate::judge_args::PolicyArgs;
use crate::judge_job::open_inputs;
use crate::option_guard::OptionGuard;
use crate::output::{OutputTarget, is_stdout};
use crate::progress::Progress;
use crate::robots_file::{parse_robots, read_robots};
use crate::stats_json::{RunRecord, StatsArgs};
use crate::stderr::print_line;
use crate::value_enums::LinesOfArg;
use crate::verify_args::VerifyArgs;
use anyhow::{Context, bail};
use clap::{ArgGroup, Args, ValueEnum};
use robosieve::audit::{
    AddressRanges, Audit, AuditOptions, AuditOutputs, AuditReport, DatedSnapshot, InvalidLine,
    JsonKeys, LogFormat, VerifiedRanges,
};
use robosieve::crawlers::CrawlerRegistry;
use robosieve::job;
use robosieve::output::{OutputFormat, is_standard_stream};
use robosieve::{Agent, Compiler, Profile, Snapshot};
use serde_json::json;
use snapshots::SnapshotArg;
use std::io::Write;
use std::path::{Path, PathBuf};
use totals::print_audit;

#[derive(Debug, Args)]
#[command(
    after_help = AUDIT_SHORT,
    after_long_help = AUDIT_EXAMPLES,
    group = ArgGroup::new("source").required(true).args(["snapshot", "robots"]),
    mut_arg("inputs", |arg| arg.help(INPUTS).long_help(INPUTS_LONG)),
    mut_arg("agents", |arg| arg.help(AGENTS).long_help(AGENTS_LONG)),
    mut_arg("status_policy", |arg| arg.hide_short_help(true)),
    // Most logs have no scheme.
    mut_arg("scheme", |arg| arg.default_value("any"))
)]
pub(crate) struct AuditArgs {
    /// The snapshot, or with DATE= one of several
    ///
    /// Give the option for each snapshot, or list DATE=SNAP after the first one.
    /// Each line is judged by the newest snapshot whose date is not after the line's time. Earlier
    /// lines are judged by the first snapshot, and counted. A date is 2026, 2026-08, 2026-08-31 or
    /// a time such as 2026-08-31T12:00:00Z; it stands for its first second in UTC.
    ///
    /// One snapshot without a date that has a history (`compile --history`) judges each line by the
    /// rules in force at its own time. With a date, the newest rules of a snapshot count: 1970=SNAP
    /// judges all lines by them.
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: Vec<String>,
    /// A robots.txt file instead of a snapshot
    ///
    /// Its rules judge the requests to all hosts of the logs, and logs need not name a host. With
    /// --host, they are those of this site.
    #[arg(long, value_name = "FILE", conflicts_with = "snapshot", help_heading = COMMON)]
    pub robots: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub agents: AgentArgs,
    /// The site of all requests: example.com or https://example.com
    ///
    /// By default, the log names the host. A host without a scheme is https.
    #[arg(long, value_name = "HOST", help_heading = INPUT)]
    pub host: Option<String>,
    /// Layout of the logs: combined, json, ... or as in Apache's or nginx's configuration
    ///
    /// By default, it is detected for each log by its first lines. The names are combined,
    /// vhost_combined, json, caddy, cloudflare, vercel, docker, alb, elb, haproxy, w3c, cloudfront
    /// and iis. Otherwise give the directives of a LogFormat (%h %t "%r" ...), or the variables of a
    /// log_format ($remote_addr ...).
    #[arg(long, value_name = "FORMAT", help_heading = INPUT)]
    pub log_format: Option<String>,
    /// Keys of JSON logs (agent=ua,time=at)
    ///
    /// The fields are agent, time, host, scheme, target, request (the request line), status, bytes
    /// and client. A key with dots is a path into nested objects.
    #[arg(
        long = "log-key",
        alias = "json-key",
        value_name = "FIELD=KEY",
        value_delimiter = ',',
        conflicts_with = "log_format",
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub log_key: Vec<String>,
    /// Published addresses of a crawler (Googlebot=googlebot.json)
    ///
    /// The form is {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, ...]}. The crawler has two rows in
    /// all outputs: verified requests, from these addresses, and claimed ones, from others. Without
    /// a name, a file like gptbot.json is for GPTBot, and any other for all crawlers without a
    /// file.
    #[arg(long, value_name = "NAME=FILE", value_delimiter = ',', help_heading = INPUT)]
    pub verify_ips: Vec<String>,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Form of the output
    #[arg(
        long = "as",
        value_enum,
        value_name = "FORM",
        default_value_t = AuditForm::Table,
        help_heading = OUTPUT
    )]
    pub form: AuditForm,
    /// The same as --as json
    #[arg(long, conflicts_with_all = ["form", "csv"], help_heading = OUTPUT)]
    pub json: bool,
    /// The same as --as csv
    #[arg(long, conflicts_with = "form", help_heading = OUTPUT)]
    pub csv: bool,
    /// Write the output here (default: stdout)
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
    /// Write a self-contained HTML page here too
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub html: Option<PathBuf>,
    /// Write the lines of requests that broke the rules here, unchanged
    ///
    /// The extensions .gz and .zst compress.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub lines: Option<PathBuf>,
    /// Write only these of the lines: all, verified or claimed
    ///
    /// Lines of crawlers without published addresses are neither verified nor claimed.
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value_t = LinesOfArg::All,
        requires_all = ["lines", "verify_ips"],
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub lines_of: LinesOfArg,
    /// List this many broken rules per crawler
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(0..=1000),
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub top: u32,
    #[command(flatten)]
    pub stats: StatsArgs,
    #[command(flatten)]
    pub inputs: InputArgs,
}

/// The characters of an invalid line that a message shows.
const SHOWN_LINE: usize = 80;

const INPUTS: &str = "Access logs (default: standard input)";
const INPUTS_LONG: &str = "Access logs (default: standard input)

Logs of nginx, Apache, Caddy, HAProxy, IIS, Docker, Cloudflare, CloudFront, Vercel and AWS load \
balancers, and JSON logs; plain, gzip or zstd. A directory \
stands for its files, and a quoted glob ('logs/*.gz') for its matches.";
const AGENTS: &str = "Crawlers to look for in addition to the known ones";
const AGENTS_LONG: &str = "Crawlers to look for in addition to the known ones

Commas separate them, and the option may be repeated. `robosieve agents` lists the known ones. \
FIRST:SECOND is a fallback: FIRST is looked for, and the rules for SECOND apply where no group \
names FIRST.";

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditForm {
    /// A table per crawler
    Table,
    /// All figures
    Json,
    /// One line per crawler
    Csv,
    /// Every line, after its verdict (lower-case: claimed), a TAB, its crawler and a TAB
    Annotate,
}

pub(crate) fn run(mut args: AuditArgs, quiet: bool) -> anyhow::Result<()> {
    // `-s 2026-07=a.rsieve 2026-08=b.rsieve`: the second one is an argument of its own.
    let (more, inputs): (Vec<_>, _) = args
        .inputs
        .inputs
        .into_iter()
        .partition(|input| snapshots::is_dated(input));
    args.inputs.inputs = inputs;
    args.snapshot.extend(
        more.iter()
            .filter_map(|path| path.to_str().map(str::to_owned)),
    );
    let args = &args;
    let form = match (args.json, args.csv) {
        (true, _) => AuditForm::Json,
        (_, true) => AuditForm::Csv,
        _ => args.form,
    };
    let snapshots = args
        .snapshot
        .iter()
        .map(|text| text.parse())
        .collect::<anyhow::Result<Vec<SnapshotArg>>>()?;
    snapshots::refuse_undated(&snapshots)?;
    let inputs = args.inputs.all(quiet)?;
    refuse_outputs(args, &snapshots, &inputs)?;
    // Created first, so that an unwritable output fails at once.
    let mut output = OutputTarget::open(args.output.as_deref())?;
    let html = args
        .html
        .as_deref()
        .map(|path| OutputTarget::open(Some(path)))
        .transpose()?;
    let mut lines = args
        .lines
        .as_deref()
        .map(|path| OutputTarget::open(Some(path)))
        .transpose()?;
    let mut counts = args.stats.open()?;
    let (dated, agents, record) = match &args.robots {
        Some(robots) => compile_robots(args, robots, quiet)?,
        None => open_snapshots(args, &snapshots, quiet)?,
    };
    let audit = Audit::new(dated, options(args, agents)?)?;
    let inputs = args.inputs.part(inputs);
    let progress = Progress::of_inputs(&inputs, quiet);
    let show = |at: job::Progress| progress.set(at.bytes_read);
    if args.lines.is_some() || args.html.is_some() {
        output.outlive_reader();
    }
    let outputs = AuditOutputs::default()
        .breaches(lines.as_mut().map(|lines| lines as &mut (dyn Write + Send)));
    let annotated = (form == AuditForm::Annotate).then_some(&mut output as &mut (dyn Write + Send));
    let outputs = outputs
        .breaches_of(args.lines_of.identity())
        .annotated(annotated);
    let report = audit.run(open_inputs(&inputs)?, outputs, &show);
    // A history may contradict itself where only judging looks.
    let report = report.map_err(|err| match &snapshots[..] {
        [only] => at_snapshot(err, &only.path),
        _ => err,
    })?;
    progress.finish();
    if report.lines > 0 && report.invalid == report.lines {
        let example = report.invalid_example.as_ref();
        let example = example.map_or(String::new(), |line| {
            format!(", such as {}", shown_line(line))
        });
        bail!(
            "none of the {} lines has the format of the log{example}; give another with --log-format or \
             --log-key",
            report.lines
        );
    }
    print_warnings(args, &report);
    if !quiet && (form == AuditForm::Annotate || args.output.is_some()) {
        print_audit(&report, progress.elapsed());
    }
    record.write(json!({ "audit": &report }), &mut counts)?;
    let others = lines.into_iter().chain(counts);
    write(args, form, &report, output, html, others)
}

/// Warns of requests that no snapshot could judge, and of hosts that may have another robots.txt. It
/// does so with `--quiet` too: the figures are not about them.
fn print_warnings(args: &AuditArgs, report: &AuditReport) {
    let mut hosts: Vec<&str> = Vec::new();
    for site in &report.sites {
        let host = site.origin.split("://").last().unwrap_or_default();
        let host = host.strip_prefix("www.").unwrap_or(host);
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    if args.robots.is_some() && args.host.is_none() && hosts.len() > 1 {
        let more = if hosts.len() > 3 { ", ..." } else { "" };
        hosts.truncate(3);
        print_line(format_args!(
            "robosieve: warning: requests to several hosts ({}{more}) were judged by one robots.txt; \
             audit hosts with another one by themselves, or by a snapshot of all",
            escape(&hosts.join(", "))
        ));
    }
    if let Some(line) = report
        .invalid_example
        .as_ref()
        .filter(|_| report.invalid_with_crawler > 0)
    {
        let (name, were, have) = match report.invalid_with_crawler {
            1 => ("names", "was", "it does not have"),
            _ => ("name", "were", "they do not have"),
        };
        print_line(format_args!(
            "robosieve: warning: {} that {name} a crawler {were} not audited, because {have} the format \
             of the log: {}; give another format with --log-format or --log-key",
            counted(report.invalid_with_crawler, "line"),
            shown_line(line)
        ));
    }
    let unaddressed: u64 = report
        .crawlers
        .iter()
        .map(|crawler| crawler.without_address)
        .sum();
    if unaddressed > 0 {
        print_line(format_args!(
            "robosieve: warning: {} could not be verified, because the field of the client is not an \
             address; they count as claimed",
            counted(unaddressed, "request")
        ));
    }
    let unknown: u64 = report.crawlers.iter().map(|crawler| crawler.unknown).sum();
    if unknown > 0 {
        let requests: u64 = report.crawlers.iter().map(|crawler| crawler.requests).sum();
        let sites = report.unknown_sites.iter().take(3);
        let sites: Vec<String> = sites
            .map(|site| format!("{} ({})", site.origin, grouped(site.unknown)))
            .collect();
        print_line(format_args!(
            "robosieve: warning: {} of {} of crawlers could not be judged: {}, such as {}",
            grouped(unknown),
            counted(requests, "request"),
            cause_of_unknown(unknown, report.before_first_capture),
            escape(&sites.join(", "))
        ));
    }
}

/// The log of a line, and its start.
fn shown_line(line: &InvalidLine) -> String {
    format!(
        "{}: `{}`",
        escape(&line.path),
        escape_cut(&line.start, SHOWN_LINE)
    )
}

/// Why requests could not be judged.
fn cause_of_unknown(unknown: u64, before_first_capture: u64) -> String {
    match before_first_capture {
        0 => "no snapshot has their hosts".to_owned(),
        1 if unknown == 1 => "it is from before the first capture of its site".to_owned(),
        all if all == unknown => "they are from before the first capture of their sites".to_owned(),
        1 => "one is from before the first capture of its site, and no snapshot has the hosts of \
              the others"
            .to_owned(),
        some => format!(
            "{} are from before the first capture of their sites, and no snapshot has the hosts of \
             the others",
            grouped(some)
        ),
    }
}

/// Writes the report in its forms, and makes all outputs visible together.
fn write(
    args: &AuditArgs,
    form: AuditForm,
    report: &AuditReport,
    mut output: OutputTarget,
    html: Option<OutputTarget>,
    others: impl IntoIterator<Item = OutputTarget>,
) -> anyhow::Result<()> {
    match form {
        AuditForm::Table => output.write_whole(&escape_lines(&table::table(report)))?,
        AuditForm::Json => output.write_whole(&to_json_pretty(report)?)?,
        AuditForm::Csv => output.write_whole(&csv::csv(report))?,
        AuditForm::Annotate => {}
    }
    let mut all = vec![output];
    if let Some(mut html) = html {
        html.write_whole(&escape_lines(&html::page(report, args.host.as_deref())))?;
        all.push(html);
    }
    OutputTarget::commit_all(all.into_iter().chain(others))
}

/// A snapshot of one robots.txt file, and the agents. The record has both.
fn compile_robots(
    args: &AuditArgs,
    path: &Path,
    quiet: bool,
) -> anyhow::Result<(Vec<DatedSnapshot>, Vec<Agent>, RunRecord)> {
    if is_standard_stream(path)
        && (!args.inputs.are_named() || args.inputs.inputs.iter().any(is_standard_stream))
    {
        bail!("--robots and a log are both standard input, which can be read once only");
    }
    let body = read_robots(path).with_context(|| path.display().to_string())?;
    let (robots, _) = parse_robots(path, &body, Profile::Google)?;
    if robots.groups().iter().all(|group| group.rules().is_empty()) {
        print_line(format_args!(
            "robosieve: warning: {}: no rule belongs to a group, so nothing is disallowed; `robosieve \
             lint` shows why",
            escape(&path.display().to_string())
        ));
    }
    let selected = args.agents.resolve_with_sets(quiet)?;
    let record = RunRecord::new().agents(&selected);
    let agents = selected.agents;
    args.agents.check_spelling_by(&agents, &robots)?;
    let mut compiler = Compiler::default();
    let site = args.host.as_deref().unwrap_or(ANY_HOST);
    let site = match site.contains("://") {
        true => site.to_owned(),
        false => format!("https://{site}"),
    };
    compiler
        .add_robots(&site, &body)
        .with_context(|| format!("--host {site}"))?;
    let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    let record = record.snapshot(path, &snapshot)?;
    Ok((vec![DatedSnapshot::new(None, snapshot)], agents, record))
}

/// The site of a robots.txt that judges the requests to every host. It is in no output.
const ANY_HOST: &str = "https://any-host.invalid";

/// Opens and verifies the snapshots, and resolves the agents. The record has both.
fn open_snapshots(
    args: &AuditArgs,
    snapshots: &[SnapshotArg],
    quiet: bool,
) -> anyhow::Result<(Vec<DatedSnapshot>, Vec<Agent>, RunRecord)> {
    // The snapshots come first: the names in them show which agents are misspelled.
    let opened = snapshots.iter().map(|snapshot| {
        let opened = robosieve::Snapshot::open(&snapshot.path)?;
        args.verify.all(&opened, &snapshot.path)?;
        Ok(opened)
    });
    let opened = opened.collect::<anyhow::Result<Vec<_>>>()?;
    let selected = args.agents.resolve_with_sets(quiet)?;
    let mut record = RunRecord::new().agents(&selected);
    for (snapshot, arg) in opened.iter().zip(snapshots) {
        record = record.snapshot(&arg.path, snapshot)?;
    }
    let agents = selected.agents;
    let paths = snapshots.iter().map(|snapshot| snapshot.path.as_path());
    args.agents
        .check_spelling_in(&agents, opened.iter().zip(paths))?;
    args.inputs
        .inputs
        .iter()
        .try_for_each(|input| args.agents.refuse_agent_as_input(input))?;
    let dated = opened
        .into_iter()
        .zip(snapshots)
        .map(|(opened, arg)| DatedSnapshot::new(arg.from, opened));
    Ok((dated.collect(), agents, record))
}

fn options(args: &AuditArgs, agents: Vec<Agent>) -> anyhow::Result<AuditOptions> {
    // `--log-key` names keys of JSON lines, so it implies their format.
    let judge = args.policy.options(&args.agents);
    let mut format: Option<LogFormat> = args.log_format.as_deref().map(str::parse).transpose()?;
    if !args.log_key.is_empty() {
        let mut keys = JsonKeys::default();
        for text in &args.log_key {
            let (field, key) = text
                .split_once('=')
                .with_context(|| format!("--log-key {text}: give FIELD=KEY"))?;
            keys = keys
                .with(field, key)
                .map_err(|what| anyhow::anyhow!("--log-key {what}"))?;
        }
        format = Some(LogFormat::json(keys));
    }
    let registry = args.agents.registry()?;
    let verified = args.verify_ips.iter().map(|text| {
        let (name, path) = ranges_arg(text, registry);
        Ok(VerifiedRanges::new(name, AddressRanges::open(path)?))
    });
    let options = AuditOptions::default()
        .registry(registry.clone())
        .agents(agents)
        .format(format)
        .host(match &args.robots {
            Some(_) => Some(args.host.clone().unwrap_or_else(|| ANY_HOST.to_owned())),
            None => args.host.clone(),
        })
        .any_host(args.robots.is_some() && args.host.is_none())
        .judge(judge);
    Ok(options
        .verified(verified.collect::<anyhow::Result<_>>()?)
        .top(args.top as usize))
}

/// The crawler and the file of `--verify-ips`.
fn ranges_arg<'t>(text: &'t str, registry: &CrawlerRegistry) -> (Option<String>, &'t Path) {
    if let Some((name, path)) = text.split_once('=')
        && !Path::new(text).exists()
    {
        return (Some(name.to_owned()), Path::new(path));
    }
    let path = Path::new(text);
    let known = path
        .file_stem()
        .and_then(|stem| registry.find(stem.to_str()?));
    (known.map(|known| known.token.clone()), path)
}

/// Refuses outputs that would overwrite an input or each other, and outputs with the extension of
/// another format.
fn refuse_outputs(
    args: &AuditArgs,
    snapshots: &[SnapshotArg],
    inputs: &[PathBuf],
) -> anyhow::Result<()> {
    let guard: OptionGuard = args.agents.overwrite_guard();
    let guard = guard.add_inputs(
        "the snapshot",
        snapshots.iter().map(|snapshot| &snapshot.path),
    );
    let guard = guard.add_inputs("--robots", &args.robots);
    let registry = args.agents.registry()?;
    let guard = guard.add_inputs(
        "--verify-ips",
        args.verify_ips
            .iter()
            .map(|text| ranges_arg(text, registry).1),
    );
    let mut guard = guard
        .add_inputs("--files-from", &args.inputs.files_from)
        .add_inputs("an input", inputs);
    if args.output.is_none() {
        guard = guard.add_stdout()?;
    }
    // In the order of the help, each output is compared with the inputs and the outputs before it.
    for (option, path) in [
        ("-o", &args.output),
        ("--html", &args.html),
        ("--lines", &args.lines),
    ] {
        let Some(path) = path else { continue };
        if option == "--lines" && is_stdout(path) && args.output.is_none() {
            bail!(
                "--lines {}: the report goes to standard output; give it a file with -o",
                path.display()
            );
        }
        guard.add_output(option, path)?;
        OutputFormat::Text.check(path)?;
    }
    args.stats.refuse_overwriting(&mut guard)
}
