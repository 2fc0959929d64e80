// The page: sends questions to the worker, and shows the answers. Texts of the user and of the
// robots.txt are set as text content only, never as markup. In the page, link.js and diff.js come
// before this script.
"use strict";

const MAX_URLS = 1000;
const MAX_AGENTS = 200;
/** A set of agents has a verdict per URL and member. */
const MAX_VERDICTS = 20_000;
const MAX_FINDINGS = 200;
const MAX_LINES = 600;
/** The lines before and after a change that the diff shows. */
const CONTEXT = 2;
const LONG_LINE = 1000;

/** The examples, with the answers of other parsers. `conformance/run --examples` writes them. */
let recorded;

const PROFILES = { google: "Google's parser", rfc9309: "The standard, RFC 9309" };
const SHORT_PROFILES = { google: "Google", rfc9309: "RFC 9309" };

/** Why a rule that matches does not decide. */
const REASONS = {
  shorter: "its path is shorter",
  "allow-wins": "its path is as long, and then allow wins",
  "robots-txt": "/robots.txt itself may always be fetched",
  same: "an earlier line says the same",
};

const SEVERITIES = { error: "Error", warning: "Warning", note: "Note" };

const byId = id => document.getElementById(id);

/** Makes an element with attributes, and with children that are elements or texts. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** White space and characters without a shape of their own, except for the blank and the tab. */
const UNSEEN = /(?![ \t])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}]/u;

/** A text in which such characters have signs, such as U+200B. */
function withSigns(text) {
  const parts = text.split(new RegExp(`(${UNSEEN.source})`, "u"));
  return parts.filter(part => part).map(part => UNSEEN.test(part) ? sign(part) : part);
}

function sign(character) {
  const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return element("span", { class: "sign" }, `U+${code}`);
}

const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

// --- the worker ---

let moduleBytes;
let worker;
let waiting = new Map();
let nextId = 0;

async function inflatedModule() {
  const compressed = byteString(atob(byId("module").textContent.trim()));
  return bytesOf(new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip")), Infinity);
}

function startWorker() {
  worker?.terminate();
  for (const { reject } of waiting.values()) reject(new Error("superseded"));
  waiting = new Map();
  const source = new Blob([byId("worker").textContent], { type: "text/javascript" });
  const address = URL.createObjectURL(source);
  worker = new Worker(address);
  URL.revokeObjectURL(address);
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.failure) reject(new Error(data.failure));
    else resolve(data.answer);
  };
  return send({ module: moduleBytes });
}

/** Starts anew. A failure shows in the next question. */
const restartWorker = () => startWorker().catch(() => {});

function send(message) {
  const id = nextId++;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject, since: performance.now() });
    worker.postMessage({ id, ...message });
  });
}

/** Gives the worker the bytes of the robots.txt of all questions that follow. */
const setRobots = bytes => send({ robots: bytes });

/** Asks the worker a question: an object, as web/src/answers.rs describes. */
const ask = question => send({ question });

/** Whether the worker has been busy with one question for so long that a new one ends it. */
function isStuck() {
  return [...waiting.values()].some(({ since }) => performance.now() - since > 300);
}

// --- what the user asks ---

/** The bytes of the robots.txt until its text is edited, if the editor cannot hold them all. */
let fileBytes = null;

/** Puts bytes into the editor. It holds text with line feeds, so it may lose some of them. */
function setEditor(bytes) {
  byId("robots").value = new TextDecoder().decode(bytes);
  fileBytes = isSame(new TextEncoder().encode(byId("robots").value), bytes) ? null : bytes;
}

const isSame = (bytes, others) => bytes.length === others.length && bytes.every((byte, index) => byte === others[index]);

const editorBytes = () => fileBytes ?? new TextEncoder().encode(byId("robots").value);

const splitTexts = (text, separator) =>
  text.split(separator).map(part => part.trim()).filter(part => part);

