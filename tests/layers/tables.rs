//! The modules and what each may import. `mod.rs` has the rules.

/// Each module, and the modules that it may use. Compiling and judging never use each other: they
/// share the snapshot.
///
/// Within the library, code names a module in full (`crate::error::Error`), not by the exports of
/// `lib.rs`.
pub(super) const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("named_value", &["error"]),
    ("profile", &["named_value"]),
    ("digest", &[]),
    ("read_at", &[]),
    ("time_span", &[]),
    ("atomic", &["error"]),
    ("spool", &["error", "atomic", "read_at"]),
    ("threads", &["error"]),
    ("file_format", &[]),
    ("decode", &["error", "file_format"]),
    ("bytes", &["error"]),
    ("agent", &["error", "named_value", "bytes"]),
    ("simd", &["bytes"]),
    ("url", &["profile", "bytes", "simd"]),
    (
        "robots",
        &["profile", "file_format", "bytes", "agent", "url"],
    ),
    ("crawlers", &["error", "profile", "agent", "robots"]),
    ("matcher", &["error", "profile", "bytes", "simd", "robots"]),
    (
        "preferences",
        &["profile", "bytes", "agent", "url", "robots", "matcher"],
    ),
    (
        "explain",
        &[
            "named_value",
            "profile",
            "agent",
            "url",
            "robots",
            "preferences",
        ],
    ),
    (
        "snapshot",
        &[
            "error",
            "named_value",
            "profile",
            "digest",
            "time_span",
            "spool",
            "file_format",
            "agent",
            "bytes",
            "simd",
            "url",
            "robots",
            "matcher",
        ],
    ),
    (
        "archive",
        &[
            "error",
            "atomic",
            "profile",
            "digest",
            "time_span",
            "file_format",
            "bytes",
            "decode",
            "url",
            "robots",
        ],
    ),
    (
        "compile",
        &[
            "error",
            "profile",
            "digest",
            "time_span",
            "spool",
            "threads",
            "file_format",
            "atomic",
            "bytes",
            "decode",
            "url",
            "robots",
            "matcher",
            "snapshot",
            "archive",
        ],
    ),
    (
        "records",
        &[
            "error",
            "named_value",
            "profile",
            "file_format",
            "bytes",
            "url",
        ],
    ),
    (
        "judge",
        &[
            "error",
            "named_value",
            "profile",
            "threads",
            "agent",
            "simd",
            "url",
            "robots",
            "preferences",
            "explain",
            "snapshot",
            "matcher",
            "records",
        ],
    ),
    (
        "file_pass",
        &[
            "error", "profile", "agent", "simd", "robots", "matcher", "snapshot", "judge",
        ],
    ),
    (
        "pipeline",
        &[
            "error",
            "threads",
            "read_at",
            "file_format",
            "decode",
            "judge",
            "records",
        ],
    ),
    (
        "container",
        &[
            "error",
            "named_value",
            "file_format",
            "atomic",
            "decode",
            "agent",
            "profile",
            "url",
            "preferences",
            "judge",
            "records",
            "pipeline",
        ],
    ),
    (
        "lists",
        &["error", "judge", "records", "pipeline", "container"],
    ),
    (
        "parquet",
        &[
            "error",
            "threads",
            "read_at",
            "file_format",
            "atomic",
            "agent",
            "url",
            "judge",
            "records",
            "pipeline",
            "container",
        ],
    ),
    (
        "warc",
        &[
            "error",
            "file_format",
            "bytes",
            "atomic",
            "decode",
            "url",
            "archive",
            "preferences",
            "judge",
            "records",
            "pipeline",
            "container",
        ],
    ),
    (
        "job",
        &[
            "error",
            "judge",
            "records",
            "pipeline",
            "container",
            "lists",
            "parquet",
            "warc",
        ],
    ),
    (
        "analysis",
        &[
            "error",
            "named_value",
            "atomic",
            "url",
            "profile",
            "agent",
            "crawlers",
            "robots",
            "preferences",
            "snapshot",
            "judge",
            "file_pass",
            "records",
            "pipeline",
            "container",
            "parquet",
            "job",
        ],
    ),
    (
        "lint",
        &[
            "error",
            "named_value",
            "profile",
            "file_format",
            "bytes",
            "agent",
            "crawlers",
            "robots",
            "preferences",
            "snapshot",
            "file_pass",
            "archive",
        ],
    ),
    (
        "audit",
        &[
            "error",
            "profile",
            "file_format",
            "bytes",
            "agent",
            "crawlers",
            "simd",
            "url",
            "snapshot",
            "judge",
            "records",
            "pipeline",
            "container",
            "job",
        ],
    ),
    ("synthetic", &["named_value"]),
    (
        "capi",
        &[
            "error", "agent", "crawlers", "profile", "robots", "compile", "snapshot", "judge",
        ],
    ),
];

/// The modules above the wall of rule 4.
pub(super) const PRODUCTS: &[&str] = &["analysis", "lint", "audit"];

/// The modules behind the wall. All other modules below the products are the interfaces of the
/// engine, or know nothing of it, such as `error`, `agent` and `url`.
pub(super) const ENGINE: &[&str] = &[
    "spool",
    "simd",
    "robots",
    "matcher",
    "preferences",
    "explain",
    "snapshot",
    "archive",
    "compile",
    "judge",
    "warc",
];

