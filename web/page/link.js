// Permalinks: the form in the fragment of the page's address, which browsers send to no server.
//
// `#v1=` is followed by a JSON object, compressed with DEFLATE (RFC 1951), in base64url. A browser
// that cannot compress writes `#v1-plain=` and the JSON as it is, in base64url. The object has
// these keys:
//
//   robots         the text, or
//   robots_base64  its bytes, if they are not UTF-8
//   agents, urls   the fields of the form as they were typed
//   profile, agent_match  left out for the first choice of each
//
// A link comes from strangers. So its length, and that of the JSON, are bounded before they are
// read, and each value is checked.
"use strict";

/** Longer links are cut by mail programs and messengers. */
const MAX_FRAGMENT = 65_536;
/** The most bytes of the JSON. 64 KB of DEFLATE can hold 64 MB. */
const MAX_STATE = 1 << 20;
/** The bytes that are decompressed at a time, so that reading stops soon after MAX_STATE. */
const PIECE = 256;

const DEFAULTS = { profile: "google", agent_match: "extended" };
const CHOICES = { profile: ["google", "rfc9309"], agent_match: ["extended", "google"] };

/** A reason for people why a link cannot be made or read. */
class LinkError extends Error {}

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(text);
}

/** One byte per character, which is at most U+00FF. */
const byteString = text => Uint8Array.from(text, character => character.charCodeAt(0));

/** The bytes of a stream. Throws once they are more than `limit`. */
async function bytesOf(stream, limit) {
  const reader = stream.getReader();
  const chunks = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    length += value.length;
    if (length > limit) {
      reader.cancel().catch(() => {});
      throw new LinkError(`its text has more than ${plural(limit, "byte")}`);
    }
    chunks.push(value);
  }
}

/** A stream of bytes in small pieces, each read when the one before is used up. */
function inPieces(bytes) {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + PIECE));
      at += PIECE;
    },
  }, { highWaterMark: 0 });
}

/** Compresses. Null if the browser cannot. */
async function deflated(bytes) {
  let compression;
  try {
    compression = new CompressionStream("deflate-raw");
  } catch {
    return null;
  }
  return bytesOf(new Blob([bytes]).stream().pipeThrough(compression), Infinity);
}

/** The fragment for what a form has: see the head of this file. */
async function fragmentOf(state) {
  const shown = { ...state };
  for (const key of Object.keys(CHOICES)) if (shown[key] === DEFAULTS[key]) delete shown[key];
  const json = new TextEncoder().encode(JSON.stringify(shown));
  const instead = "Save the file instead, and send that.";
  if (json.length > MAX_STATE) {
    throw new LinkError(`The entries have ${plural(json.length, "byte")}, and a link holds ${plural(MAX_STATE, "byte")}. ${instead}`);
  }
  const compressed = await deflated(json);
  const code = base64(compressed ?? json).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  const fragment = (compressed ? "#v1=" : "#v1-plain=") + code;
  if (fragment.length > MAX_FRAGMENT) {
    throw new LinkError(`The link would have ${plural(fragment.length, "character")}, and many programs cut links after ` +
      `${plural(MAX_FRAGMENT, "character")}. ${instead}`);
  }
  return fragment;
}

/** What the form of a fragment has, with all keys. Null if the fragment is something else. */
async function stateOf(fragment) {
  const parts = fragment.match(/^#v(\d+)(-plain)?=(.*)$/s);
  if (!parts) return null;
  const [, version, plain, code] = parts;
  if (version !== "1") throw new LinkError("it was made by another version of this page");
  if (fragment.length > MAX_FRAGMENT) throw new LinkError(`it has more than ${plural(MAX_FRAGMENT, "character")}`);
  let state;
  try {
    const bytes = byteString(atob(code.replaceAll("-", "+").replaceAll("_", "/")));
    const json = plain ? bytes : await bytesOf(inPieces(bytes).pipeThrough(new DecompressionStream("deflate-raw")), MAX_STATE);
    state = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError("it is damaged or cut short");
  }
  return checkedState(state);
}

function checkedState(state) {
  const wrong = new LinkError("its content is not that of this page");
  if (typeof state !== "object" || state === null) throw wrong;
  const { agents, urls } = state;
  if (typeof agents !== "string" || typeof urls !== "string") throw wrong;
  const checked = { agents, urls };
  for (const [key, values] of Object.entries(CHOICES)) {
    checked[key] = state[key] ?? DEFAULTS[key];
    if (!values.includes(checked[key])) throw wrong;
  }
  const { robots, robots_base64 } = state;
  if (typeof robots !== "string" && typeof robots_base64 !== "string") throw wrong;
  try {
    checked.body = typeof robots === "string" ? new TextEncoder().encode(robots) : byteString(atob(robots_base64));
  } catch {
    throw wrong;
  }
  return checked;
}
