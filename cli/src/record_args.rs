//! The options that locate the URLs in the inputs, and the times of their records.

use crate::help_text::INPUT;
use crate::value_enums::named;
use clap::Args;
use robosieve::judge::NoTime;
use robosieve::records::{Field, InputFormat, RecordOptions};

// The layout of the input lines.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Layout of inputs
    ///
    /// By default, it is detected for each input by its name, else by its first lines.
    #[arg(long, value_parser = named::<InputFormat>(), value_name = "FORM", help_heading = INPUT)]
    pub input_format: Option<InputFormat>,
    /// Column of the URLs
    ///
    /// Columns are numbered from 1. The first line of TSV or CSV may name them. A name of a Parquet
    /// column matches in any case; `a.b` is the field b of the struct a. The default name is `url`,
    /// else one that corpora use, such as `metadata.url`. Without --json-key, a name is also the key
    /// of JSON objects.
    #[arg(long, value_name = "N|NAME", visible_alias = "column", help_heading = INPUT)]
    pub field: Option<String>,
    /// The first line is a header: copy it without judging it
    ///
    /// Only needed if --field is a number.
    #[arg(long, hide_short_help = true, help_heading = INPUT)]
    pub header: bool,
    /// Column separator: a character, tab or space
    ///
    /// The default is a tab, in CSV a comma. If that separates no columns, another one (, ; tab |) is
    /// used where the first records agree on it.
    #[arg(long, hide_short_help = true, value_name = "CHAR", value_parser = parse_delimiter, help_heading = INPUT)]
    pub delimiter: Option<u8>,
    /// JSON key of the URL (default: url)
    ///
    /// `a.b` is the key b of the object at a, unless there is a key `a.b`. Without a key `url`, the
    /// default is one that corpora use, such as `metadata.url`.
    #[arg(long, value_name = "KEY", help_heading = INPUT)]
    pub json_key: Option<String>,
    /// Scheme of URLs without one (example.com/a, example.com:8080/a)
    ///
    /// A text with another scheme (mailto:a) stays invalid.
    #[arg(long, hide_short_help = true, value_name = "SCHEME", value_parser = parse_scheme, help_heading = INPUT)]
    pub default_scheme: Option<String>,
    /// Host, or scheme and host, of URLs that are only a path (/a, as in an access log)
    #[arg(long, hide_short_help = true, value_name = "HOST", value_parser = parse_host, help_heading = INPUT)]
    pub host: Option<String>,
}

// Those of `filter` and `annotate`, which judge each record by the rules of its own time.
#[derive(Debug, Args)]
pub(crate) struct RecordTimeArgs {
    /// Judge each record as of the time in this column or JSON key
    ///
    /// Columns of lists and keys are named as for --field and --json-key. Times are like
    /// 2026-01-31T12:00:00Z (without a zone in UTC), 20260131120000, or seconds since 1970, with 13, 16
    /// or 19 digits in smaller units. A date, month or year is its last second in UTC. Parquet
    /// columns may also be timestamps and dates.
    #[arg(
        long,
        value_name = "N|NAME",
        conflicts_with_all = ["as_of_record", "as_of", "at"],
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub as_of_column: Option<String>,
    /// Judge each record as of its own time: WARC-Date, or the timestamp of CDXJ and CDX
    #[arg(long, conflicts_with_all = ["as_of", "at"], hide_short_help = true, help_heading = INPUT)]
    pub as_of_record: bool,
    /// With times of records: the verdict on a record without one
    ///
    /// `unknown` is the verdict on unknown origins, with the reason unknown-time; `newest` is that by
    /// the newest rules.
    #[arg(
        long,
        value_parser = named::<NoTime>(),
        value_name = "VERDICT",
        default_value = "unknown",
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub no_time: NoTime,
}

impl RecordTimeArgs {
    /// The options of where URLs are, with those of their times.
    pub(crate) fn add_to(&self, records: RecordOptions) -> RecordOptions {
        records
            .as_of_column(self.as_of_column.as_deref().map(Field::from))
            .as_of_record(self.as_of_record)
    }
}

impl RecordArgs {
    pub(crate) fn options(&self) -> RecordOptions {
        RecordOptions::default()
            .format(self.input_format)
            .field(self.field.as_deref().map(Field::from))
            .header(self.header)
            .delimiter(self.delimiter)
            .json_key(self.json_key.clone())
            .default_scheme(self.default_scheme.clone())
            .host(self.host.clone())
    }
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        b"space" => Ok(b' '),
        b"\n" | b"\r" | b"\"" => Err("a line end or a quote cannot separate columns".to_owned()),
        [byte] => Ok(*byte),
        _ => Err("give one ASCII character, or tab, or space".to_owned()),
    }
}

fn parse_scheme(text: &str) -> Result<String, String> {
    let scheme = text.trim_end_matches("://");
    let plain = scheme
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    match scheme
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic())
        && plain
    {
        true => Ok(scheme.to_owned()),
        false => Err("give a scheme, such as https".to_owned()),
    }
}

fn parse_host(text: &str) -> Result<String, String> {
    let whole = if text.contains("://") {
        text.to_owned()
    } else {
        format!("https://{text}")
    };
    let origin = robosieve::Origin::of(whole.as_bytes());
    let host = whole
        .split_once("://")
        .map_or("", |(_, host)| host.trim_end_matches('/'));
    match origin {
        Some(_) if !host.contains(['/', '?', '#']) => Ok(text.to_owned()),
        _ => Err(
            "give a host, such as example.com, or scheme and host, such as http://example.com:8080"
                .to_owned(),
        ),
    }
}
