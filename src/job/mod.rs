//! Jobs on files of URLs: filter them, annotate them with verdicts, visit them, find new origins.
//!
//! A [`Job`] reads [`Input`]s of one format, on all threads of the current rayon pool, at most
//! [`max_threads`](crate::threads::max_threads), and writes [`Output`]s in input order. The format
//! is recognised by content:
//!
//! | inputs | a record | outputs of a filter | outputs of annotating |
//! |---|---|---|---|
//! | lists: text, TSV, CSV, JSONL, CDXJ, CDX | a line, or a record of CSV | lines | lines |
//! | WARC, WET, WAT | a record | records; gzip members are copied | a line per record |
//! | Parquet | a row | Parquet | Parquet with more columns |
//!
//! Memory is bounded whatever the inputs hold: a few blocks of 256 KiB per thread for lists, 512
//! KiB for WARC files, some pages for Parquet.

mod input;
mod unknown_origins;

pub use crate::container::added::AddedColumn;
pub use crate::container::criterion::Keep;
pub use crate::container::form::Form;
pub use crate::container::outputs::{Output, Outputs, Written};
pub use crate::container::visit::{RecordRun, SelectedUrls, Visitor};
pub use crate::judge::Require;
pub use crate::pipeline::{FilterStats, ListCounts, ListFilterStats, Progress, ReasonCounts};
pub use input::Input;
pub use unknown_origins::UnknownOrigins;

use crate::container::added::AddedColumns;
use crate::container::criterion::{Criterion, ReasonSet};
use crate::container::settings::Settings;
use crate::container::visit::JudgingVisitor;
use crate::error::Result;
use crate::filter_lists::FilterLists;
use crate::judge::{Judge, Reason, Stage};
use crate::records::RecordOptions;
use input::{OpenInputs, RecordCheck, open_all, open_by_format, open_of_one_format};
use std::sync::atomic::{AtomicU64, Ordering};
use unknown_origins::OriginSet;

/// Runs files of URLs through a [`Judge`].
///
/// Lines may have any bytes and any length. A line over 64 MiB is not a URL.
///
/// ```
/// use robosieve::job::{Input, Job, Output, Outputs};
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
///
/// let urls = b"https://e.example/a\nhttps://e.example/x\n?\n";
/// let list = Input::from_reader("list", urls.as_slice());
/// let mut kept = Vec::new();
/// let mut invalid = Vec::new();
/// let outputs = Outputs {
///     kept: Some(Output::from_writer(&mut kept)),
///     invalid: Some(Output::from_writer(&mut invalid)),
///     ..Outputs::default()
/// };
/// let stats = Job::new(&judge).filter(vec![list], outputs)?.commit()?;
/// assert_eq!(kept, b"https://e.example/a\n");
/// assert_eq!(invalid, b"?\n");
/// assert_eq!((stats.lines, stats.allowed, stats.disallowed, stats.invalid), (3, 1, 1, 1));
/// # Ok::<(), robosieve::Error>(())
/// ```
///
/// Files appear when the result is committed:
///
/// ```no_run
/// # use robosieve::job::{Input, Job, Output, Outputs};
/// # fn filter(judge: &robosieve::Judge) -> robosieve::Result<()> {
/// let pages = vec![Input::open("pages.warc.gz")?];
/// let kept = Some(Output::create("kept.warc.gz")?);
/// Job::new(judge).filter(pages, Outputs { kept, ..Outputs::default() })?.commit()?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Job<'j> {
    settings: Settings<'j>,
    require_url: bool,
}

impl std::fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("criterion", &self.settings.criterion)
            .finish_non_exhaustive()
    }
}

impl<'j> Job<'j> {
    /// A job that keeps the records that all agents may fetch.
    pub fn new(judge: &'j Judge) -> Self {
        let settings = Settings {
            judge,
            criterion: Criterion::default(),
            form: None,
            name: None,
            records: RecordOptions::default(),
            added: AddedColumns::default(),
            preferences: false,
            metadata: Vec::new(),
            until: Stage::default(),
            progress: &|_| {},
        };
        Self {
            settings,
            require_url: false,
        }
    }

    /// Sets which records to keep.
    pub fn keep(mut self, keep: Keep, require: Require) -> Self {
        self.settings.criterion = Criterion {
            keep,
            require,
            ..self.settings.criterion
        };
        self
    }

