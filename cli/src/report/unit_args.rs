//! The options that choose, weigh and group the units of a report.

use super::fold::{
    GroupList, GroupListFacts, Grouping, Reporter, Sampling, UnitKind, WeightFacts, Weights,
};
use crate::figures::counts::counted;
use crate::figures::escape::escape;
use crate::help_text::UNITS;
use crate::stderr::print_line;
use anyhow::Context;
use clap::Args;
use robosieve::decode::decode;
use std::convert::Infallible;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct UnitArgs {
    /// Count by: domain, host or origin (default: domain)
    ///
    /// A domain is a registrable one, such as example.co.uk. By host or origin, one domain with
    /// thousands of subdomains may be most of a figure; the report then names it. With --weights,
    /// the default is host, because a list of weights names hosts. A host or a domain counts by one
    /// of its origins: by one that answered, if there is any. Of several, the domain itself comes
    /// first, then its www. host; and https before http.
    #[arg(
        long,
        value_enum,
        value_name = "UNIT",
        hide_possible_values = true,
        help_heading = UNITS
    )]
    pub by: Option<UnitKind>,
    /// Also weigh the units, by a file of NAME,WEIGHT or RANK,NAME
    ///
    /// A line has a host or a domain, a TAB or a comma, and its weight; or a rank and a domain, as
    /// in the Tranco list, where the weight is one divided by the rank. A unit has the weight of
    /// the line with its name, and 0 without a line. The file may be gzip or zstd.
    #[arg(long, value_name = "FILE", help_heading = UNITS)]
    pub weights: Option<PathBuf>,
    /// Also group the units: by tld (top-level domain), or by a file of NAME,GROUP
    ///
    /// A line has a host or a domain, a TAB or a comma, and the name of its group. A host gives its
    /// registrable domain the group, if domains are counted; of several hosts, the line with the
    /// name of the domain decides, else the first. Units without a line are the group (no group).
    /// The file may be gzip or zstd. For a file named tld, write ./tld.
    #[arg(long, value_name = "FILE", value_parser = parse_group, help_heading = UNITS)]
    pub group_by: Option<GroupArg>,
    /// Count a random sample of N units, with 95 % intervals of all shares
    ///
    /// With --group-by, the shares of each group come from a sample of N of its units. Smaller
    /// groups are counted completely. The sample depends on the names of the units and on --seed alone.
    /// The intervals are Wilson's, with a correction for finite populations. URLs of lists are not
    /// sampled.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with = "weights",
        hide_short_help = true,
        help_heading = UNITS
    )]
    pub sample: Option<u32>,
    /// The seed of --sample: another one draws another sample
    #[arg(
        long,
        value_name = "SEED",
        requires = "sample",
        default_value_t = 0,
        hide_short_help = true,
        help_heading = UNITS
    )]
    pub seed: u64,
}

/// A key of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GroupArg {
    /// The last label of a host.
    TopLevelDomain,
    /// The groups of a file.
    File(PathBuf),
}

fn parse_group(text: &str) -> Result<GroupArg, Infallible> {
    Ok(match text {
        "tld" => GroupArg::TopLevelDomain,
        path => GroupArg::File(PathBuf::from(path)),
    })
}

/// The lists that weigh and group the units.
#[derive(Default)]
pub(crate) struct UnitLists {
    weights: Option<Weights>,
    groups: Option<GroupList>,
}

impl UnitArgs {
    pub(crate) fn kind(&self) -> UnitKind {
        match self.by {
            Some(by) => by,
            // A list of weights names hosts, and of a site that is only known by its host `www`
            // a domain would lack the weight.
            None if self.weights.is_some() => UnitKind::Host,
            None => UnitKind::Domain,
        }
    }

    /// The file of groups, if one is named.
    pub(crate) fn group_file(&self) -> Option<&Path> {
        match &self.group_by {
            Some(GroupArg::File(path)) => Some(path),
            _ => None,
        }
    }

