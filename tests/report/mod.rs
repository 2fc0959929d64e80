//! Reports: figures against other ways to the same.

mod reach;
