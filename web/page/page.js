// The page: sends questions to the worker, and shows the answers. Texts of the user and of the
// robots.txt are set as text content only, never as markup.
"use strict";

const MAX_URLS = 1000;
const MAX_AGENTS = 200;
/** A set of agents has a verdict per URL and member. */
const MAX_VERDICTS = 20_000;
const MAX_FINDINGS = 200;
const MAX_LINES = 600;
const LONG_LINE = 1000;

/** The examples, with the answers of other parsers. `conformance/run --examples` writes them. */
let recorded;

const PROFILES = { google: "Google's parser", rfc9309: "RFC 9309 to the letter" };

const REASONS = {
  shorter: "matches, but a longer rule matches too",
  "allow-wins": "matches, but allow wins between rules of the same length",
  "robots-txt": "matches, but /robots.txt itself may always be fetched",
  same: "matches too, with the same verdict",
};

const byId = id => document.getElementById(id);

/** Makes an element with attributes, and with children that are elements or texts. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

// --- the worker ---

let moduleBytes;
let worker;
let waiting = new Map();
let nextId = 0;

async function inflatedModule() {
  const text = atob(byId("module").textContent.trim());
  const compressed = Uint8Array.from(text, character => character.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
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

/** The bytes of an opened file, until its text is edited. They may be other than UTF-8. */
let fileBytes = null;

const splitTexts = (text, separator) =>
  text.split(separator).map(part => part.trim()).filter(part => part);

