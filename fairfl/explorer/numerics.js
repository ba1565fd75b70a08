"use strict";
// Roots and maxima.

const STEPS = 100; // of Newton's method
const STILL = 1e-14; // a smaller step is the last,
const NEAR = 1e-9; // where the value is this near to zero
const GOLDEN = (Math.sqrt(5) - 1) / 2;
const NARROWED = 36; // steps of golden-section search
const ROWS = 24; // places that a search looks at first
const ROWS_OF_MANY = 10; // those of each of several coordinates
const HOPE = 2e-2; // local maxima this far below the best place are searched too

// A zero of an increasing function, whose value and slope `f` returns; the nearer end where
// there is none. Values up to `zero` count as zero.
function root(f, low, high, start = (low + high) / 2, zero = 0) {
  const untried = {low: true, high: true};
  let x = Number.isFinite(start) ? Math.min(Math.max(start, low), high) : (low + high) / 2;
  let before = Infinity;
  for (let step = 0; step < STEPS; step++) {
    const [value, slope] = f(x);
    const size = Math.abs(value);
    if (size <= zero) return x;
    untried[value > 0 ? "high" : "low"] = false;
    if (value > 0) high = x;
    else low = x;
    let next = x - value / slope;
    const inside = next >= low && next <= high;
    // where Newton's method leaves the interval, that end is tried; where it gains little, the
    // interval is halved
    if (!inside && untried[value > 0 ? "low" : "high"]) next = value > 0 ? low : high;
    else if (!inside || size > before / 2) next = (low + high) / 2;
    if (next === x || (size < NEAR && Math.abs(next - x) <= STILL * Math.abs(x))) return x;
    [x, before] = [next, size];
  }
  return x;
}

// The largest value of `f`, whose results have a `merit`, between two places around a local
// maximum.
function narrowed(f, low, high) {
  const inner = () => low + (1 - GOLDEN) * (high - low);
  const outer = () => low + GOLDEN * (high - low);
  let one = f(inner());
  let two = f(outer());
  let best = one.merit > two.merit ? one : two;
  for (let step = 0; step < NARROWED; step++) {
    if (one.merit > two.merit) {
      high = outer();
      two = one;
      one = f(inner());
    } else {
      low = inner();
      one = two;
      two = f(outer());
    }
    for (const tried of [one, two]) if (tried.merit > best.merit) best = tried;
  }
  return best;
}

// The result of `f` at the best coordinates in a box, whose sides are two ends and places to try:
// even rows first, then golden-section search, one coordinate inside the other.
function search(f, box, known = []) {
  if (known.length === box.length) return f(known);
  const [low, high, ...places] = box[known.length];
  const at = (x) => search(f, box, [...known, x]);
  if (!(high > low)) return at(low);
  const rows = box.length === 1 ? ROWS : ROWS_OF_MANY;
  const even = Array.from({length: rows + 1}, (_, k) => low + (k / rows) * (high - low));
  const x = [...even, ...places].sort((one, two) => one - two);
  const found = x.map(at);
  const merit = found.map((one) => one.merit);
  const most = Math.max(...merit);
  let best = found[merit.indexOf(most)];
  for (let k = 0; k < x.length; k++) {
    const peak = merit[k] >= (merit[k - 1] ?? -Infinity) && merit[k] > (merit[k + 1] ?? -Infinity);
    if (!peak || merit[k] < most - HOPE) continue;
    const end = narrowed(at, x[Math.max(k - 1, 0)], x[Math.min(k + 1, x.length - 1)]);
    if (end.merit > best.merit) best = end;
  }
  return best;
}