function inputs() {
  const body = editorBytes();
  return {
    body,
    text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(body),
    names: [...new Set(splitTexts(byId("agents").value, /[,\n]/))],
    urls: splitTexts(byId("urls").value, "\n").slice(0, MAX_URLS),
    isCut: splitTexts(byId("urls").value, "\n").length > MAX_URLS,
    profile: document.querySelector("[name=profile]:checked").value,
    agent_match: document.querySelector("[name=match]:checked").value,
  };
}

// --- a run ---

let about;
/** The run that is shown: its inputs, and its answers by URL and agent. */
let run = null;

async function start() {
  clearTimeout(timer);
  timer = null;
  if (isStuck()) restartWorker();
  const current = { ...inputs(), agents: [], answers: [], findings: [], selected: 0 };
  run = current;
  try {
    await askAll(current);
  } catch (error) {
    if (run !== current || error.message === "superseded") return;
    byId("status").textContent = `This page failed: ${error.message}. Change an entry to try again.`;
    restartWorker();
  }
}

async function askAll(current) {
  await setRobots(current.body);
  if (run !== current) return;
  const named = await ask({ ask: "agents", agents: current.names });
  if (run !== current) return;
  if (named.error) throw new Error(named.error);
  const agents = current.agents = named.agents.slice(0, MAX_AGENTS);
  const urls = current.urls.slice(0, Math.max(1, Math.floor(MAX_VERDICTS / Math.max(1, agents.length))));
  current.isCut = agents.length < named.agents.length || urls.length < current.urls.length || current.isCut;
  current.urls = urls;
  showWarnings(named.warnings);
  const { profile, agent_match } = current;
  startVerdicts();
  // Few URLs per question, so that a new question need not wait. Their number follows the time.
  let count = 1;
  for (let at = 0; at < urls.length && agents.length;) {
    const began = performance.now();
    const asked = urls.slice(at, at + count);
    const answer = await ask({ ask: "judge", profile, agent_match, agents, urls: asked });
    if (run !== current) return;
    if (answer.error) throw new Error(answer.error);
    addVerdicts(current, asked, answer.answers);
    if (at === 0) select(current, 0, false);
    at += asked.length;
    const time = performance.now() - began;
    count = time > 60 ? Math.max(1, count >> 1) : Math.min(64, count * 2);
    if (at < urls.length && at > 1) byId("status").textContent = `${at} of ${plural(urls.length, "URL")} judged …`;
  }
  const lint = await ask({ ask: "lint" });
  if (run !== current) return;
  current.findings = lint.findings;
  showFindings(current, lint.robots);
  showLines(current);
  showStatus(current);
  // Without a safe fix, nothing is fixed, and no question needed.
  const hasFix = lint.findings.some(({ fix }) => fix?.safe);
  const fixed = hasFix ? await ask({ ask: "fix" }) : { count: 0, left: lint.findings.length };
  if (run !== current) return;
  showFixes(current, fixed);
  current.isDone = true;
}

/** Warns of names that look misspelled: such an agent obeys the groups for * only. */
function showWarnings(warnings) {
  byId("warnings").replaceChildren(...warnings.map(warning => element("li", {}, warning)));
}

function showStatus({ answers, findings, urls, agents, text, profile, isCut }) {
  const count = verdict => answers.filter(answer => answer.verdict === verdict).length;
  const parts = [`${count("allowed")} allowed, ${count("disallowed")} disallowed`, plural(findings.length, "finding")];
  const invalid = count("invalid");
  if (invalid) parts[0] += `, ${invalid === 1 ? "1 is not a URL" : `${invalid} are not URLs`}`;
  if (!urls.length || !agents.length) parts[0] = "Enter a crawler and a URL";
  const differing = answers.filter(differs).length;
  if (differing) parts.push(`${SHORT_PROFILES[otherProfile({ profile })]} decides ${plural(differing, "verdict")} otherwise`);
  if (!text) parts.push("an empty robots.txt allows everything");
  if (isCut) parts.push(`only the first ${plural(urls.length, "URL")} and ${plural(agents.length, "crawler")} count`);
  byId("status").textContent = parts.join(" · ");
}

/** Whether the other profile has another verdict. */
const differs = answer => !answer.error && answer.other_profile !== answer.verdict;

// --- verdicts ---

