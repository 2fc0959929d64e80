//! The list of URLs: which host is visited when, and what each line says.

use crate::synthetic::kinds::Odd;
use crate::synthetic::profile::{AIMED, CAPITAL_PATH, MAIN_ORIGIN, ODDITIES, PATH_LENGTH, QUERY, QUERY_LENGTH};
use crate::synthetic::random::{Dice, Purpose};
use crate::synthetic::sites::{Place, Sites};
use crate::synthetic::words::{push_path, push_query};
use crate::synthetic::{Order, Web};

/// One line of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// The URL's number; those of a host follow each other.
    url: u64,
    host: u64,
    rank: u64,
}

/// The lines in their order.
pub(super) fn visits(web: Web) -> Box<dyn Iterator<Item = Visit> + Send> {
    match web.options.order {
        Order::Sorted => Box::new((0..web.sites.hosts).flat_map(move |host| {
            let rank = web.ranks.place_of(host);
            (web.popularity.first(rank)..web.popularity.first(rank + 1)).map(move |url| Visit { url, host, rank })
        })),
        Order::Shuffled => Box::new((0..web.options.urls).map(move |place| {
            let url = web.order.at(place);
            let rank = web.popularity.rank_of(url);
            Visit { url, host: web.ranks.at(rank), rank }
        })),
    }
}

/// Appends a line without its end.
pub(super) fn push_line(web: &Web, visit: Visit, out: &mut Vec<u8>) {
    let dice = &mut Dice::new(web.options.seed, Purpose::Url, visit.url, 0);
    let odd = dice.weighted(ODDITIES);
    if odd == Odd::NotAUrl {
        return out.extend_from_slice(dice.one_of(&["mailto:someone@mail.test", "about", "/", ""]).as_bytes());
    }
    push_origin(web, visit, odd, out);
    let aimed =
        dice.chance(AIMED) && web.files.choose(visit.host, web.is_popular(visit.rank)).push_path_for_a_rule(dice, out);
    if !aimed {
        let len = dice.quantile(&PATH_LENGTH);
        let query = if dice.chance(QUERY) { dice.quantile(&QUERY_LENGTH) } else { 0 };
        push_path(len.saturating_sub(query).max(1), dice.chance(CAPITAL_PATH), dice, out);
        push_query(query, dice, out);
    }
    match odd {
        Odd::Escapes => out.extend_from_slice(b"%C3%A9t%c3%a9"),
        Odd::RawNonAscii => out.extend_from_slice("été".as_bytes()),
        Odd::Space => out.extend_from_slice(b" (1)"),
        Odd::Fragment => out.extend_from_slice(b"#part"),
        _ => {}
    }
}

fn push_origin(web: &Web, visit: Visit, odd: Odd, out: &mut Vec<u8>) {
    let start = out.len();
    web.sites.push_origin(visit.host, place_of(web, visit), visit.url.is_multiple_of(2), out);
    let has_port = out.ends_with(b"0");
    match odd {
        Odd::CapitalHost => out[start..].make_ascii_uppercase(),
        Odd::User => {
            let host = start + "http://".len() + usize::from(out[start + 4] == b's');
            out.splice(host..host, *b"user@");
        }
        Odd::DefaultPort if !has_port => out.extend_from_slice(if out[start + 4] == b's' { b":443" } else { b":80" }),
        Odd::OtherPort if !has_port => out.extend_from_slice(b":8081"),
        _ => {}
    }
}

/// Where on the site the URL is: the first of its URLs on its main origin, the last on the others.
fn place_of(web: &Web, visit: Visit) -> Place {
    let places = Sites::places(visit.host);
    if places.len() == 1 {
        return places[0];
    }
    let first = web.popularity.first(visit.rank);
    let count = web.popularity.first(visit.rank + 1) - first;
    let main = (count as f64 * MAIN_ORIGIN).ceil() as u64;
    match (visit.url - first).checked_sub(main) {
        None => places[0],
        Some(beyond) => {
            let others = places.len() as u64 - 1;
            places[1 + (beyond * others / (count - main)) as usize]
        }
    }
}
