// Runs the WebAssembly module on a thread of its own, so that the page stays responsive.
"use strict";

let exports;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

// Memory may grow and move in each call, so every access looks at it anew.
function write(bytes) {
  const start = exports.input(bytes.length);
  new Uint8Array(exports.memory.buffer, start, bytes.length).set(bytes);
}

function ask(question) {
  write(encoder.encode(JSON.stringify(question)));
  const length = exports.ask();
  return JSON.parse(decoder.decode(new Uint8Array(exports.memory.buffer, exports.output(), length)));
}

async function handle({ id, module, robots, question }) {
  try {
    if (module) {
      exports = (await WebAssembly.instantiate(module)).instance.exports;
    } else if (robots) {
      write(robots);
      exports.set_robots();
    }
    postMessage({ id, answer: question ? ask(question) : null });
  } catch (error) {
    postMessage({ id, failure: String(error) });
  }
}

// Messages are handled one by one: compiling the module is asynchronous.
let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(() => handle(data));
};