function startVerdicts() {
  byId("verdicts").replaceChildren();
  for (const id of ["why", "others", "fixes", "findings", "lines"]) byId(id).replaceChildren();
}

function word(verdict) {
  return verdict === "allowed" ? "✓ Allowed" : "✕ Disallowed";
}

/** Adds a list of cards for each URL, one card for each agent. All lists have the same columns. */
function addVerdicts(current, urls, answers) {
  for (const [row, url] of urls.entries()) {
    const cards = element("ul", { class: "cards" });
    for (const column of current.agents.keys()) {
      const index = current.answers.length;
      const answer = answers[row * current.agents.length + column];
      current.answers.push(answer);
      cards.append(element("li", {}, verdictCard(answer, index, current.profile)));
    }
    byId("verdicts").append(element("h3", { class: "path" }, url), cards);
  }
}

function verdictCard(answer, index, profile) {
  const name = element("strong", { class: "name" }, answer.agent);
  if (answer.error) return element("div", { class: "error" }, name, answer.error);
  const button = element("button", { type: "button", class: `verdict ${answer.verdict}`, "data-index": index,
    "aria-pressed": "false" }, name, " ", element("span", { class: "word" }, word(answer.verdict)), " ",
    element("small", {}, answer.rule ? `line ${answer.rule.line}` : "no rule matches"));
  if (differs(answer)) {
    button.append(" ", element("small", {}, `${SHORT_PROFILES[otherProfile({ profile })]}: ${answer.other_profile}`));
  }
  return button;
}

byId("verdicts").addEventListener("click", event => {
  const button = event.target.closest("button");
  if (button && run) select(run, Number(button.dataset.index), true);
});

function select(current, index, isChosen) {
  const answer = current.answers[index];
  if (!answer || answer.error) return;
  current.selected = index;
  byId("verdicts").querySelector("[aria-pressed=true]")?.setAttribute("aria-pressed", "false");
  byId("verdicts").querySelector(`[data-index="${index}"]`)?.setAttribute("aria-pressed", "true");
  showWhy(answer);
  showOthers(current, answer);
  showOtherLine(current, answer);
  showLines(current);
  if (isChosen) byId("status").textContent = `${answer.agent}, ${answer.url}: ${sentence(answer)}`;
}

// --- why ---

const lineButton = line =>
  element("button", { type: "button", class: "link", "data-line": line }, `line ${line}`);

function sentence({ verdict, rule }) {
  const decided = rule ? `line ${rule.line} decides` : "no rule matches";
  return `${verdict}; ${decided}`;
}

/** Why the deciding rule is the one that decides. */
function reason({ rule, losers }) {
  if (!losers.length) return ", the only line that matches.";
  const length = plural(rule.length, "character");
  return losers.some(loser => loser.reason === "allow-wins")
    ? `. No path that matches is longer than ${length}, and among those of this length allow wins.`
    : `. Of the lines that match, it has the longest path: ${length}.`;
}

function showWhy(answer) {
  const list = element("ul");
  const add = (...parts) => list.append(element("li", {}, ...parts));
  const code = text => element("code", {}, text);
  const { agent, group, rule, losers } = answer;
  if (group) {
    const lines = group.lines.flatMap(line => [" ", lineButton(line.line), ": ", code(line.text), ";"]);
    lines.pop();
    add(group.name === null ? `No line names ${agent}, so the rules for all crawlers apply:`
      : `${lines.length > 5 ? "These lines name" : "This line names"} ${agent}, so the rules below apply:`, ...lines);
  } else {
    add(`No rules are for ${agent}, so everything is allowed.`);
  }
  if (rule) {
    add("Decides: ", lineButton(rule.line), ": ", code(rule.text), reason(answer));
  } else {
    add(`No ${losers.length ? "rule decides" : "rule matches"}, so the URL is allowed.`);
  }
  for (const loser of losers) {
    add("Matches too, but does not decide: ", lineButton(loser.line), ": ", code(loser.text),
      `: ${REASONS[loser.reason] ?? loser.reason}.`);
  }
  const others = answer.not_matching;
  if (others) add(`${plural(others, rule || losers.length ? "more rule" : "rule")} for ${agent} ${others === 1 ? "does" : "do"} not match.`);
  add("The part of the URL that rules look at: ", code(answer.path));
  byId("why").replaceChildren(
    element("p", {}, element("strong", { class: answer.verdict }, word(answer.verdict)), " for ", element("strong", {}, agent), ": ", code(answer.url)),
    list,
    element("h3", {}, "Preferences about use"),
    preferences(answer.preferences),
  );
}