    /// Reads the files of weights and of groups, if they are named.
    pub(crate) fn read_lists(&self) -> anyhow::Result<UnitLists> {
        let mut lists = UnitLists::default();
        if let Some(path) = &self.weights {
            let file = File::open(path).with_context(|| path.display().to_string())?;
            let weights = decode(file).and_then(|input| Weights::read(BufReader::new(input)));
            lists.weights = Some(weights.map_err(|err| err.at(path))?);
        }
        if let Some(path) = self.group_file() {
            let file = File::open(path).with_context(|| {
                let path = path.display();
                format!("--group-by {path}: give tld, or a file of hosts and their groups")
            })?;
            let read = |input| GroupList::read(BufReader::new(input), self.kind());
            let groups = decode(file).and_then(read).map_err(|err| err.at(path))?;
            warn_of_overruled_lines(&groups, path);
            lists.groups = Some(groups);
        }
        Ok(lists)
    }

    /// Applies the options to a reporter.
    pub(crate) fn apply<'r>(&self, lists: &'r UnitLists, reporter: &mut Reporter<'r>) {
        reporter.by = self.kind();
        reporter.weights = lists.weights.as_ref();
        reporter.sampling = self.sample.map(|size| Sampling {
            size,
            seed: self.seed,
        });
        let tld = self.group_by.as_ref().map(|_| Grouping::TopLevelDomain);
        reporter.groups = lists.groups.as_ref().map(Grouping::List).or(tld);
    }

    /// Warns of weights and of groups that match next to nothing: their names are probably of
    /// another kind.
    pub(crate) fn warn_of_few_matches(
        &self,
        weights: Option<&WeightFacts>,
        groups: Option<&GroupListFacts>,
        unit_count: u64,
        snapshot: &Path,
    ) {
        let of_weights = weights.map(|of| ListMatches {
            entries: of.entries,
            entries_matched: of.entries_matched,
            units_matched: of.units_matched,
        });
        // A unit of the list names one unit of the report.
        let of_groups = groups.map(|of| ListMatches {
            entries: of.entries,
            entries_matched: of.units_matched.min(of.entries),
            units_matched: of.units_matched,
        });
        let lists = [
            (self.weights.as_deref(), of_weights),
            (self.group_file(), of_groups),
        ];
        for (path, matches) in lists {
            let Some((path, matches)) = path.zip(matches) else {
                continue;
            };
            if matches.are_few(unit_count) {
                let message = format!(
                    "{}: only {} of its {} name {} of {}; are they of another kind (--by), or of \
                     another crawl?",
                    path.display(),
                    matches.entries_matched,
                    counted(matches.entries, "name"),
                    self.kind().plural(),
                    snapshot.display()
                );
                print_line(format_args!("robosieve: warning: {}", escape(&message)));
            }
        }
    }
}

/// How many names of a list and units of a report match.
struct ListMatches {
    entries: u64,
    entries_matched: u64,
    units_matched: u64,
}

impl ListMatches {
    fn are_few(&self, unit_count: u64) -> bool {
        is_few(self.entries_matched, self.entries) && is_few(self.units_matched, unit_count)
    }
}

/// Warns of lines that give a domain another group than the line that decides.
fn warn_of_overruled_lines(groups: &GroupList, path: &Path) {
    let overruled = groups.overruled();
    let [line, by] = overruled.first;
    if overruled.lines > 0 {
        let verb = if overruled.lines == 1 { "has" } else { "have" };
        let message = format!(
            "{}: {} {verb} another group than the line that decides on their domain: line {line}, \
             and line {by} decides",
            path.display(),
            counted(overruled.lines, "line"),
        );
        print_line(format_args!("robosieve: warning: {}", escape(&message)));
    }
}

/// Whether a part is less than a hundredth of the whole.
fn is_few(part: u64, whole: u64) -> bool {
    part * 100 < whole
}
