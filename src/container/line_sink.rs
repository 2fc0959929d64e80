//! An output of lines.

use std::io::{self, Write};

/// An output of lines. A last line without a line end gets one if anything follows.
pub(crate) struct LineSink<'w> {
    out: Option<&'w mut (dyn Write + Send)>,
    /// Whether the last line has no line end yet.
    is_open: bool,
}

impl<'w> LineSink<'w> {
    /// A sink; `None` discards.
    pub(crate) fn new(out: Option<&'w mut (dyn Write + Send)>) -> Self {
        Self {
            out,
            is_open: false,
        }
    }

    /// Writes lines. If it `continues`, the text continues the last line written.
    pub(crate) fn write(&mut self, lines: &[u8], continues: bool) -> io::Result<()> {
        let (Some(out), Some(last)) = (&mut self.out, lines.last()) else {
            return Ok(());
        };
        if self.is_open && !continues {
            out.write_all(b"\n")?;
        }
        self.is_open = *last != b'\n';
        out.write_all(lines)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.flush())
    }
}