function preferences(found) {
  const list = element("ul");
  const at = lines => lines.flatMap(line => [" ", lineButton(line.line)]);
  const stated = ["train-ai", "search"].filter(key => found[key] === "y" || found[key] === "n");
  if (stated.length) list.append(element("li", {}, "Content-Usage: ", stated.map(key => `${key}=${found[key]}`).join(", "), ...at(found.usage_lines)));
  if (found["train-ai"] === null && found.usage_lines.length) {
    list.append(element("li", {}, "Content-Usage does not apply, because the crawler may not fetch the URL:", ...at(found.usage_lines)));
  }
  const signals = Object.entries(found["content-signal"]).map(([key, value]) => `${key}=${value}`);
  if (signals.length) list.append(element("li", {}, "Content-Signal: ", signals.join(", "), ...at(found.signal_lines)));
  for (const license of found.license) list.append(element("li", {}, "Licence: ", element("code", {}, license)));
  return list.childElementCount ? list : element("p", { class: "dim" }, "None is stated.");
}

// --- other parsers ---

const otherProfile = ({ profile }) => profile === "google" ? "rfc9309" : "google";

/** Asks for the line that decides by the other profile. A verdict needs less time than a line. */
async function showOtherLine(current, { agent, url }) {
  const profile = otherProfile(current);
  const question = { ask: "judge", profile, agent_match: current.agent_match, agents: [agent], urls: [url] };
  const index = current.selected;
  const answer = await ask(question).catch(() => null);
  const isShown = run === current && current.selected === index;
  const line = answer?.answers?.[0]?.rule?.line;
  if (isShown && line) byId("other-line").replaceChildren(lineButton(line));
}

/** The recorded verdicts of other parsers on a URL for an agent. Only examples have some. */
function recordedVerdicts(current, { agent, url }) {
  const example = recorded.examples.find(({ robots }) => robots === current.text);
  const row = example?.agents.indexOf(agent) ?? -1;
  const column = example?.urls.indexOf(url) ?? -1;
  if (row < 0 || column < 0) return [];
  return recorded.parsers.map(parser => ({ parser, letter: example.answers[parser.name][row][column] }));
}

const LETTERS = { A: "allowed", D: "disallowed" };

function showOthers(current, answer) {
  const other = otherProfile(current);
  const rows = [
    { name: PROFILES[current.profile], source: "as chosen above", verdict: answer.verdict, line: answer.rule?.line },
    { name: PROFILES[other], source: "the other choice", verdict: answer.other_profile, id: "other-line" },
  ];
  const found = recordedVerdicts(current, answer);
  for (const { parser: { name, language, package: from, version }, letter } of found) {
    rows.push({ name, source: `${language}, ${from} ${version}`, verdict: LETTERS[letter], isRecorded: true });
  }
  const body = element("tbody");
  for (const { name, source, verdict, line, id, isRecorded } of rows) {
    const same = verdict === answer.verdict || !verdict ? [] : [element("strong", {}, "decides otherwise")];
    body.append(element("tr", {},
      element("th", { scope: "row" }, name, element("small", {}, source)),
      element("td", { class: verdict ?? "error" }, verdict ? word(verdict) : "no answer", ...same),
      element("td", id ? { id } : {}, line ? lineButton(line) : isRecorded ? "" : "no rule matches")));
  }
  const head = ["Parser", "Verdict", "Line"].map(title => element("th", { scope: "col" }, title));
  const differing = rows.filter(({ verdict }) => verdict && verdict !== answer.verdict).length;
  const summary = `${differing || "None"} of the ${plural(rows.length - 1, "other parser")} ${differing > 1 ? "decide" : "decides"} otherwise.`;
  const note = found.length
    ? "These parsers were asked once, about this example, and the page has their answers."
    : `The page knows the answers of ${recorded.parsers.length} more parsers to its examples only.`;
  byId("others").replaceChildren(...(found.length ? [element("p", {}, summary)] : []),
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), body),
    element("p", { class: "dim" }, note));
}