function inputs() {
  const text = byId("robots").value;
  return {
    body: fileBytes ?? new TextEncoder().encode(text),
    text,
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
    byId("status").textContent = `The module failed: ${error.message}`;
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
  startVerdicts(current);
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
  current.isDone = true;
}

/** Warns of names that look misspelled: such an agent obeys the groups for * only. */
function showWarnings(warnings) {
  byId("warnings").replaceChildren(...warnings.map(warning => element("li", {}, warning)));
}

function showStatus({ answers, findings, urls, agents, text, isCut }) {
  const allowed = answers.filter(answer => answer.verdict === "allowed").length;
  const refused = answers.filter(answer => answer.verdict === "disallowed").length;
  const parts = [`${allowed} allowed, ${refused} disallowed`, plural(findings.length, "finding")];
  const invalid = answers.filter(answer => answer.verdict === "invalid").length;
  if (invalid) parts[0] += `, ${invalid} not a URL`;
  if (!urls.length || !agents.length) parts[0] = "Enter an agent and a URL";
  const differing = answers.filter(differs).length;
  if (differing) parts.push(`the other profile differs on ${plural(differing, "verdict")}`);
  if (!text) parts.push("an empty robots.txt allows everything");
  if (isCut) parts.push(`only the first ${plural(urls.length, "URL")} and ${plural(agents.length, "agent")} count`);
  byId("status").textContent = parts.join(" · ");
}

/** Whether the other profile has another verdict. */
const differs = answer => !answer.error && answer.other_profile !== answer.verdict;

// --- verdicts ---

function startVerdicts({ agents, urls }) {
  const table = element("table");
  const head = element("tr");
  for (const agent of agents) head.append(element("th", { scope: "col" }, agent));
  table.append(element("caption", { class: "hidden" }, "One verdict per URL and agent"), element("thead", {}, head));
  byId("verdicts").replaceChildren(...(agents.length && urls.length ? [table] : []));
  for (const id of ["why", "others", "findings", "lines"]) byId(id).replaceChildren();
}

function word(verdict) {
  return verdict === "allowed" ? "✓ Allowed" : "✕ Disallowed";
}

function addVerdicts(current, urls, answers) {
  const table = byId("verdicts").firstElementChild;
  for (const [row, url] of urls.entries()) {
    const title = element("th", { class: "path", scope: "rowgroup", colspan: current.agents.length }, url);
    const cells = element("tr");
    for (const column of current.agents.keys()) {
      const index = current.answers.length;
      const answer = answers[row * current.agents.length + column];
      current.answers.push(answer);
      cells.append(element("td", {}, verdictButton(answer, index)));
    }
    table.append(element("tbody", {}, element("tr", {}, title), cells));
  }
}

function verdictButton(answer, index) {
  if (answer.error) return element("span", { class: "error" }, answer.error);
  const button = element("button", { type: "button", class: `verdict ${answer.verdict}`, "data-index": index,
    "aria-pressed": "false" }, word(answer.verdict));
  button.append(element("small", {}, answer.rule ? `line ${answer.rule.line}` : "no rule"));
  if (differs(answer)) button.append(element("small", {}, "≠ the other profile"));
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

function showWhy(answer) {
  const list = element("ul");
  const add = (...parts) => list.append(element("li", {}, ...parts));
  const code = text => element("code", {}, text);
  if (answer.group) {
    const lines = answer.group.lines.flatMap(line => [" ", lineButton(line.line), ": ", code(line.text), ";"]);
    lines.pop();
    const reason = answer.group.name === null ? "No group names the agent, so the groups for * apply:" : "The groups that name the agent apply:";
    add(reason, ...lines);
  } else {
    add("No group applies to the agent, so everything is allowed.");
  }
  if (answer.rule) {
    add("Decides: ", lineButton(answer.rule.line), ": ", code(answer.rule.text), ` (length ${answer.rule.length})`);
  } else if (answer.losers.length === 0) {
    add("No rule matches, so the URL is allowed.");
  }
  for (const loser of answer.losers) {
    add("Loses: ", lineButton(loser.line), ": ", code(loser.text), ` ${REASONS[loser.reason] ?? loser.reason} (length ${loser.length})`);
  }
  if (answer.not_matching) add(`${plural(answer.not_matching, "rule")} of the groups ${answer.not_matching === 1 ? "does" : "do"} not match.`);
  add("Compared with the rules: ", code(answer.path));
  byId("why").replaceChildren(
    element("p", {}, element("strong", { class: answer.verdict }, word(answer.verdict)), " for ", element("strong", {}, answer.agent), ": ", code(answer.url)),
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
    list.append(element("li", {}, "Content-Usage does not apply, because the agent may not fetch the URL:", ...at(found.usage_lines)));
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

/** The recorded verdicts of other parsers on a URL for an agent. None if the text is not an example. */
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
    { name: PROFILES[current.profile], source: "the chosen profile", verdict: answer.verdict, line: answer.rule?.line },
    { name: PROFILES[other], source: "the other profile", verdict: answer.other_profile, id: "other-line" },
  ];
  const found = recordedVerdicts(current, answer);
  for (const { parser: { name, language, package: from, version }, letter } of found) {
    rows.push({ name, source: `${language}, ${from} ${version}`, verdict: LETTERS[letter], isRecorded: true });
  }
  const body = element("tbody");
  for (const { name, source, verdict, line, id, isRecorded } of rows) {
    const same = verdict === answer.verdict ? [] : [element("strong", {}, "differs")];
    body.append(element("tr", {},
      element("th", { scope: "row" }, name, element("small", {}, source)),
      element("td", { class: verdict ?? "error" }, verdict ? word(verdict) : "no answer", ...same),
      element("td", id ? { id } : {}, line ? lineButton(line) : isRecorded ? "" : "no rule")));
  }
  const head = ["Parser", "Verdict", "Line"].map(title => element("th", { scope: "col" }, title));
  const note = found.length
    ? "The answers of other parsers were recorded when they were asked about this example."
    : `The answers of ${recorded.parsers.length} other parsers are recorded for the examples only. This text is not one of them.`;
  byId("others").replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ...head)), body),
    element("p", { class: "dim" }, note));
}

// --- the file ---

