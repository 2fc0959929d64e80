//! Where the URLs of inputs stand: the options, and what they mean to the library.

use super::choices::FormatArg;
use clap::Args;
use robosieve::{Field, RecordOptions};

// Where the URL is in a line of input.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input lines")]
pub(crate) struct RecordArgs {
    /// How all inputs are laid out (default: told by each one's name, else by its first line)
    #[arg(long, value_enum, value_name = "FORM")]
    pub input_format: Option<FormatArg>,
    /// The column that has the URLs: in TSV or CSV its number from 1, or its name in the first
    /// line; in Parquet its name in any case, which is `a.b` for a field of a struct (default: url)
    #[arg(long, value_name = "N|NAME", visible_alias = "column")]
    pub field: Option<String>,
    /// The first line names the columns, though --field is a number: it is passed on, not judged
    #[arg(long)]
    pub header: bool,
    /// What stands between columns: one character, tab or space (default: a tab, in CSV a comma)
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,
    /// The key of JSON objects that has the URL; `a.b` is the key b of the object at a, unless
    /// there is a key `a.b` (default: url)
    #[arg(long, value_name = "KEY")]
    pub json_key: Option<String>,
    /// The scheme of URLs that are written without one (example.com/a, example.com:8080/a); a text
    /// with another scheme (mailto:a) stays invalid
    #[arg(long, value_name = "SCHEME", value_parser = parse_scheme)]
    pub default_scheme: Option<String>,
    /// The host, or scheme and host, of URLs that are a path only (/a, as in an access log)
    #[arg(long, value_name = "HOST", value_parser = parse_host)]
    pub host: Option<String>,
}

impl RecordArgs {
    pub(crate) fn options(&self) -> RecordOptions {
        RecordOptions {
            format: self.input_format.map(FormatArg::value),
            field: self.field.as_deref().map(Field::from),
            header: self.header,
            delimiter: self.delimiter,
            json_key: self.json_key.clone(),
            default_scheme: self.default_scheme.clone(),
            host: self.host.clone(),
        }
    }
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        b"space" => Ok(b' '),
        b"\n" | b"\r" | b"\"" => Err("a line end or a quote cannot stand between columns".to_owned()),
        [byte] => Ok(*byte),
        _ => Err("give one ASCII character, or tab, or space".to_owned()),
    }
}

fn parse_scheme(text: &str) -> Result<String, String> {
    let scheme = text.trim_end_matches("://");
    let plain = scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    match scheme.bytes().next().is_some_and(|b| b.is_ascii_alphabetic()) && plain {
        true => Ok(scheme.to_owned()),
        false => Err("give a scheme, such as https".to_owned()),
    }
}

fn parse_host(text: &str) -> Result<String, String> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let origin = robosieve::Origin::of(whole.as_bytes());
    let behind = whole.split_once("://").map_or("", |(_, host)| host.trim_end_matches('/'));
    match origin {
        Some(_) if !behind.contains(['/', '?', '#']) => Ok(text.to_owned()),
        _ => Err("give a host, such as example.com, or scheme and host, such as http://example.com:8080".to_owned()),
    }
}