// --- the file ---

/** Splits as the parser does: CR, LF and CR LF end a line. */
function linesOf(text) {
  const lines = text.split(/\r\n|\r|\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** What the selected verdict says about lines: a map from their numbers. */
function notesByLine(current) {
  const notes = new Map();
  const note = (line, text, kind) => {
    if (!notes.has(line)) notes.set(line, { texts: [], kind: "" });
    notes.get(line).texts.push(text);
    notes.get(line).kind = kind || notes.get(line).kind;
  };
  const answer = current.answers[current.selected];
  if (!answer || answer.error) return notes;
  const named = answer.group?.name === null ? "for all crawlers" : "names the crawler";
  for (const line of answer.group?.lines ?? []) note(line.line, named, "group");
  for (const loser of answer.losers) note(loser.line, "matches, but does not decide");
  if (answer.rule) note(answer.rule.line, `decides: ${answer.verdict}`, "decides");
  for (const key of ["usage_lines", "signal_lines", "license_lines"]) {
    for (const line of answer.preferences[key]) note(line.line, "preference about use");
  }
  return notes;
}

function findingsByLine({ findings }) {
  const lines = new Map();
  for (const finding of findings.slice(0, MAX_FINDINGS)) {
    if (!lines.has(finding.line)) lines.set(finding.line, []);
    lines.get(finding.line).push(finding);
  }
  return lines;
}

/** Shows the lines of the file: of a long one those with a note, and the lines around them. */
function showLines(current) {
  const lines = current.lines ??= linesOf(current.text);
  const notes = notesByLine(current);
  const findings = findingsByLine(current);
  const isShown = new Set();
  if (lines.length <= MAX_LINES) {
    for (const index of lines.keys()) isShown.add(index + 1);
  } else {
    for (const line of [...(current.asked ? [current.asked] : []), ...notes.keys(), ...findings.keys()]) {
      for (let near = line - 2; near <= line + 2; near++) if (isShown.size < MAX_LINES) isShown.add(near);
    }
  }
  const list = element("ol", { class: "code" });
  let last = 0;
  for (const number of [...isShown].filter(line => line >= 1 && line <= lines.length).sort((a, b) => a - b)) {
    if (number > last + 1) list.append(gap(number - last - 1));
    last = number;
    list.append(lineRow(number, lines[number - 1], notes.get(number), findings.get(number) ?? []));
  }
  if (last < lines.length) list.append(gap(lines.length - last));
  byId("lines").replaceChildren(list);
  scrollToLine(list.querySelector(".decides"));
}

const gap = count => element("li", { class: "gap" }, `… ${plural(count, "line")}`);

/** The text of a line, cut if it is long. */
function shownText(line) {
  const text = withSigns(line.slice(0, LONG_LINE));
  return element("span", { class: "text" }, ...text, line.length > LONG_LINE ? " …" : "");
}

/** A line with what is known about it: the part in the selected verdict, and its findings. */
function lineRow(number, line, notes, findings) {
  const row = element("li", { class: `line ${notes?.kind ?? ""}`, id: `line-${number}`, tabindex: "-1" },
    element("span", { class: "number" }, String(number)), shownText(line));
  if (notes) row.append(element("span", { class: "note" }, [...new Set(notes.texts)].join(", ")));
  for (const { severity, code, message, help } of findings) {
    const summary = element("summary", {}, element("strong", {}, SEVERITIES[severity]), ": ", ...withCode(message));
    row.append(element("details", { class: `finding ${severity}-finding`, open: "" }, summary,
      element("p", {}, ...withCode(asSentence(help)), " ", element("span", { class: "dim" }, `(${code})`))));
  }
  return row;
}

/** Scrolls the box of lines, and not the page. */
function scrollToLine(row) {
  const box = byId("lines");
  if (row) box.scrollTop = row.offsetTop - box.clientHeight / 3;
}

document.addEventListener("click", event => {
  const line = event.target.closest("[data-line]")?.dataset.line;
  if (!line || !run) return;
  if (!byId(`line-${line}`)) {
    run.asked = Number(line);
    showLines(run);
  }
  byId(`line-${line}`)?.focus();
});

// --- findings and fixes ---

/** The parts of a message: those in backquotes are code. */
const withCode = message =>
  message.split("`").map((part, index) => index % 2 ? element("code", {}, part) : part);

/** A message with a capital letter. A full stop could be read as a part of a path. */
const asSentence = text => text.charAt(0).toUpperCase() + text.slice(1);

function showFindings({ findings }, facts) {
  const list = element("ul");
  for (const finding of findings.slice(0, MAX_FINDINGS)) {
    list.append(element("li", { class: `${finding.severity}-finding` },
      element("strong", {}, SEVERITIES[finding.severity]), " · ", lineButton(finding.line), " · ", element("code", {}, finding.code),
      element("div", {}, ...withCode(asSentence(finding.message))),
      element("div", { class: "help" }, ...withCode(asSentence(finding.help)))));
  }
  const parts = [];
  if (!findings.length) parts.push(element("p", {}, "None: the file has no mistakes that robosieve knows."));
  if (facts.ignored_bytes) parts.push(element("p", {}, `Parsers ignore the last ${plural(facts.ignored_bytes, "byte")}, from line ${facts.ignored_from_line}.`));
  parts.push(list);
  if (findings.length > MAX_FINDINGS) parts.push(element("p", {}, `${plural(findings.length - MAX_FINDINGS, "finding")} more.`));
  byId("findings").replaceChildren(...parts);
}

const isOrAre = count => count === 1 ? "is" : "are";

/** Says what can be fixed without a change of verdicts, and offers to. */
function showFixes(current, fixed) {
  const { count, left } = fixed;
  if (!count) {
    const text = `None of these can be fixed without changing what a crawler may fetch: ${left === 1 ? "it needs" : `all ${left} need`} your decision.`;
    byId("fixes").replaceChildren(...(left ? [element("p", {}, text)] : []));
    return;
  }
  const rest = left ? ` After that, ${plural(left, "finding")} ${isOrAre(left)} left for you to decide.` : "";
  const button = element("button", { type: "button", id: "fix", "aria-expanded": "false" }, `Fix ${plural(count, "finding")} …`);
  const review = element("div", { id: "review", role: "group", "aria-label": "Changes to the file" });
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    review.replaceChildren(...(isOpen ? [] : reviewOf(current, fixed)));
  });
  byId("fixes").replaceChildren(
    element("p", {}, `${plural(count, "finding")} can be fixed without changing what any crawler may fetch.${rest}`),
    button, review);
}