/** Splits as the parser does: CR, LF and CR LF end a line. */
function linesOf(text) {
  const lines = text.split(/\r\n|\r|\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function notesByLine(current) {
  const notes = new Map();
  const note = (line, text, kind) => {
    if (!notes.has(line)) notes.set(line, { texts: [], kind: "" });
    notes.get(line).texts.push(text);
    notes.get(line).kind = kind || notes.get(line).kind;
  };
  const answer = current.answers[current.selected];
  if (answer && !answer.error) {
    for (const line of answer.group?.lines ?? []) note(line.line, "group", "group");
    for (const loser of answer.losers) note(loser.line, "loses");
    if (answer.rule) note(answer.rule.line, `decides: ${answer.rule.kind}`, "decides");
    for (const key of ["usage_lines", "signal_lines", "license_lines"]) {
      for (const line of answer.preferences[key]) note(line.line, "preference");
    }
  }
  for (const finding of current.findings.slice(0, MAX_FINDINGS)) note(finding.line, finding.code);
  return notes;
}

/** Shows the lines of the file: of a long one those with a note, and the lines around them. */
function showLines(current) {
  const lines = current.lines ??= linesOf(current.text);
  const notes = notesByLine(current);
  const isShown = new Set();
  if (lines.length <= MAX_LINES) {
    for (const index of lines.keys()) isShown.add(index + 1);
  } else {
    for (const line of [...notes.keys(), ...(current.asked ? [current.asked] : [])]) {
      for (let near = line - 2; near <= line + 2; near++) if (isShown.size < MAX_LINES) isShown.add(near);
    }
  }
  const list = element("ol", { class: "code" });
  let last = 0;
  for (const number of [...isShown].filter(line => line >= 1 && line <= lines.length).sort((a, b) => a - b)) {
    if (number > last + 1) list.append(element("li", { class: "line gap" }, `… ${plural(number - last - 1, "line")}`));
    last = number;
    const found = notes.get(number);
    const text = lines[number - 1].slice(0, LONG_LINE);
    const row = element("li", { class: `line ${found?.kind ?? ""}`, id: `line-${number}`, tabindex: "-1" },
      element("span", { class: "number" }, String(number)),
      element("span", {}, text + (text.length < lines[number - 1].length ? " …" : "")));
    if (found) row.append(element("span", { class: "note" }, [...new Set(found.texts)].join(", ")));
    list.append(row);
  }
  if (last < lines.length) list.append(element("li", { class: "line gap" }, `… ${plural(lines.length - last, "line")}`));
  byId("lines").replaceChildren(list);
  scrollToLine(list.querySelector(".decides"));
}

/** Scrolls the box of lines, and not the page. */
function scrollToLine(row) {
  const box = byId("lines");
  if (row) box.scrollTop = row.offsetTop - box.offsetTop - box.clientHeight / 3;
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

// --- findings ---

/** The parts of a message: those in backquotes are code. */
const withCode = message =>
  message.split("`").map((part, index) => index % 2 ? element("code", {}, part) : part);

function showFindings({ findings }, facts) {
  const list = element("ul");
  for (const finding of findings.slice(0, MAX_FINDINGS)) {
    list.append(element("li", { class: `${finding.severity}-finding` },
      element("strong", {}, finding.severity), " · ", element("code", {}, finding.code), " · ", lineButton(finding.line),
      element("div", {}, ...withCode(finding.message)),
      element("div", { class: "help" }, ...withCode(finding.help))));
  }
  const parts = [];
  if (!findings.length) parts.push(element("p", {}, "None: the file has no mistakes that robosieve knows."));
  if (facts.ignored_bytes) parts.push(element("p", {}, `Parsers ignore the last ${plural(facts.ignored_bytes, "byte")}, from line ${facts.ignored_from_line}.`));
  parts.push(list);
  if (findings.length > MAX_FINDINGS) parts.push(element("p", {}, `${plural(findings.length - MAX_FINDINGS, "finding")} more.`));
  byId("findings").replaceChildren(...parts);
}

// --- the form ---

/** The timer of an edit that is not asked yet. */
let timer = null;
const isWaiting = () => timer !== null;

function changed() {
  clearTimeout(timer);
  timer = setTimeout(start, 200);
}

function useExample(name) {
  const { robots, agents, urls } = recorded.examples.find(example => example.name === name);
  fileBytes = null;
  byId("robots").value = robots;
  byId("agents").value = agents.join(", ");
  byId("urls").value = urls.join("\n");
  start();
}

function fillForm() {
  for (const { name } of recorded.examples) byId("example").append(element("option", {}, name));
  for (const { name, members } of about.sets) {
    byId("known").append(element("option", { value: name }, `${name} (set of ${members})`));
  }
  for (const { token, operator, purpose } of about.agents) {
    byId("known").append(element("option", { value: token }, `${token} (${operator ?? "unknown"}, ${purpose})`));
  }
  byId("example").addEventListener("change", () => useExample(byId("example").value));
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
    byId("robots").value = new TextDecoder().decode(bytes);
    fileBytes = bytes;
    byId("file").value = "";
    start();
  });
  byId("robots").addEventListener("input", () => (fileBytes = null));
  byId("form").addEventListener("input", event => {
    if (!event.target.closest("select, [type=file]")) changed();
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
    useExample(byId("example").value);
  } catch (error) {
    byId("status").textContent = `This browser cannot run the module: ${error.message}`;
  }
}

openPage();
