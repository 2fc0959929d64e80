//! The list of URLs: the host of each line, and its text.

use crate::random::{Decision, Dice};
use crate::sites::{SiteOrigin, Sites};
use crate::statistics::{
    AIMED, CAPITAL_PATH, MAIN_ORIGIN, ODDITIES, Oddity, PATH_LENGTH, QUERY, QUERY_LENGTH,
};
use crate::vocabulary::{push_path, push_query};
use crate::{Order, Web};

/// One line of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// The number of the URL; the URLs of a host have consecutive numbers.
    url: u64,
    host: u64,
    rank: u64,
}

/// The lines in the order of the list.
pub(super) fn visits(web: Web) -> Box<dyn Iterator<Item = Visit> + Send> {
    match web.options.order {
        Order::Sorted => Box::new((0..web.sites.hosts).flat_map(move |host| {
            let rank = web.ranks.position_of(host);
            (web.popularity.first(rank)..web.popularity.first(rank + 1)).map(move |url| Visit {
                url,
                host,
                rank,
            })
        })),
        Order::Shuffled => Box::new((0..web.options.urls).map(move |position| {
            let url = web.order.at(position);
            let rank = web.popularity.rank_of(url);
            Visit {
                url,
                host: web.ranks.at(rank),
                rank,
            }
        })),
    }
}

/// Appends a line without its line end.
pub(super) fn push_line(web: &Web, visit: Visit, out: &mut Vec<u8>) {
    let dice = &mut Dice::new(web.options.seed, Decision::Url, visit.url, 0);
    let odd = dice.weighted(ODDITIES);
    if odd == Oddity::NotAUrl {
        return out.extend_from_slice(
            dice.one_of(&["mailto:someone@mail.test", "about", "/", ""])
                .as_bytes(),
        );
    }
    // Random paths match few rules. So some paths are made for a rule of the host's file.
    push_origin(web, visit, odd, out);
    let aimed = dice.chance(AIMED)
        && web
            .files
            .choose(visit.host, web.is_popular(visit.rank))
            .push_path_for_a_rule(dice, out);
    if !aimed {
        let len = dice.quantile(&PATH_LENGTH);
        let query = if dice.chance(QUERY) {
            dice.quantile(&QUERY_LENGTH)
        } else {
            0
        };
        push_path(
            len.saturating_sub(query).max(1),
            dice.chance(CAPITAL_PATH),
            dice,
            out,
        );
        push_query(query, dice, out);
    }
    match odd {
        Oddity::Escapes => out.extend_from_slice(b"%C3%A9t%c3%a9"),
        Oddity::RawNonAscii => out.extend_from_slice("été".as_bytes()),
        Oddity::Space => out.extend_from_slice(b" (1)"),
        Oddity::Fragment => out.extend_from_slice(b"#part"),
        _ => {}
    }
}

/// Appends the origin of a line, with its unusual properties.
fn push_origin(web: &Web, visit: Visit, odd: Oddity, out: &mut Vec<u8>) {
    let start = out.len();
    web.sites.push_origin(
        visit.host,
        origin_of(web, visit),
        visit.url.is_multiple_of(2),
        out,
    );
    let has_port = out.ends_with(b"0");
    match odd {
        Oddity::CapitalHost => out[start..].make_ascii_uppercase(),
        Oddity::User => {
            let host = start + "http://".len() + usize::from(out[start + 4] == b's');
            out.splice(host..host, *b"user@");
        }
        Oddity::DefaultPort if !has_port => out.extend_from_slice(if out[start + 4] == b's' {
            b":443"
        } else {
            b":80"
        }),
        Oddity::OtherPort if !has_port => out.extend_from_slice(b":8081"),
        _ => {}
    }
}

/// The origin of a URL: the first URLs of a site are on its main origin, the last ones on the
/// others.
fn origin_of(web: &Web, visit: Visit) -> SiteOrigin {
    let origins = Sites::origins(visit.host);
    if origins.len() == 1 {
        return origins[0];
    }
    let first = web.popularity.first(visit.rank);
    let count = web.popularity.first(visit.rank + 1) - first;
    let main = (count as f64 * MAIN_ORIGIN).ceil() as u64;
    match (visit.url - first).checked_sub(main) {
        None => origins[0],
        Some(beyond) => {
            let others = origins.len() as u64 - 1;
            origins[1 + (beyond * others / (count - main)) as usize]
        }
    }
}
