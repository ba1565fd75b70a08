"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const form = document.forms[0];
const find = (id) => document.getElementById(id);
const LEFT = 52;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 38;
const WORDS = {
  mean: ["mean of x, group 0", "mean of x, group 1"],
  sd: ["sd of x, group 0", "sd of x, group 1"],
  share: ["share of group 1"],
  weight: ["relative weight"],
  slope: ["slope"],
  intercept: ["intercept"],
  d: ["largest disparity that is allowed"],
};
const OF_CLIENTS = ["mean", "sd", "share", "weight"];
const HEIGHT = 300;
const PALE = {"stroke-opacity": 0.45}; // between points of which one is not proven
const SLICE = 28; // milliseconds of computing between two drawings
const PAUSE = 250; // milliseconds without a change after which the link is kept

let setting = null;
let found = {};
let work = null;
let waiting = 0;

const digits = (x, n = 3) => (Math.abs(x) < 5e-7 ? "0" : String(Number(x.toPrecision(n))));
const clients = () => setting.share.length;
// What is known of the schemes, in their order.
const shown = () =>
  Object.keys(data.looks)
    .filter((name) => found[name])
    .map((name) => found[name]);

function element(name, attributes = {}, ...inside) {
  const svg = ["svg", "path", "line", "text", "circle", "rect"].includes(name);
  const space = svg ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

// A setting's link: its lists of numbers, clients one after the other.
function written() {
  const parts = Object.keys(WORDS).map((name) => `${name}=${[setting[name]].flat(2)}`);
  return `#${[...parts, `budgets=${setting.budgets}`].join("&")}`;
}

// The setting of a link; null where it is not one.
function read(link) {
  const given = new URLSearchParams(link.replace(/^#/, ""));
  const out = {};
  for (const name of Object.keys(WORDS)) {
    const [low, high] = data.ranges[name];
    const numbers = (given.get(name) || "").split(",").map(parseFloat);
    if (numbers.some((one) => !(one >= low && one <= high))) return null;
    out[name] = OF_CLIENTS.includes(name) ? numbers : numbers[0];
  }
  const count = out.share.length;
  const pairs = (list) => out.share.map((_, i) => list.slice(2 * i, 2 * i + 2));
  const right =
    out.weight.length === count && [out.mean, out.sd].every((list) => list.length === 2 * count);
  if (count < 2 || count > 3 || !right) return null;
  return {
    ...out,
    mean: pairs(out.mean),
    sd: pairs(out.sd),
    budgets: given.get("budgets") === "common" ? "common" : "each",
  };
}

// A slider for the number `list[key]` of the setting.
function slider(name, words, list = setting, key = name) {
  const [min, max, step] = data.ranges[name];
  const shown = element("output", {"aria-hidden": "true"}, digits(list[key]));
  const input = element("input", {type: "range", min, max, step, value: list[key]});
  input.addEventListener("input", () => {
    list[key] = Number(input.value);
    shown.textContent = digits(list[key]);
    find("preset").value = "";
    changed();
  });
  return element("label", {}, `${words} `, shown, input);
}

function controls() {
  const set = (name, ...sliders) =>
    element(
      "fieldset",
      {},
      element("legend", {}, name),
      element("div", {class: "sliders"}, ...sliders),
    );
  const own = (i) => (name) =>
    WORDS[name].map((words, a) =>
      WORDS[name].length > 1
        ? slider(name, words, setting[name][i], a)
        : slider(name, words, setting[name], i),
    );
  const odds = ["slope", "intercept"].map((name) => slider(name, WORDS[name][0]));
  find("sliders").replaceChildren(
    ...setting.share.map((_, i) => set(`Client ${i + 1}`, ...OF_CLIENTS.flatMap(own(i)))),
    set("Log-odds of y = 1: slope · x + intercept", ...odds),
  );
  find("budget").replaceChildren(slider("d", WORDS.d[0]));
  form.budgets.value = setting.budgets;
  form.clients.value = String(clients());
}

function ticks(low, high) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const out = [];
  const unit = [1, 2, 5, 10].map((u) => u * power).find((u) => u >= rough);
  for (let k = Math.ceil(low / unit); k * unit <= high; k++)
    out.push(Number((k * unit).toPrecision(10)));
  return out;
}

// An empty chart: the places of numbers in it, with an axis below.
function chart(svg, height, [left, right], [low, high], name) {
  const width = Math.max(svg.clientWidth, 300);
  const bottom = height - BOTTOM;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  svg.replaceChildren();
  const x = (v) => LEFT + ((v - left) / (right - left || 1)) * (width - LEFT - RIGHT);
  const y = (v) => TOP + ((high - v) / (high - low || 1)) * (bottom - TOP);
  for (const v of ticks(left, right))
    svg.append(element("text", {x: x(v), y: bottom + 16, "text-anchor": "middle"}, digits(v)));
  svg.append(
    element("line", {class: "axis", x1: LEFT, x2: width - RIGHT, y1: bottom, y2: bottom}),
    element("text", {x: (width + LEFT) / 2, y: height - 4, "text-anchor": "middle"}, name),
  );
  const line = (points, drawn = () => true) =>
    points.map(([a, b], k) => `${k && drawn(k) ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  return {x, y, line, width, bottom};
}

function drawFrontiers() {
  const svg = find("frontiers");
  const known = shown();
  const caption = [];
  const height = Math.max(180, Math.min(HEIGHT, window.innerHeight / 3)); // sliders fit below
  const right = Math.max(setting.d, ...known.flatMap(({curve}) => curve.map(([d]) => d)));
  const values = known.flatMap(({curve}) => curve.map(([, accuracy]) => accuracy));
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = (high - low || 0.01) * 0.06;
  const {x, y, line, width, bottom} = chart(
    svg,
    height,
    [0, right * 1.02],
    [low - margin, high + margin],
    "disparity",
  );
  for (const v of ticks(low - margin, high + margin))
    svg.append(
      element("line", {class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v)}),
      element("text", {x: LEFT - 5, y: y(v) + 4, "text-anchor": "end"}, `${digits(100 * v, 4)} %`),
    );
  svg.append(element("text", {x: LEFT + 6, y: TOP + 14}, "accuracy"));
  const key = (label, stroke) => {
    const sample = element("line", {x1: 0, x2: 36, y1: 5, y2: 5, ...stroke});
    caption.push(element("span", {}, element("svg", {viewBox: "0 0 36 10"}, sample), label));
  };
  for (const {name, curve, proven, now} of known) {
    const {colour, name: label, ...look} = data.looks[name];
    const stroke = {"stroke-width": look.width, "stroke-dasharray": look.dashes, stroke: colour};
    const drawn = (k) => proven[k - 1] && proven[k];
    const pale = {...stroke, ...PALE, d: line(curve, (k) => !drawn(k))};
    svg.append(element("path", {d: line(curve, drawn), fill: "none", ...stroke}));
    svg.append(element("path", {fill: "none", ...pale}));
    if (now)
      svg.append(
        element("circle", {cx: x(Math.abs(now.md)), cy: y(now.accuracy), r: 5, fill: colour}),
      );
    key(label, stroke);
  }
  if (known.some(({proven}) => proven.includes(false)))
    key("not proven the best", {"stroke-width": 2, stroke: "gray", ...PALE});
  svg.append(
    element("line", {class: "now", x1: x(setting.d), x2: x(setting.d), y1: TOP, y2: bottom}),
  );
  find("legend").replaceChildren(...caption);
}

// The intervals on which the share of votes for acceptance is constant and not zero.
function votes(rule, a) {
  const weights = setting.weight.map((w) => w / setting.weight.reduce((sum, one) => sum + one));
  const parts = rule.members
    ? rule.members.map((sets, i) => [sets[a], weights[i]])
    : [[rule.sets[a], 1]];
  const ends = [
    -Infinity,
    ...parts.flatMap(([intervals]) => intervals.flat()).filter(Number.isFinite),
    Infinity,
  ];
  ends.sort((one, two) => one - two);
  const out = [];
  for (let k = 0; k + 1 < ends.length; k++) {
    const holds = ([low, high]) => low <= ends[k] && high >= ends[k + 1];
    const share = parts.reduce((sum, [intervals, w]) => sum + (intervals.some(holds) ? w : 0), 0);
    if (share > 1e-9 && ends[k] < ends[k + 1]) out.push([ends[k], ends[k + 1], share]);
  }
  return out;
}

function drawAccepted(a) {
  const svg = find(`accepted${a}`);
  const laws = setting.mean.map((mean, i) => [mean[a], setting.sd[i][a]]);
  const left = Math.min(...laws.map(([m, s]) => m - 3 * s));
  const right = Math.max(...laws.map(([m, s]) => m + 3 * s));
  const density = ([m, s], v) =>
    Math.exp(-(((v - m) / s) ** 2) / 2) / (s * Math.sqrt(2 * Math.PI));
  const top = Math.max(...laws.map((law) => density(law, law[0])));
  const known = shown().filter(({now}) => now);
  const bars = 14 * 3 + 6;
  const {x, y, line, width, bottom} = chart(
    svg,
    190,
    [left, right],
    [-0.6 * top, 1.05 * top],
    `x of group ${a}`,
  );
  laws.forEach((law, i) => {
    const points = Array.from({length: 121}, (_, k) => left + (k / 120) * (right - left)).map(
      (v) => [v, density(law, v)],
    );
    const place = {x: x(law[0]), y: y(density(law, law[0])) + 14 * (i + 1)};
    svg.append(
      element("path", {class: "law", d: line(points), "stroke-dasharray": ["", "6 3", "2 3"][i]}),
      element("text", {...place, "text-anchor": "middle"}, String(i + 1)),
    );
  });
  known.forEach(({name, now}, k) => {
    for (const [low, high, share] of votes(now, a)) {
      const from = Math.max(x(low), LEFT);
      const to = Math.min(x(high), width - RIGHT);
      const place = {x: from, width: Math.max(to - from, 0), y: bottom - bars + 14 * k, height: 11};
      const fill = data.looks[name].colour;
      svg.append(element("rect", {...place, fill, "fill-opacity": share}));
    }
  });
}

const interval = ([low, high, share]) => {
  let told = `${digits(low)} < x < ${digits(high)}`;
  if (low === -Infinity) told = high === Infinity ? "all" : `x < ${digits(high)}`;
  else if (high === Infinity) told = `x > ${digits(low)}`;
  return share < 1 - 1e-9 ? `${told} (${digits(100 * share)} % of votes)` : told;
};

// A column for each scheme.
function drawTable() {
  const known = shown();
  const cfl = found.cfl.now;
  const row = (head, cell) => {
    const cells = known.map((one) => element("td", {}, cell(one.now, one)));
    return element("tr", {}, element("th", {scope: "row"}, head), ...cells);
  };
  const of = (tell) => (now) => (now ? tell(now) : "");
  const reached = ({low}) => (setting.d < low ? "not reached" : "not found");
  const heads = known.map(({name}) => {
    const {name: label, colour} = data.looks[name];
    return element("th", {scope: "col", style: `border-bottom-color:${colour}`}, label);
  });
  find("rules").replaceChildren(
    element("thead", {}, element("tr", {}, element("td"), ...heads)),
    row("smallest disparity", (_, {low}) => digits(low)),
    row("accuracy", (now, one) => (now ? `${digits(100 * now.accuracy, 5)}\u00a0%` : reached(one))),
    row(
      "price of not pooling: more errors in 1,000 people",
      of(({accuracy}) => digits(1000 * Math.max(cfl.accuracy - accuracy, 0))),
    ),
    ...setting.share.map((_, i) =>
      row(
        `disparity within client ${i + 1}`,
        of(({local}) => digits(local[i])),
      ),
    ),
    ...[0, 1].map((a) =>
      row(
        `accepted in group ${a}`,
        of((now) => votes(now, a).map(interval).join(", ") || "nobody"),
      ),
    ),
  );
}

function draw() {
  if (!found.cfl) return;
  drawFrontiers();
  drawAccepted(0);
  drawAccepted(1);
  drawTable();
}

// Computes until the time for a frame is over, of two clients at least a first curve of all
// schemes, draws what is known, and goes on in the next frame.
function frame() {
  const end = performance.now() + SLICE;
  const first = () => clients() === 2 && shown().length < Object.keys(data.looks).length;
  let news = false;
  while (work && (performance.now() < end || first())) {
    const {value, done} = work.next();
    if (done) work = null;
    else if (value) {
      found[value.name] = value;
      news = true;
    }
  }
  if (news) draw();
  document.body.setAttribute("aria-busy", String(work !== null));
  if (work) requestAnimationFrame(frame);
}

function changed() {
  const idle = work === null;
  work = explored(setting, setting.budgets, setting.d);
  found = {};
  find("unread").hidden = true;
  if (idle) requestAnimationFrame(frame);
  clearTimeout(waiting);
  waiting = setTimeout(() => history.replaceState(null, "", written()), PAUSE);
}

function take(next) {
  setting = structuredClone(next);
  controls();
  changed();
}

function follow() {
  const next = read(location.hash);
  if (next) {
    find("preset").value = "";
    take(next);
  } else find("unread").hidden = !location.hash;
}

for (const name of Object.keys(data.presets)) find("preset").append(element("option", {}, name));
find("preset").addEventListener("change", ({target}) => {
  if (target.value) take({...setting, ...data.presets[target.value]});
});
form.addEventListener("change", ({target}) => {
  if (target.name === "budgets") {
    setting.budgets = target.value;
    changed();
  }
  if (target.name === "clients") {
    const next = structuredClone(setting);
    const last = Object.values(data.presets).pop();
    const count = Number(target.value);
    for (const name of OF_CLIENTS)
      next[name] = count === 2 ? next[name].slice(0, 2) : [...next[name], last[name][2]];
    find("preset").value = "";
    take(next);
  }
});
form.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("resize", draw);
window.addEventListener("hashchange", follow);
const [first] = Object.keys(data.presets);
find("preset").value = first;
take({...data.presets[first], d: 0.2, budgets: "each"});
follow();