/** The changes, and a button that makes them. */
function reviewOf(current, fixed) {
  const body = byteString(fixed.robots);
  const after = linesWithEnds(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body));
  const before = linesWithEnds(current.text);
  const apply = element("button", { type: "button", id: "apply" }, "Apply these changes");
  apply.addEventListener("click", () => {
    // After an edit, the changes are those of another text.
    if (run === current && !isWaiting()) applyFixes(body, fixed.count);
  });
  const box = element("div", { class: "box", role: "group", tabindex: "0", "aria-label": "Changed lines" },
    diffList(before, after, fixed.mended));
  const parts = [box, apply];
  if (fixed.later.length) {
    const listed = fixed.later.slice(0, MAX_FINDINGS);
    parts.splice(1, 0, element("p", {}, "Fixed too, once the other changes had been made:"),
      element("ul", {}, ...listed.map(({ message }) => element("li", {}, ...withCode(asSentence(message))))));
  }
  return parts;
}

/** The removed and added lines, each change with the findings that it fixes. */
function diffList(before, after, mended) {
  const changes = differences(before, after).map(change => ({ ...change, fixes: [] }));
  // A change is at the line of the finding, or near it: a line that is added has no number.
  const distance = ({ from, to }, line) => Math.max(0, from + 1 - line, line - Math.max(to, from + 1));
  let first = 0;
  for (const finding of mended) {
    while (first + 1 < changes.length && changes[first].to < finding.line &&
      distance(changes[first + 1], finding.line) <= distance(changes[first], finding.line)) first++;
    changes[first].fixes.push(finding);
  }
  const list = element("ol", { class: "code diff" });
  let last = 0;
  for (const [index, { from, to, newFrom, newTo, fixes }] of changes.entries()) {
    if (list.childElementCount > MAX_LINES) {
      list.append(element("li", { class: "gap" }, `… ${plural(changes.length - index, "more change")}`));
      return list;
    }
    const begin = Math.max(last, from - CONTEXT);
    if (begin > last) list.append(gap(begin - last));
    for (let line = begin; line < from; line++) list.append(diffRow("", line + 1, before[line]));
    addRows(list, "removed", before, from, to);
    addRows(list, "added", after, newFrom, newTo);
    for (const { message } of fixes.slice(0, MAX_FINDINGS)) {
      list.append(element("li", { class: "fixes" }, element("strong", {}, "Fixes: "), ...withCode(message)));
    }
    const next = changes[index + 1]?.from ?? before.length;
    last = Math.min(to + CONTEXT, next);
    for (let line = to; line < last; line++) list.append(diffRow("", line + 1, before[line]));
  }
  if (last < before.length) list.append(gap(before.length - last));
  return list;
}

