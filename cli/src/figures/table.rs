//! Rows of tables in columns of fixed width.

/// The columns of a table: a name on the left, and cells that are aligned on the right. Longer
/// texts push the later columns to the right.
pub(crate) struct Columns<'c> {
    /// The spaces before the name, and the width of its column.
    pub indent: usize,
    pub name: usize,
    /// The least spaces before a cell.
    pub gap: usize,
    /// The width of each cell without its gap. The last one also holds for further cells.
    pub cells: &'c [usize],
}

impl Columns<'_> {
    /// A row without a line end.
    pub(crate) fn row<S: AsRef<str>>(
        &self,
        name: &str,
        cells: impl IntoIterator<Item = S>,
    ) -> String {
        let mut row = format!(
            "{:indent$}{name:<width$}",
            "",
            indent = self.indent,
            width = self.name
        );
        let last = self.cells.last().copied().unwrap_or_default();
        let widths = self.cells.iter().copied().chain(std::iter::repeat(last));
        for (cell, width) in cells.into_iter().zip(widths) {
            row += &format!("{:gap$}{:>width$}", "", cell.as_ref(), gap = self.gap);
        }
        row
    }
}

/// The number of characters of the longest text; 0 without texts.
pub(crate) fn longest<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> usize {
    let lengths = texts.into_iter().map(|text| text.as_ref().chars().count());
    lengths.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_on_the_right() {
        let columns = Columns {
            indent: 2,
            name: 4,
            gap: 1,
            cells: &[3, 5],
        };
        assert_eq!(columns.row("ä", ["1", "2", "3"]), "  ä      1     2     3");
        assert_eq!(columns.row("longer", ["1234", "2"]), "  longer 1234     2");
        assert_eq!(columns.row("a", [""; 0]), "  a   ");
        assert_eq!(longest(["a", "äöü", ""]), 3);
        assert_eq!(longest([""; 0]), 0);
    }
}
