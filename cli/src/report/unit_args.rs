//! The options that choose, weigh and group the units of a report.

use super::unit_names::units;
use crate::figures::counts::counted;
use crate::figures::escape::escape;
use crate::help_text::UNITS;
use crate::stderr::print_line;
use crate::value_enums::named;
use anyhow::Context;
use clap::{Args, ValueEnum};
use robosieve::decode::decode;
use robosieve::report::{Reporter, UnitKind, WeightFacts, Weights};
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
        value_parser = named::<UnitKind>(),
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
    /// Also group the units: by tld (top-level domain)
    #[arg(long, value_enum, value_name = "KEY", hide_possible_values = true, help_heading = UNITS)]
    pub group_by: Option<GroupArg>,
}

/// A key of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupArg {
    /// The last label of a host
    Tld,
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

    /// Reads the file of weights, if one is named.
    pub(crate) fn read_weights(&self) -> anyhow::Result<Option<Weights>> {
        let Some(path) = &self.weights else {
            return Ok(None);
        };
        let file = File::open(path).with_context(|| path.display().to_string())?;
        let weights = decode(file).and_then(|input| Weights::read(BufReader::new(input)));
        Ok(Some(weights.map_err(|err| err.at(path))?))
    }

    /// Applies the options to a reporter.
    pub(crate) fn apply<'r>(
        &self,
        reporter: Reporter<'r>,
        weights: Option<&'r Weights>,
    ) -> Reporter<'r> {
        let reporter = reporter
            .by(self.kind())
            .group_by_tld(self.group_by.is_some());
        match weights {
            Some(weights) => reporter.weights(weights),
            None => reporter,
        }
    }

    /// Warns of weights that match next to nothing: their names are probably of another kind.
    pub(crate) fn warn_of_few_matches(
        &self,
        matches: Option<&WeightFacts>,
        unit_count: u64,
        snapshot: &Path,
    ) {
        let Some((matches, path)) = matches.zip(self.weights.as_deref()) else {
            return;
        };
        if is_few(matches.entries_matched, matches.entries)
            && is_few(matches.units_matched, unit_count)
        {
            let message = format!(
                "{}: only {} of its {} name {} of {}; are they of another kind (--by), or of \
                 another crawl?",
                path.display(),
                matches.entries_matched,
                counted(matches.entries, "name"),
                units(self.kind()),
                snapshot.display()
            );
            print_line(format_args!("robosieve: warning: {}", escape(&message)));
        }
    }
}

/// Whether a part is less than a hundredth of the whole.
fn is_few(part: u64, whole: u64) -> bool {
    part * 100 < whole
}
