//! Layouts of text logs as servers configure them: the directives of Apache's `LogFormat`
//! (`%h %t "%r"`) and the variables of nginx's `log_format` (`$remote_addr "$request"`).
//!
//! Sources: the documentation of Apache's mod_log_config and of nginx's ngx_http_log_module.

use crate::audit::template::{FieldKind, Template};

/// Parses the directives of a `LogFormat`.
pub(super) fn parse_apache(text: &[u8]) -> Result<Template, String> {
    let mut template = Template::default();
    let mut rest = text;
    // As Apache reads them: `%` begins a directive, and backslashes escape in literal text.
    while let Some(&byte) = rest.first() {
        match (byte, rest.get(1)) {
            (b'%', Some(b'%')) => {
                template.push_literal(b"%");
                rest = &rest[2..];
            }
            (b'%', _) => rest = parse_directive(&rest[1..], &mut template)?,
            (b'\\', Some(escaped)) => {
                let literal = match escaped {
                    b't' => b'\t',
                    b'n' => b'\n',
                    other => *other,
                };
                template.push_literal(&[literal]);
                rest = &rest[2..];
            }
            _ => {
                template.push_literal(&[byte]);
                rest = &rest[1..];
            }
        }
    }
    Ok(template.finish())
}

/// Parses one directive after its `%`, and returns the text after it.
fn parse_directive<'t>(text: &'t [u8], template: &mut Template) -> Result<&'t [u8], String> {
    // Conditions on the status (`%!200,304{...}i`), and the choice of a redirected request.
    let modifiers = text
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || b"!,<>".contains(byte))
        .count();
    let mut rest = &text[modifiers..];
    let mut argument: &[u8] = b"";
    if let Some(after) = rest.strip_prefix(b"{") {
        let end = memchr::memchr(b'}', after).ok_or("a `{` without `}`")?;
        (argument, rest) = (&after[..end], &after[end + 1..]);
    }
    let (name, rest) = match rest {
        [b'^', _, _, ..] => rest.split_at(3),
        [_, ..] => rest.split_at(1),
        [] => return Err("a `%` at the end".to_owned()),
    };
    if name == b"t" && argument.is_empty() {
        // The brackets are part of the directive.
        template.push_literal(b"[");
        template.push_field(FieldKind::Time);
        template.push_literal(b"]");
    } else {
        template.push_field(directive_kind(name, argument));
    }
    Ok(rest)
}

fn directive_kind(name: &[u8], argument: &[u8]) -> FieldKind {
    let argument = argument.to_ascii_lowercase();
    match name {
        b"h" | b"a" => FieldKind::Client,
        b"t" => FieldKind::Time,
        b"r" => FieldKind::Request,
        b"U" => FieldKind::Target,
        b"s" => FieldKind::Status,
        b"b" | b"B" | b"O" => FieldKind::Bytes,
        b"v" | b"V" => FieldKind::Host,
        b"p" if argument.is_empty() || argument == b"canonical" => FieldKind::Port,
        b"i" if argument == b"user-agent" => FieldKind::UserAgent,
        b"i" if argument == b"host" => FieldKind::Host,
        _ => FieldKind::Other,
    }
}

/// Parses the variables of a `log_format`.
pub(super) fn parse_nginx(text: &[u8]) -> Result<Template, String> {
    let mut template = Template::default();
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'$', rest) {
        template.push_literal(&rest[..at]);
        rest = &rest[at + 1..];
        let is_in_braces = rest.starts_with(b"{");
        let start = usize::from(is_in_braces);
        let len = rest[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        let name = &rest[start..start + len];
        if name.is_empty() || (is_in_braces && rest.get(start + len) != Some(&b'}')) {
            return Err("a `$` without the name of a variable".to_owned());
        }
        rest = &rest[start + len + start..];
        template.push_field(variable_kind(name));
    }
    template.push_literal(rest);
    Ok(template.finish())
}

fn variable_kind(name: &[u8]) -> FieldKind {
    match name {
        b"http_user_agent" => FieldKind::UserAgent,
        b"time_local" | b"time_iso8601" | b"msec" => FieldKind::Time,
        b"host" | b"http_host" | b"server_name" => FieldKind::Host,
        b"server_port" => FieldKind::Port,
        b"scheme" => FieldKind::Scheme,
        b"request" => FieldKind::Request,
        b"request_uri" | b"uri" => FieldKind::Target,
        b"status" => FieldKind::Status,
        b"body_bytes_sent" | b"bytes_sent" => FieldKind::Bytes,
        b"remote_addr" => FieldKind::Client,
        // No variable of nginx: AWS writes both with a colon between them, also for IPv6.
        b"client_and_port" => FieldKind::ClientAndPort,
        _ => FieldKind::Other,
    }
}
