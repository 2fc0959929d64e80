//! The counts that the table and the page show of each group.

/// A count of the units of a group.
pub(super) struct GroupMeasure {
    /// The title in the table.
    pub title: &'static str,
    /// The caption on the page.
    pub caption: &'static str,
    /// The key in the JSON.
    pub key: &'static str,
}

/// The first is that of the main table, and top-level domains have only this one.
pub(super) const GROUP_MEASURES: [GroupMeasure; 3] = [
    GroupMeasure {
        title: "wholly disallowed",
        caption: "Disallowed wholly",
        key: "wholly",
    },
    GroupMeasure {
        title: "wholly, by name",
        caption: "Disallowed wholly by name",
        key: "wholly_by_name",
    },
    GroupMeasure {
        title: "partly disallowed",
        caption: "Disallowed partly",
        key: "partly",
    },
];
