//! The kinds of units that a report counts, and the names of units.

use clap::ValueEnum;
use robosieve::export::registrable_domain;
use serde::Serialize;

/// The units that a report counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum UnitKind {
    /// Scheme, host and port: http and https count separately
    #[default]
    Origin,
    /// All schemes and ports of a host count once
    Host,
    /// All hosts of a registrable domain (example.co.uk) count once
    Domain,
}

impl UnitKind {
    /// The noun.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Origin => "origin",
            Self::Host => "host",
            Self::Domain => "domain",
        }
    }

    /// The noun of several units: `origins`, `hosts` or `domains`.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Origin => "origins",
            Self::Host => "hosts",
            Self::Domain => "domains",
        }
    }

    /// The noun of several units at the start of a sentence.
    pub(crate) fn plural_title(self) -> String {
        let (first, rest) = self.plural().split_at(1);
        first.to_ascii_uppercase() + rest
    }

    /// The name of a host's unit: the host or its registrable domain, without a final dot. An
    /// address and a host without a registrable domain are units of their own.
    pub(super) fn unit_of(self, host: &str) -> &str {
        match self {
            Self::Domain => registrable_domain(host),
            // Both spellings name the same host.
            _ => host
                .strip_suffix('.')
                .filter(|host| !host.is_empty())
                .unwrap_or(host),
        }
    }
}