function addRows(list, kind, lines, from, to) {
  const end = Math.min(to, from + MAX_LINES);
  for (let line = from; line < end; line++) list.append(diffRow(kind, line + 1, lines[line]));
  if (to > end) list.append(gap(to - end));
}

const DIFF_SIGNS = { removed: "−", added: "+" };

/** A line of a diff. Its end shows if it is not a line feed. */
function diffRow(kind, number, line) {
  const isEnded = line.endsWith("\n");
  const text = shownText(isEnded ? line.slice(0, -1) : line);
  if (!isEnded && !line.endsWith("\r")) text.append(element("span", { class: "sign" }, "no line end"));
  const row = element("li", { class: `line ${kind}` }, element("span", { class: "number" }, `${DIFF_SIGNS[kind] ?? ""} ${number}`));
  if (kind) row.append(element("span", { class: "hidden" }, kind));
  row.append(kind ? element(kind === "added" ? "ins" : "del", {}, text) : text);
  return row;
}

/** Puts the fixed text into the editor, and offers to take it back. */
function applyFixes(body, count) {
  const old = editorBytes();
  setEditor(body);
  start();
  const undo = element("button", { type: "button", id: "take-back" }, "Undo");
  undo.addEventListener("click", () => {
    setEditor(old);
    forgetUndo();
    start();
    byId("findings-title").focus();
  });
  byId("undo").replaceChildren(element("p", {}, `${plural(count, "finding")} ${isOrAre(count)} fixed. `, undo));
  undo.focus();
}

/** After another edit, the text before the fixes is no longer the last one. */
const forgetUndo = () => byId("undo").replaceChildren();

// --- the form ---

/** The timer of an edit that is not asked yet. */
let timer = null;
const isWaiting = () => timer !== null;

function changed() {
  clearTimeout(timer);
  timer = setTimeout(start, 200);
  notify("");
}

/** Says what became of a link or a file, below its buttons. */
function notify(text, kind = "") {
  byId("notice").textContent = text;
  byId("notice").className = kind;
  byId("link").hidden = true;
}

function useExample(name) {
  const { robots, agents, urls } = recorded.examples.find(example => example.name === name);
  setEditor(new TextEncoder().encode(robots));
  byId("agents").value = agents.join(", ");
  byId("urls").value = urls.join("\n");
  byId("example").value = name;
  forgetUndo();
  start();
}

/** What a link holds. */
function formState() {
  const { profile, agent_match } = inputs();
  const state = { agents: byId("agents").value, urls: byId("urls").value, profile, agent_match };
  const body = editorBytes();
  try {
    state.robots = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    state.robots_base64 = base64(body);
  }
  return state;
}

