//! Figures and texts as all verbs print them: numbers, shares, tables, CSV and TSV, HTML pages
//! with bars, texts of SVG files, and the escapes of texts from sites.
//!
//! Each format is here once, because a verb may not import the files of another verb. Nothing here
//! knows a verb, or prints.

pub(crate) mod counts;
pub(crate) mod csv;
pub(crate) mod escape;
pub(crate) mod html;
pub(crate) mod shares;
pub(crate) mod svg;
pub(crate) mod table;
