//! The kinds of units that a report counts, and the names of units.

#[cfg(feature = "domains")]
use crate::analysis::host_parts::registrable_domain;
use crate::analysis::host_parts::without_final_dot;
use crate::named_value::named_values;

/// The units that a report counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnitKind {
    /// Every origin: http and https of a host, and its ports, count separately.
    #[default]
    Origin,
    /// Every host: all its schemes and ports count once.
    Host,
    /// Every registrable domain, by the public suffix list: all its hosts count once. An address
    /// and a host without a registrable domain are units of their own.
    #[cfg(feature = "domains")]
    Domain,
}

named_values! {
    /// The noun.
    UnitKind {
        Origin = "origin",
        Host = "host",
        #[cfg(feature = "domains")]
        Domain = "domain",
    }
}

impl UnitKind {
    /// The name of a host's unit: the host or its registrable domain, without a final dot.
    pub(super) fn unit_of(self, host: &str) -> &str {
        match self {
            Self::Origin | Self::Host => without_final_dot(host),
            #[cfg(feature = "domains")]
            Self::Domain => registrable_domain(host),
        }
    }
}