async function copyLink() {
  let link;
  try {
    link = location.href.split("#")[0] + await fragmentOf(formState());
  } catch (error) {
    notify(error.message, "error");
    return;
  }
  const length = plural(link.length, "character");
  const where = location.protocol === "file:"
    ? " This page is a file on your computer, so the link works there only. Others need the page at the same address." : "";
  try {
    await navigator.clipboard.writeText(link);
    notify(`The link is copied. It has ${length}, and holds the robots.txt, the crawlers and the URLs.${where}`);
  } catch {
    notify(`The browser did not let the page copy. Copy the link from this field; it has ${length}.${where}`);
    byId("link").hidden = false;
    byId("link").value = link;
    byId("link").select();
  }
}

/** Fills the form from the page's address. Returns whether that has a link. */
async function openLink(otherwise) {
  const fragment = location.hash;
  try {
    const state = await stateOf(fragment);
    // Another link may have been opened meanwhile.
    if (!state || fragment !== location.hash) return false;
    setEditor(state.body);
    byId("agents").value = state.agents;
    byId("urls").value = state.urls;
    document.querySelector(`[name=profile][value=${state.profile}]`).checked = true;
    document.querySelector(`[name=match][value=${state.agent_match}]`).checked = true;
    byId("example").value = "";
    forgetUndo();
    notify("");
    start();
    return true;
  } catch (error) {
    notify(`The link cannot be read: ${error.message}. ${otherwise}`, "error");
    return false;
  }
}

/** Saves the robots.txt with all its bytes. */
function saveFile() {
  const address = URL.createObjectURL(new Blob([editorBytes()], { type: "text/plain" }));
  element("a", { href: address, download: "robots.txt" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function fillForm() {
  for (const { name } of recorded.examples) byId("example").append(element("option", {}, name));
  for (const { name, members } of about.sets) {
    byId("known").append(element("option", { value: name }, `${name} (${plural(members, "crawler")})`));
  }
  for (const { token, operator, purpose } of about.agents) {
    byId("known").append(element("option", { value: token }, `${token} (${operator ?? "unknown"}, ${purpose})`));
  }
  byId("example").addEventListener("change", () => {
    if (!byId("example").value) return;
    useExample(byId("example").value);
    notify("");
  });
  byId("known").addEventListener("change", () => {
    const agents = splitTexts(byId("agents").value, ",");
    if (byId("known").value) byId("agents").value = [...agents, byId("known").value].join(", ");
    byId("known").value = "";
    start();
  });
  byId("file").addEventListener("change", async () => {
    const file = byId("file").files[0];
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    setEditor(bytes);
    byId("file").value = "";
    byId("example").value = "";
    forgetUndo();
    notify(inputs().text.includes("\ufffd") ? "Some bytes of this file are not UTF-8. They are kept until you edit the text." : "");
    start();
  });
  byId("robots").addEventListener("input", () => {
    fileBytes = null;
    byId("example").value = "";
    byId("fixes").replaceChildren();
    forgetUndo();
  });
  byId("save").addEventListener("click", saveFile);
  byId("copy").addEventListener("click", copyLink);
  document.querySelector(".skip").addEventListener("click", event => {
    // The address keeps its link.
    event.preventDefault();
    byId("results").focus();
  });
  addEventListener("hashchange", () => openLink("The entries are as they were."));
  byId("form").addEventListener("input", event => {
    if (!event.target.closest("select, [type=file], #link")) changed();
  });
  byId("form").addEventListener("submit", event => event.preventDefault());
}

async function openPage() {
  try {
    recorded = JSON.parse(byId("examples").textContent);
    moduleBytes = await inflatedModule();
    await startWorker();
    about = await ask({ ask: "about" });
    fillForm();
    if (!await openLink("The page shows an example instead.")) useExample(recorded.examples[0].name);
  } catch (error) {
    byId("status").textContent = `This browser cannot run the page: ${error.message}`;
  }
}

openPage();