/// The gates of the wall: a product, a file of the engine, and the items of it that the product may
/// import. The test fails if one is not needed.
pub(super) const WALL: &[(&str, &str, &[&str])] = &[
    // An opened snapshot and its origins, as the library exports them.
    ("analysis", "snapshot::read", &["OriginEntry", "Snapshot"]),
    ("analysis", "snapshot::freshness", &["Freshness"]),
    (
        "analysis",
        "snapshot::outcome",
        &["Outcome", "OutcomeClass"],
    ),
    ("lint", "snapshot::read", &["Snapshot"]),
    ("audit", "snapshot::read", &["Snapshot"]),
    // A comparison keeps the chains of its agents, which `file_pass` takes.
    ("analysis", "snapshot::view", &["TokenChain"]),
    // Under the strict policy, an audit judges hosts that no snapshot has.
    ("audit", "judge::status_policy", &["StatusPolicy"]),
    // The judge that a report or an export is for, and the words of its answers. `Engine` is the
    // judge inside: it has the agents and the status policy, by which `file_pass` selects rules.
    // `Scratch` is the memory of a thread that judges.
    ("analysis", "judge::owned", &["Judge"]),
    ("analysis", "judge::engine", &["Engine", "Scratch"]),
    ("analysis", "explain::reason", &["Reason"]),
    ("analysis", "explain::verdict", &["Verdict"]),
    // A report explains a sample of refused URLs.
    ("analysis", "explain::explanation", &["explain"]),
    // Examples, exports and counts of preferences show lines of a text, so they parse it.
    (
        "analysis",
        "robots::parse",
        &["AgentLine", "RobotsRef", "Rule", "RuleKind"],
    ),
    ("analysis", "robots::robots_line", &["RobotsLine"]),
    (
        "analysis",
        "preferences::preference_set",
        &["may_have_preferences"],
    ),
    // A report counts licences by the host of their URLs.
    ("analysis", "preferences::license", &["license_url"]),
    // Lint checks source text: it has to see each line as the parser does.
    ("lint", "robots::body", &["BodyFacts", "LooksLike"]),
    ("lint", "robots::crawl_delay", &["parse_seconds"]),
    ("lint", "robots::field", &["RobotsField", MODULE]),
    (
        "lint",
        "robots::line",
        &[
            "MAX_BODY",
            "MAX_LINE",
            "NumberedLines",
            "RawLine",
            "bom_len",
            "glued_comment",
        ],
    ),
    (
        "lint",
        "robots::parse",
        &[
            "AgentLine",
            "Group",
            "OtherField",
            "RobotsRef",
            "Rule",
            "RuleKind",
        ],
    ),
    ("lint", "robots::pattern", &["Pattern"]),
    ("lint", "preferences", &["Preference"]),
    ("lint", "preferences::signal", &["SignalMember", "Signals"]),
    ("lint", "preferences::usage", &["UsageMember", MODULE]),
    // A directory is linted by the names that `compile` gives its files.
    ("lint", "archive::dir", &["files", "origins_of"]),
    // An audit judges each request, in sessions of its own, and finds the line that refuses it.
    ("audit", "judge::owned", &["Judge"]),
    ("audit", "judge::options", &["JudgeOptions"]),
    ("audit", "judge::session", &["JudgeSession"]),
    ("audit", "explain::verdict", &["Verdict"]),
    ("audit", "judge::refusing_line", &["RefusingLines"]),
    // An audit indexes the delimiters of a block of lines.
    ("audit", "simd", &["Kernel"]),
    ("audit", "simd::backend", &["Backend"]),
    ("audit", "simd::detected", &["AnyBackend"]),
    // Times in JSON, in the form of explanations.
    ("audit", "judge::explanation_json", &["rfc3339"]),
];

/// The item of an import of a whole module.
pub(super) const MODULE: &str = "the module itself";

/// Methods of snapshots that return stored bytes or rows of sections. Rule 3 sees only the names of
/// items, so products may not call these.
pub(super) const STORED_BYTES: &[&str] = &[
    ".view()",
    ".section(",
    ".verify_section(",
    ".frame(",
    ".dictionary()",
    ".unpacker()",
];

/// The exceptions to rule 2: a module, and the items of its `mod.rs` that its children import
/// although `mod.rs` calls these children. To remove one, move the items to their own file, and
/// re-export them from `mod.rs`. The test fails if an exception is no longer needed.
pub(super) const EXCEPTIONS: &[(&str, &[&str])] = &[
    // Options and results: `mod.rs` is the entry point, the children are its steps.
    (
        "analysis::diff",
        &[
            "AgentChange",
            "Diff",
            "DiffOptions",
            "Origins",
            "OutcomeChange",
            "RuleChange",
            "Transition",
        ],
    ),
    ("preferences", &["Preference"]),
    ("synthetic", &["Order", "Web"]),
    // Types of the vector operations; `mod.rs` has one method that dispatches to a backend.
    (
        "simd",
        &[
            "BucketMatches",
            "Characters",
            "Fingerprints",
            "Lanes",
            "Nibbles",
            "PairTables",
            "TAGS_LEN",
        ],
    ),
    // Arguments and results of a verb, which its output formats read.
    ("cli::agents", &["AgentsArgs"]),
    ("cli::bench", &["BenchArgs", "Subject"]),
    ("cli::check", &["CheckAnswer", "CheckArgs", "RobotsSource"]),
    ("cli::diff", &["DiffOutput"]),
    // Helpers of one line.
    ("analysis::report", &["text"]),
    ("atomic", &["folder_of"]),
];