    /// Makes [`filter`](Self::filter) keep only records whose verdicts have one of these reasons; all
    /// if there are none. A record with the kept verdict and another reason is in no output.
    /// [`FilterStats::reasons`] counts it.
    ///
    /// ```
    /// use robosieve::job::{Input, Job, Keep, Output, Outputs, Require};
    /// use robosieve::judge::Reason;
    /// # use robosieve::compile::HttpResponse;
    /// # use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// # let mut compiler = Compiler::default();
    /// # compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
    /// # compiler.add_response("https://f.example/robots.txt", HttpResponse::new(503))?;
    /// # let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    /// let list = Input::from_reader("list", b"https://e.example/x\nhttps://f.example/\n".as_slice());
    /// let mut kept = Vec::new();
    /// let outputs = Outputs { kept: Some(Output::from_writer(&mut kept)), ..Outputs::default() };
    /// let stats = Job::new(&judge)
    ///     .keep(Keep::Disallowed, Require::All)
    ///     .reasons([Reason::Rules, Reason::LastGoodCopy])
    ///     .filter(vec![list], outputs)?
    ///     .commit()?;
    /// assert_eq!(kept, b"https://e.example/x\n");
    /// assert_eq!((stats.disallowed, stats.reasons.disallowed(Reason::ServerError)), (2, 1));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn reasons(mut self, reasons: impl IntoIterator<Item = Reason>) -> Self {
        self.settings.criterion.reasons = ReasonSet::of(reasons);
        self
    }

    /// Sets the position of the URLs in lines, or the column of a Parquet file.
    pub fn records(mut self, records: RecordOptions) -> Self {
        self.settings.records = records;
        self
    }

    /// Sets what [`annotate`](Self::annotate) writes. The default depends on the inputs.
    pub fn form(mut self, form: Form) -> Self {
        self.settings.form = Some(form);
        self
    }

    /// Sets the name of the column of masks that is added to a Parquet file (default
    /// `robots_allowed`), or of the key of verdicts in JSON lines (default `robots`), or the prefix of
    /// the agents' columns of a Parquet file or of a table (default `robots_`).
    ///
    /// It also names [added columns](Self::add_columns): those next to a column of masks or a key
    /// `NAME` are `NAME_origin` and so on, and those next to the agents' columns have the same prefix.
    pub fn name(mut self, name: &'j str) -> Self {
        self.settings.name = Some(name);
        self
    }

    /// Adds values to what [`annotate`](Self::annotate) writes, each as a key of JSON lines
    /// ([`Form::Jsonl`]) or as a column of tables ([`Form::Csv`]) and Parquet files. The other
    /// forms have no room for them.
    ///
    /// [`filter`](Self::filter) adds them to the disallowed records, without verdicts: keys to JSON
    /// lines, columns to Parquet files, and columns before other lines, with the delimiter of
    /// a table or else a TAB. Its other records stay unchanged. For WARC files it is an error.
    ///
    /// Keys and columns follow the verdicts, in the order given here. An input that has
    /// such a key or column already is an error.
    ///
    /// ```
    /// use robosieve::job::{AddedColumn, Form, Input, Job, Output};
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ncrawl-delay: 2.5")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(&snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    ///
    /// let list = Input::from_reader("list", b"https://E.example:443/a\n".as_slice());
    /// let mut lines = Vec::new();
    /// Job::new(&judge)
    ///     .form(Form::Jsonl)
    ///     .add_columns([AddedColumn::Origin, AddedColumn::Reason, AddedColumn::CrawlDelay])
    ///     .annotate(vec![list], Output::from_writer(&mut lines))?
    ///     .commit()?;
    /// assert_eq!(
    ///     String::from_utf8_lossy(&lines),
    ///     "{\"url\":\"https://E.example:443/a\",\"robots\":{\"FooBot\":\"allowed\"},\
    ///      \"robots_origin\":\"https://e.example\",\"robots_reason\":\"rules\",\
    ///      \"robots_crawl_delay\":{\"FooBot\":2.5}}\n"
    /// );
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// The reasons of disallowed lines:
    ///
    /// ```
    /// # use robosieve::job::{AddedColumn, Input, Job, Output, Outputs};
    /// # use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// # let mut compiler = Compiler::default();
    /// # compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
    /// # let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// # let judge = Judge::new(&snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    /// let urls = b"https://e.example/a\nhttps://e.example/x\n";
    /// let list = Input::from_reader("list", urls.as_slice());
    /// let mut disallowed = Vec::new();
    /// let other = Some(Output::from_writer(&mut disallowed));
    /// let outputs = Outputs { other, ..Outputs::default() };
    /// let job = Job::new(&judge).add_columns([AddedColumn::Reason]);
    /// job.filter(vec![list], outputs)?.commit()?;
    /// assert_eq!(disallowed, b"rules\thttps://e.example/x\n");
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn add_columns(mut self, columns: impl IntoIterator<Item = AddedColumn>) -> Self {
        for column in columns {
            self.settings.added.insert(column);
        }
        self
    }

    /// Sets whether [`annotate`](Self::annotate) also writes the site's preferences on the use of
    /// its content ([`Preferences`](crate::preferences::Preferences)). Parquet files have none.
    ///
    /// With [`Form::Letters`] three columns follow the verdicts. The first has two letters per agent,
    /// `train-ai` and `search` ([`Preference::letter`](crate::preferences::Preference::letter)).
    /// The second has the content signals of each agent, or `-`. Semicolons separate agents. The
    /// third has the URLs of the site's licences, with blanks between them, or `-`. The header
    /// names them `content-usage`, `content-signal` and `license`.
    ///
    /// With [`Form::Jsonl`] a new key `robots_preferences` has an object for each agent,
    /// `{"train-ai":"n","search":"unknown","content-signal":{"search":"yes"}}`, and
    /// `robots_license` a list of URLs.
    ///
    /// For responses in WARC files these are the most restrictive of the robots.txt and the HTTP
    /// header ([`ResponsePreferences`](crate::preferences::ResponsePreferences)). If the header
    /// states something to the agent, a last key `sources` of its object has both apart.
    pub fn preferences(mut self, preferences: bool) -> Self {
        self.settings.preferences = preferences;
        self
    }

    /// Adds an entry to the metadata of written Parquet files. Other formats have none.
    ///
    /// The entries of annotated files are `robosieve.agents`, the names with commas between them,
    /// `robosieve.version`, `robosieve.snapshot`, the [checksum](crate::Snapshot::checksum) of the
    /// snapshot in hexadecimal digits, `robosieve.options`, those of the judge as JSON,
    /// `robosieve.lists`, the checksum and the names of its [filter lists](Judge::with_lists) as JSON,
    /// if it has some, these, and `robosieve.counts`, the [`FilterStats`] as JSON.
    /// The entries of an input that was annotated before are renamed to `robosieve.earlier.1.agents`
    /// and so on, or to the next free number.
    ///
    /// A [`filter`](Self::filter) has the same entries for its run, with `robosieve.filter.1.` (or
    /// the next free number) in place of `robosieve.`, also for those given here. More of them are
    /// `keep`, `require`, `reasons` (`all`, or [some](Self::reasons)), and `verdict`, that of the rows
    /// of the file, or `listed`. The counts are those of the run: of all rows read. The entries of its inputs
    /// stay.
    ///
    /// Other entries are those of the first input. Of several inputs, only the entries
    /// `robosieve.*` that all of them have are kept.
    pub fn metadata(mut self, key: &str, value: &str) -> Self {
        let entry = (key.to_owned(), value.to_owned());
        self.settings.metadata.push(entry);
        self
    }

    /// Sets whether lists or Parquet files with lines but without any URL are an error. The likely
    /// cause is the wrong column or the wrong file. It is also an error then if records are to be
    /// judged as of their own times, none of them has a time that can be read, and
    /// [`NoTime`](crate::judge::NoTime) does not choose the newest rules.
    pub fn require_url(mut self, require: bool) -> Self {
        self.require_url = require;
        self
    }

    /// Sets a function to call after every block that is read.
    pub fn progress(mut self, progress: &'j (dyn Fn(Progress) + Sync)) -> Self {
        self.settings.progress = progress;
        self
    }

    /// Stops the work on every line of a list after this stage, for a benchmark that times the
    /// stages. With an earlier stage than [`Stage::Match`], [`filter`](Self::filter) writes no line
    /// and counts only bytes.
    #[doc(hidden)]
    pub fn until(mut self, stage: Stage) -> Self {
        self.settings.until = stage;
        self
    }

    /// Writes every record of the inputs, in order, to one of the outputs: that of the records that a
    /// [filter list](Judge::with_lists) names, or else that of its verdict.
    ///
    /// # Errors
    /// - I/O errors, which name the file.
    /// - [`ErrorKind::BadJob`](crate::ErrorKind::BadJob) for inputs of several formats, and for
    ///   options that their format does not have;
    ///   [`ErrorKind::BadName`](crate::ErrorKind::BadName) for an output with the name of another
    ///   format. Nothing is written then.
    /// - [`ErrorKind::BadList`](crate::ErrorKind::BadList) for a list without the given column;
    ///   [`ErrorKind::BadTable`](crate::ErrorKind::BadTable) for damaged Parquet files, those with
    ///   different schemas or columns of verdicts for different agents, those that have a column of
    ///   an added name, and those compressed with Brotli or LZO;
    ///   [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) with the offset of a gzip member or a
    ///   WARC record that is cut off, has a wrong checksum or a wrong length.
    /// - [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) of the snapshot.
    ///
    /// No file appears then. Writers may have got a part.
    pub fn filter(&self, inputs: Vec<Input>, outputs: Outputs<Output<'_>>) -> Result<Written> {
        self.settings.refuse_list_columns()?;
        if self.settings.added.iter().any(AddedColumn::is_of_agents) {
            self.settings.refuse_repeated_agents()?;
        }
        let OpenInputs { files, check } = open_all(inputs)?;
        let written = files.filter(&self.settings, outputs)?;
        self.checked(&check, written)
    }

    /// Writes every record of the inputs, in order, with its verdicts, in the chosen
    /// [form](Self::form). A judge without agents writes the added values of the URL and of filter
    /// lists only.
    ///
    /// # Errors
    /// As [`filter`](Self::filter). [`ErrorKind::BadTable`](crate::ErrorKind::BadTable) if a mask
    /// of bits is asked for more than 63 agents.
    pub fn annotate(&self, inputs: Vec<Input>, output: Output<'_>) -> Result<Written> {
        self.settings.check_added_columns()?;
        let OpenInputs { files, check } = open_all(inputs)?;
        let written = files.annotate(&self.settings, output)?;
        self.checked(&check, written)
    }

    /// Visits every record of the inputs with its verdicts, without an output: a parallel fold, for
    /// counts and collections that the other jobs do not have. The returned counts are those of
    /// [`annotate`](Self::annotate).
    ///
    /// Cost: that of judging and of the visitor. Records of WARC files are visited on one thread at a
    /// time, because inflating them takes most of the time. The visitor can be used for several
    /// jobs.
    ///
    /// The disallowed URLs of each host:
    ///
    /// ```
    /// use robosieve::job::{Input, Job, RecordRun, Visitor};
    /// use robosieve::{Compiler, Judge, JudgeOptions, Origin, Snapshot, Verdict};
    /// use std::collections::BTreeMap;
    /// use std::sync::Mutex;
    ///
    /// #[derive(Default)]
    /// struct DisallowedByHost(Mutex<BTreeMap<String, u64>>);
    ///
    /// impl Visitor for DisallowedByHost {
    ///     type Local = BTreeMap<String, u64>;
    ///
    ///     fn local(&self) -> Self::Local {
    ///         BTreeMap::new()
    ///     }
    ///
    ///     fn visit(&self, records: RecordRun<'_>, counts: &mut Self::Local) -> bool {
    ///         if records.verdicts().get(0) == Verdict::Disallowed {
    ///             for origin in records.urls().filter_map(Origin::of) {
    ///                 let count = counts.entry(origin.to_string()).or_default();
    ///                 *count += records.records_per_url();
    ///             }
    ///         }
    ///         false
    ///     }
    ///
    ///     fn merge(&self, counts: Self::Local) {
    ///         let mut all = self.0.lock().unwrap();
    ///         for (host, count) in counts {
    ///             *all.entry(host).or_default() += count;
    ///         }
    ///     }
    /// }
    ///
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    /// let urls = b"https://e.example/x\nhttps://e.example/a\nhttps://e.example/x/y\n";
    /// let list = Input::from_reader("list", urls.as_slice());
    /// let visitor = DisallowedByHost::default();
    /// let stats = Job::new(&judge).visit(vec![list], &visitor)?;
    /// assert_eq!((stats.allowed, stats.disallowed), (1, 2));
    /// let counts = visitor.0.into_inner().unwrap();
    /// assert_eq!(counts, BTreeMap::from([("https://e.example".to_owned(), 2)]));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`filter`](Self::filter). The visitor may have got a part of the records then.
    pub fn visit<V: Visitor>(&self, inputs: Vec<Input>, visitor: &V) -> Result<FilterStats> {
        let OpenInputs { files, check } = open_of_one_format(inputs)?;
        let mut stats = FilterStats::of_agents(self.settings.judge.engine());
        stats.add(&files.visit(&self.settings, &self.judging(visitor))?);
        self.verify_unchanged()?;
        if self.require_url {
            check.check(&stats, &self.settings.records)?;
        }
        Ok(stats)
    }

    /// The origins of the inputs' URLs that the snapshot lacks, each once and sorted: those whose
    /// robots.txt is still to be fetched. The judge needs no agents. With
    /// [`any_scheme`](crate::JudgeOptions::any_scheme), an origin is not missing if the snapshot
    /// has it under the other of http and https.
    ///
    /// Origins of all schemes are included ([`Origin::scheme`](crate::Origin::scheme)), but none of
    /// over 64 KiB, which no snapshot holds.
    ///
    /// Memory: some 100 bytes for each of these origins, in addition to that of any job. The result
    /// does not depend on the number of threads.
    ///
    /// ```
    /// use robosieve::job::{Input, Job};
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &[], JudgeOptions::default())?;
    /// let urls = b"https://e.example/a\nhttps://f.example:443/a\nHTTPS://F.example/b\n?\n";
    /// let list = Input::from_reader("list", urls.as_slice());
    /// let unknown = Job::new(&judge).unknown_origins(vec![list])?;
    /// assert_eq!(unknown.origins.len(), 1);
    /// assert_eq!(unknown.origins[0].robots_url(), "https://f.example/robots.txt");
    /// assert_eq!((unknown.stats.unknown, unknown.stats.invalid), (2, 1));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`filter`](Self::filter), but inputs may have several formats, and lists several headers.
    pub fn unknown_origins(&self, inputs: Vec<Input>) -> Result<UnknownOrigins> {
        let found = OriginSet::new();
        let mut stats = FilterStats::default();
        // The bytes read so far, of this format and of those before it.
        let bytes_read = AtomicU64::new(0);
        for OpenInputs { files, check } in open_by_format(inputs)? {
            let before = bytes_read.load(Ordering::Relaxed);
            let progress = |at: Progress| {
                let bytes = before + at.bytes_read;
                bytes_read.fetch_max(bytes, Ordering::Relaxed);
                (self.settings.progress)(Progress { bytes_read: bytes });
            };
            let settings = Settings {
                progress: &progress,
                ..self.settings.clone()
            };
            let counted = files.visit(&settings, &self.judging(&found))?;
            if self.require_url {
                check.check(&counted, &self.settings.records)?;
            }
            stats.add(&counted);
        }
        self.verify_unchanged()?;
        Ok(UnknownOrigins {
            origins: found.into_sorted(),
            stats,
        })
    }

    /// A visitor with the judge and the criterion of the job.
    fn judging<'v, V: Visitor>(&'v self, visitor: &'v V) -> JudgingVisitor<'v, V> {
        JudgingVisitor {
            engine: self.settings.judge.engine(),
            criterion: self.settings.criterion,
            visitor,
        }
    }

    /// The outputs, unless the snapshot or the lists were overwritten, or a URL is required and the inputs have
    /// none, or times and none can be read. Dropping them leaves no file.
    fn checked(&self, check: &RecordCheck, written: Written) -> Result<Written> {
        self.verify_unchanged()?;
        if self.require_url {
            check.check(written.stats(), &self.settings.records)?;
        }
        Ok(written)
    }

    /// Whether verdicts are those of one snapshot and of the same lists, because their files were not
    /// overwritten meanwhile.
    fn verify_unchanged(&self) -> Result<()> {
        let engine = self.settings.judge.engine();
        engine.snapshot().verify_unchanged()?;
        engine.lists().map_or(Ok(()), FilterLists::verify_unchanged)
    }
}
