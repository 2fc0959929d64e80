// Answers questions about robots.txt files with a JavaScript parser, by the protocol of README.md.
//
// A parser is a module that calls `serve`. `parse` and `allowed` are the two calls that a user of the
// library makes; the base times them, catches what they throw, and keeps parsed files if it is told to.

import { createInterface } from 'node:readline';

// The body for a library that takes texts: bytes that are not UTF-8 become U+FFFD, and a byte order mark
// stays, because the library must handle it.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const cpu_ns = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
};

// `parse(text, agent)` gives a parsed file, `allowed(parsed, agent, url)` a truth value, or undefined
// if the library has no opinion, which means allowed. Both may be asynchronous. `agent` is undefined
// unless `per_agent` is set, for a library that parses for one agent.
export async function serve(parse, allowed, { per_agent = false } = {}) {
  console.log = console.info = console.debug = console.error;
  say({ hello: 1, parses: per_agent ? 'per agent' : 'once' });
  const kept = [];
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const question = JSON.parse(line);
    const body = decoder.decode(Buffer.from(question.robots, 'base64'));
    let answer;
    for (let i = 0; i < (question.repeat ?? 1); i++) {
      answer = await ask(parse, allowed, per_agent, body, question, kept);
    }
    say(answer);
  }
}

function say(message) {
  process.stdout.write(JSON.stringify(message) + '\n');
}

async function ask(parse, allowed, per_agent, body, question, kept) {
  const verdicts = [];
  let parse_ns = 0, ask_ns = 0, parsed, failed;
  for (const agent of question.agents) {
    if (per_agent || verdicts.length === 0) {
      const start = cpu_ns();
      try {
        failed = undefined;
        parsed = parse(body, per_agent ? agent : undefined);
        if (parsed instanceof Promise) parsed = await parsed;
      } catch (error) {
        failed = error;
        console.error(String(error).slice(0, 200));
      }
      parse_ns += cpu_ns() - start;
      if (question.keep) kept.push(parsed);
    }
    let letters = '';
    const start = cpu_ns();
    for (const url of question.urls) {
      try {
        let answer = failed ? 'E' : allowed(parsed, agent, url);
        if (answer instanceof Promise) answer = await answer;
        letters += answer === 'E' ? 'E' : answer === undefined || answer ? 'A' : 'D';
      } catch (error) {
        letters += 'E';
        console.error(String(error).slice(0, 200));
      }
    }
    ask_ns += cpu_ns() - start;
    verdicts.push(letters);
  }
  return { verdicts, parse_ns, ask_ns };
}
