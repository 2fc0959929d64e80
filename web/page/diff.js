// The lines that differ between two texts: the algorithm of Myers, "An O(ND) Difference Algorithm
// and Its Variations" (1986), with a bound on D.
"use strict";

/**
 * The most edits of one search. Its time and memory grow with their square, and a hostile file has
 * an edit in each of 27,000 lines. After so many, the search starts anew from the furthest point it
 * has reached. The diff is complete, but may be longer than the shortest.
 */
const MAX_EDITS = 256;

/** The lines of a text with their ends. As for the parser, CR, LF and CR LF end a line. */
const linesWithEnds = text => text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];

/**
 * The differences between two lists of lines, in order. Each replaces the lines of `before` from
 * index `from` up to `to` by those of `after` from `newFrom` up to `newTo`.
 */
function differences(before, after) {
  const isRemoved = new Uint8Array(before.length);
  const isAdded = new Uint8Array(after.length);
  let start = { x: 0, y: 0 };
  while (start.x < before.length || start.y < after.length) {
    start = markEdits(before, after, start, isRemoved, isAdded);
  }
  const found = [];
  for (let x = 0, y = 0; x < before.length || y < after.length;) {
    if (!isRemoved[x] && !isAdded[y]) {
      x++;
      y++;
      continue;
    }
    const from = x;
    const newFrom = y;
    while (isRemoved[x]) x++;
    while (isAdded[y]) y++;
    found.push({ from, to: x, newFrom, newTo: y });
  }
  return found;
}

/** Marks the edits from `start` to the end, or the first MAX_EDITS. Returns where they end. */
function markEdits(before, after, start, isRemoved, isAdded) {
  // Diagonal k has the points with x - y = k, counted from `start`. `furthest` has the largest x of
  // each, and `trace` what it was before each number of edits.
  const furthest = new Int32Array(2 * MAX_EDITS + 3).fill(start.x);
  const at = k => k + MAX_EDITS + 1;
  const shift = start.x - start.y;
  const trace = [];
  for (let edits = 0; ; edits++) {
    trace.push(furthest.slice());
    let best = start;
    for (let k = -edits; k <= edits; k += 2) {
      let x = start.x;
      if (edits) {
        const isDown = k === -edits || (k !== edits && furthest[at(k - 1)] < furthest[at(k + 1)]);
        x = isDown ? furthest[at(k + 1)] : furthest[at(k - 1)] + 1;
      }
      let y = x - k - shift;
      while (x < before.length && y < after.length && before[x] === after[y]) {
        x++;
        y++;
      }
      furthest[at(k)] = x;
      // A point beyond an end is no way to go on from.
      if (x <= before.length && y <= after.length && x + y > best.x + best.y) best = { x, y };
    }
    const isDone = best.x === before.length && best.y === after.length;
    if (isDone || edits === MAX_EDITS) {
      markBack(best, start, trace.slice(0, edits + 1), isRemoved, isAdded);
      return best;
    }
  }
}

/** Follows the trace from `end` back to `start`, and marks the edits on the way. */
function markBack(end, start, trace, isRemoved, isAdded) {
  const at = k => k + MAX_EDITS + 1;
  const shift = start.x - start.y;
  let x = end.x;
  let k = end.x - end.y - shift;
  for (let edits = trace.length - 1; edits > 0; edits--) {
    const furthest = trace[edits];
    const isDown = k === -edits || (k !== edits && furthest[at(k - 1)] < furthest[at(k + 1)]);
    k += isDown ? 1 : -1;
    x = furthest[at(k)];
    if (isDown) isAdded[x - k - shift] = 1;
    else isRemoved[x] = 1;
  }
}
