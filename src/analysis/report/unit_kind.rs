//! The kinds of units that a report counts, and the names of units.

use crate::named_value::named_values;
use std::net::Ipv4Addr;

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
        let host = host
            .strip_suffix('.')
            .filter(|host| !host.is_empty())
            .unwrap_or(host);
        match self {
            Self::Origin | Self::Host => host,
            #[cfg(feature = "domains")]
            Self::Domain if is_address(host) => host,
            #[cfg(feature = "domains")]
            Self::Domain => psl::domain_str(host).unwrap_or(host),
        }
    }
}

/// Whether a canonical host is an IPv4 or IPv6 address.
pub(super) fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok()
}
