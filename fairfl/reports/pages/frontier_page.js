"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const form = document.forms[0], slider = document.getElementById("slider");
let width = 720;
const PALE = {"stroke-opacity": 0.45}; // between points of which one is not proven
const HEIGHT = 380, LEFT = 56, RIGHT = 12, TOP = 12, BOTTOM = 44, OF = 1000;
const cfl = data.schemes[0];

const shown = () => data.schemes.filter((one) => !one.budgets || one.budgets === form.budgets.value);
const digits = (x, n) => (Math.abs(x) < 5e-7 ? "0" : String(Number(x.toPrecision(n))));
const count = (share) => (OF * share).toFixed(Math.abs(share) < 0.01 ? 1 : 0);
const written = (value) => (data.share ? count(value) : digits(value, 4));
const span = (ends, show) => (ends ? ` (${show(ends[0])} to ${show(ends[1])})` : "");
function element(name, attributes = {}, text = "") {
  const svg = ["svg", "path", "line", "text", "circle", "g"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

const steps = data.steps, last = steps[steps.length - 1] || 1;
const known = data.schemes.flatMap((one) => [...one.curve.map((point) => point[1]),
  ...one.at.flatMap((spot) => (spot ? [spot.value, ...(spot.interval || [])] : []))]);
const low = Math.min(...known), high = Math.max(...known), margin = (high - low || Math.abs(high) || 1) * 0.05;
const x = (d) => LEFT + (d / last) * (width - LEFT - RIGHT);
const y = (v) => TOP + ((high + margin - v) / (high - low + 2 * margin)) * (HEIGHT - TOP - BOTTOM);
const line = (points, drawn = () => true) => points.map(([d, v], k) => `${k && drawn(k) ? "L" : "M"}${x(d).toFixed(1)} ${y(v).toFixed(1)}`).join("");

function ticks(from, to) {
  const rough = (to - from) / 5 || 1, power = 10 ** Math.floor(Math.log10(rough));
  const unit = [1, 2, 5, 10].map((u) => u * power).find((u) => u >= rough), out = [];
  for (let k = Math.ceil(from / unit); k * unit <= to; k++) out.push(Number((k * unit).toPrecision(10)));
  return out;
}

function axes(chart) {
  for (const v of ticks(low - margin, high + margin)) {
    chart.append(element("line", {class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v)}));
    chart.append(element("text", {x: LEFT - 6, y: y(v) + 4, "text-anchor": "end"}, data.share ? `${digits(100 * v, 4)} %` : digits(v, 3)));
  }
  for (const d of ticks(0, last))
    chart.append(element("text", {x: x(d), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle"}, digits(d, 3)));
  chart.append(element("line", {class: "axis", x1: LEFT, x2: width - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM}));
  chart.append(element("text", {x: (width + LEFT) / 2, y: HEIGHT - 6, "text-anchor": "middle"}, "disparity"));
  chart.append(element("text", {x: 14, y: HEIGHT / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${HEIGHT / 2})`}, data.value));
}

function name(legend, text, stroke) {
  const key = element("span"), mark = element("svg", {viewBox: "0 0 36 10"});
  mark.append(element("line", {x1: 0, x2: 36, y1: 5, y2: 5, ...stroke}));
  key.append(mark, ` ${text}`);
  legend.append(key);
}

function draw(k) {
  const chart = document.getElementById("chart"), legend = document.getElementById("legend");
  width = Math.max(chart.clientWidth, 320); // text keeps its size
  chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  chart.replaceChildren();
  legend.replaceChildren();
  axes(chart);
  for (const one of shown()) {
    const spots = one.at.map((spot, j) => [steps[j], spot]).filter(([, spot]) => spot && spot.interval);
    if (spots.length) {
      const band = line([...spots.map(([d, spot]) => [d, spot.interval[1]]), ...spots.reverse().map(([d, spot]) => [d, spot.interval[0]])]);
      chart.append(element("path", {d: `${band}Z`, fill: one.colour, "fill-opacity": 0.13}));
    }
    const end = one.curve[one.curve.length - 1], curve = end[0] < last ? [...one.curve, [last, end[1]]] : one.curve;
    const stroke = {stroke: one.colour, "stroke-width": one.width, "stroke-dasharray": one.dashes, fill: "none"};
    const proven = (k) => [k - 1, k].every((j) => one.proven[Math.min(j, one.proven.length - 1)]);
    chart.append(element("path", {d: line(curve, proven), ...stroke}));
    chart.append(element("path", {d: line(curve, (k) => !proven(k)), ...stroke, ...PALE}));
    if (one.at[k]) chart.append(element("circle", {cx: x(steps[k]), cy: y(one.at[k].value), r: 5, fill: one.colour}));
    name(legend, one.name, stroke);
  }
  if (shown().some((one) => one.proven.includes(false))) name(legend, "not proven the best", {stroke: "gray", "stroke-width": 2, ...PALE});
  chart.append(element("line", {class: "now", x1: x(steps[k]), x2: x(steps[k]), y1: TOP, y2: HEIGHT - BOTTOM}));
}

function worth(value, interval) {
  const told = written(value) + span(interval, written);
  if (data.value === "accuracy") return `of 1,000 people, ${told} are decided rightly${data.by}`;
  return `the ${data.value}${data.by} is ${told}${data.share ? " in 1,000" : ""}`;
}

function sentence(one, spot) {
  if (!spot) {
    const [[d, value]] = one.curve, ends = span(one.smallest_interval, (v) => digits(v, 3));
    return `Not reached. The smallest disparity of this scheme${data.by} is ${digits(d, 3)}${ends}. There, ${worth(value, one.value_interval)}.`;
  }
  const told = worth(spot.value, spot.interval), all = told[0].toUpperCase() + told.slice(1);
  if (one === cfl) return `${all}.`;
  const less = Math.abs(spot.below) < 5e-6 ? "the same as with pooled data" :
    `${written(Math.abs(spot.below))} ${spot.below > 0 ? "fewer" : "more"} than with pooled data` +
    (spot.below > 0 ? span(spot.below_interval, written) : "");
  const unsure = spot.below > 5e-6 && spot.below_interval && spot.below_interval[0] < 5e-6;
  return `${all}: ${less}${unsure ? ", not distinguishable from pooling" : ""}.`;
}

function groups(spot) {
  const table = element("table"), head = element("tr");
  for (const name of ["group", ...data.rates.map((rate) => `of 1,000 ${rate}`), "who is accepted"]) head.append(element("th", {scope: "col"}, name));
  table.append(head);
  data.groups.forEach((group, a) => {
    const row = element("tr");
    row.append(element("th", {scope: "row"}, group));
    for (const rates of spot.rates) row.append(element("td", {}, rates[a] === null ? "nobody" : count(rates[a])));
    row.append(element("td", {}, spot.accepted[a]));
    table.append(row);
  });
  const wide = element("div", {class: "wide", tabindex: 0});
  wide.append(table);
  return wide;
}

function answer(k) {
  const parts = [];
  for (const one of shown()) {
    const spot = one.at[k];
    const title = one === cfl ? "Pooling all data (CFL)" : one.name;
    parts.push(element("h3", {style: `border-color:${one.colour}`}, title));
    parts.push(element("p", {class: "big"}, sentence(one, spot)));
    if (!spot) continue;
    const more = element("details");
    more.append(element("summary", {}, "groups and thresholds"), groups(spot));
    if (one !== cfl) more.append(element("p", {class: "soft"}, `Budgets${one.budgets ? " of the sites" : ""}: ${spot.budget}.`));
    more.open = opened.has(one.name);
    more.addEventListener("toggle", () => (more.open ? opened.add(one.name) : opened.delete(one.name)));
    parts.push(more);
  }
  document.getElementById("answers").replaceChildren(...parts);
}

const opened = new Set([cfl.name]);
function show() {
  const k = Number(slider.value);
  document.getElementById("disparity").textContent = digits(steps[k], 3);
  slider.setAttribute("aria-valuetext", `disparity ${digits(steps[k], 3)}`);
  draw(k);
  answer(k);
}
slider.max = steps.length - 1;
slider.value = steps.reduce((best, d, k) => (Math.abs(d - 0.05) < Math.abs(steps[best] - 0.05) ? k : best), 0);
form.addEventListener("input", show);
window.addEventListener("resize", show);
form.addEventListener("submit", (event) => event.preventDefault());
show();
