//! Self-contained HTML pages: style and charts inline, no script, nothing loaded.
//!
//! The templates (`maud`) escape every text. In addition, the page forbids scripts and loading, so
//! texts of sites stay texts. Pages of all verbs have one design.

mod bar_rows;
mod components;
mod scale;

pub(crate) use bar_rows::{BarRow, bar_rows};
pub(crate) use components::{
    BarSegment, LONGEST_NAME, LONGEST_TEXT, and_more, bar, code, fact, hatching, key, legend,
    meter, number, number_of, number_within, unbroken,
};
use maud::{DOCTYPE, Markup, PreEscaped, html};
pub(crate) use scale::ShareScale;

const STYLE: &str = include_str!("style.css");

/// The content security policy: the browser may only show the page.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A page with this head and body.
pub(crate) fn document(content: Markup) -> String {
    let page = html! { (DOCTYPE) html lang="en" { (content) } };
    page.into_string() + "\n"
}

/// The head of a page of this design.
pub(crate) fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " – robosieve" }
            style { (PreEscaped(STYLE)) }
        }
    }
}
