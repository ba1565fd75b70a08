"use strict";
// The best rules of CFL, LFT+Ensemble and LFT+FedAvg in a browser or in node, to compare with fairfl's Python solvers.
// Two groups; clients with normal laws of x by group; η(x) = P(y = 1 | x) logistic; demographic parity; accuracy.
// With T(x) = 2η(x) − 1, accuracy is P(y = 0) plus the integral of T over what is accepted. MD is the difference of
// the groups' acceptance rates, group 0 first.

const POINTS = [0.04691007703066802, 0.23076534494715845, 0.5, 0.7692346550528415, 0.953089922969332];
const WEIGHTS = [0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324, 0.11846344252809454];
// Gauss and Legendre's rule on [0, 1].
const FAR = 9, CELLS = 96; // a law ends FAR standard deviations from its mean; cells of its table
const LEVELS = Array.from({length: 57}, (_, k) => k / 4 - 7); // standard deviations at which scores are looked at
const LARGEST = 350; // coordinates of multipliers, which are masses times tanh
const WIDEST = 20; // multipliers are below
const MET = 1e-13; // MD may miss a goal by this
const SURE = 1e-7; // rules that miss a condition by more are not shown
const STEPS = 100, STILL = 1e-14; // Newton's method
const NARROWED = 36, GOLDEN = (Math.sqrt(5) - 1) / 2; // golden-section search
const ROWS = 24, ROWS_OF_MANY = 10; // places that a search looks at first, of one coordinate or of several
const HOPE = 2e-2; // local maxima this far below the best row are searched too
const RATE = 30; // accuracy that a unit of a broken condition costs
const PATH = 64; // budgets of a path
const CURVES = [7, 40]; // parts of a frontier, at first and then

// A zero of an increasing function, whose value and slope `f` returns; the nearer end where there is none. Values up to
// `zero` count as zero.
function root(f, low, high, start = (low + high) / 2, zero = 0) {
  let x = Math.min(Math.max(start, low), high), before = Infinity;
  for (let step = 0; step < STEPS; step++) {
    const [value, slope] = f(x), size = Math.abs(value);
    if (size <= zero) return x;
    if (value > 0) high = x;
    else low = x;
    let next = x - value / slope;
    // halve the interval where Newton's method leaves it, or gains little
    if (!(next >= low && next <= high) || size > before / 2) next = (low + high) / 2;
    if (Math.abs(next - x) <= STILL * Math.abs(x) || next === x) return x;
    [x, before] = [next, size];
  }
  return x;
}

// The largest value of `f`, whose results have a `merit`, between two places around a local maximum.
function narrowed(f, low, high) {
  const inner = () => low + (1 - GOLDEN) * (high - low), outer = () => low + GOLDEN * (high - low);
  let one = f(inner()), two = f(outer());
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

// The result of `f` at the best coordinates in a box: even rows first, then golden-section search, one coordinate inside
// the other.
function search(f, box, known = []) {
  if (known.length === box.length) return f(known);
  const [low, high] = box[known.length];
  const at = (x) => search(f, box, [...known, x]);
  if (!(high > low)) return at(low);
  const rows = box.length === 1 ? ROWS : ROWS_OF_MANY;
  const x = Array.from({length: rows + 1}, (_, k) => low + (k / rows) * (high - low));
  const found = x.map(at), merit = found.map((one) => one.merit);
  const most = Math.max(...merit);
  let best = found[merit.indexOf(most)];
  for (let k = 0; k <= rows; k++) {
    const peak = merit[k] >= (merit[k - 1] ?? -Infinity) && merit[k] > (merit[k + 1] ?? -Infinity);
    if (!peak || merit[k] < most - HOPE) continue;
    const end = narrowed(at, x[Math.max(k - 1, 0)], x[Math.min(k + 1, rows)]);
    if (end.merit > best.merit) best = end;
  }
  return best;
}

// A normal law with the integrals above x of its density, and of T times it.
class Law {
  constructor(mean, sd, slope, intercept) {
    Object.assign(this, {mean, sd, scale: slope * sd, shift: slope * mean + intercept});
    this.tails = new Float64Array(CELLS + 1);
    this.gains = new Float64Array(CELLS + 1);
    for (let k = CELLS - 1; k >= 0; k--) [this.tails[k], this.gains[k]] = this.from((2 * FAR * k) / CELLS - FAR, k);
  }

  from(z, cell) {
    const width = (2 * FAR * (cell + 1)) / CELLS - FAR - z;
    let tail = 0, gain = 0;
    for (let k = 0; k < 5; k++) {
      const at = z + width * POINTS[k];
      const mass = WEIGHTS[k] * Math.exp((-at * at) / 2);
      tail += mass;
      gain += mass * (1 - 2 / (Math.exp(this.scale * at + this.shift) + 1));
    }
    const unit = width / Math.sqrt(2 * Math.PI);
    return [this.tails[cell + 1] + unit * tail, this.gains[cell + 1] + unit * gain];
  }

  above(x) {
    const z = (x - this.mean) / this.sd;
    if (z >= FAR) return [0, 0];
    if (z <= -FAR) return [this.tails[0], this.gains[0]];
    return this.from(z, Math.min(Math.floor(((z + FAR) * CELLS) / (2 * FAR)), CELLS - 1));
  }

  density(x) {
    const z = (x - this.mean) / this.sd;
    return Math.exp((-z * z) / 2) / (this.sd * Math.sqrt(2 * Math.PI));
  }
}

// The federation of a setting: mean and sd [client][group], share of group 1 and weight [client], slope and intercept.
class Federation {
  constructor({mean, sd, share, weight, slope, intercept}) {
    Object.assign(this, {slope, intercept, clients: mean.length});
    const total = weight.reduce((sum, w) => sum + w);
    this.weight = weight.map((w) => w / total);
    this.own = share.map((q) => [1 - q, q]); // P(a | i)
    this.mass = this.own.map((own, i) => own.map((m) => this.weight[i] * m)); // P(i, a)
    this.group = [0, 1].map((a) => this.mass.reduce((sum, m) => sum + m[a], 0)); // P(a)
    this.laws = mean.map((own, i) => own.map((m, a) => new Law(m, sd[i][a], slope, intercept)));
    this.negative = 0.5; // P(y = 0)
    this.mass.forEach((own, i) => own.forEach((m, a) => (this.negative -= (m * this.laws[i][a].gains[0]) / 2)));
  }

  // What a rule attains that accepts the intervals sets[a] of each group.
  measured(sets) {
    const rates = this.laws.map(() => [0, 0]);
    let accuracy = this.negative, md = 0;
    for (let i = 0; i < this.clients; i++)
      for (let a = 0; a < 2; a++) {
        let rate = 0, gain = 0;
        for (const [low, high] of sets[a]) {
          const [t, g] = this.laws[i][a].above(low), [s, h] = high === Infinity ? [0, 0] : this.laws[i][a].above(high);
          rate += t - s;
          gain += g - h;
        }
        rates[i][a] = rate;
        accuracy += this.mass[i][a] * gain;
        md += ((a ? -1 : 1) * this.mass[i][a] * rate) / this.group[a];
      }
    return {accuracy, md, local: rates.map(([zero, one]) => zero - one), sets};
  }

  // The rule of one fairness constraint whose groups have masses m, at the multiplier min(m)·tanh(u): thresholds with
  // η = 1/2 ∓ λ/(2 m_a), and their derivatives in u.
  thresholds(m, u) {
    const least = Math.min(...m), left = 2 / (Math.exp(2 * Math.abs(u)) + 1), lam = least * (1 - left);
    return [0, 1].map((a) => {
      const room = m[a] - least + least * left; // m_a − |λ|
      const sign = a ? 1 : -1, odds = Math.log((m[a] + lam) / room) * Math.sign(u);
      const slope = (2 * m[a] * least * left * (2 - left)) / (room * (m[a] + lam));
      return [(sign * odds - this.intercept) / this.slope, (sign * slope) / this.slope];
    });
  }

  // Such a rule's measures; its MD in client i, or pooled (null), increases in u with this slope.
  threshold(m, u, client = null) {
    const cuts = this.thresholds(m, u);
    const rule = this.measured(cuts.map(([t]) => [[t, Infinity]]));
    let slope = 0;
    cuts.forEach(([t, change], a) => {
      const weights = client === null ? this.mass.map((own) => own[a] / this.group[a]) : null;
      const density = weights
        ? weights.reduce((sum, w, i) => sum + w * this.laws[i][a].density(t), 0)
        : this.laws[client][a].density(t);
      slope += Math.abs(change) * density;
    });
    return {...rule, u, slope, asked: client === null ? rule.md : rule.local[client]};
  }

  // The one of such rules whose MD is `goal`.
  meet(m, goal, client = null, low = -LARGEST, high = LARGEST, start = 0) {
    let rule = null;
    root((u) => {
      rule = this.threshold(m, u, client);
      return [rule.asked - goal, rule.slope];
    }, low, high, start, MET);
    return rule;
  }
}

// CFL: the most accurate rule with pooled disparity at most d.
class Cfl {
  constructor(fed) {
    this.fed = fed;
    this.free = fed.threshold(fed.group, 0);
    this.smallest = 0;
  }

  at(d) {
    const {fed, free} = this;
    return Math.abs(free.md) <= d ? free : fed.meet(fed.group, Math.sign(free.md) * d);
  }
}

// LFT+Ensemble: client i's own rules run from u = 0 to its fair rule, u = far[i]. Pooled accuracy falls and pooled MD
// is monotone on the way, so that the best ensemble with disparity at most d has exactly d, on the side of u = 0.
class Ensemble {
  constructor(fed) {
    this.fed = fed;
    this.far = fed.own.map((own, i) => fed.meet(own, 0, i).u);
    const ends = [0, 1].map((share) => this.far.map((u, i) => this.member(i, share * u)));
    this.free = this.average(ends[0]);
    this.sign = Math.sign(this.free.md) || 1;
    this.least = ends[0].map((one, i) => (this.sign * ends[1][i].md < this.sign * one.md ? ends[1][i] : one));
    const lowest = this.average(this.least);
    this.smallest = Math.max(this.sign * lowest.md, 0);
  }

  member(i, u) {
    return this.fed.threshold(this.fed.own[i], u);
  }

  average(members) {
    let accuracy = 0, md = 0;
    const local = this.fed.weight.map(() => 0);
    members.forEach((one, i) => {
      accuracy += this.fed.weight[i] * one.accuracy;
      md += this.fed.weight[i] * one.md;
      one.local.forEach((own, k) => (local[k] += this.fed.weight[i] * own));
    });
    const budgets = members.map((one, i) => Math.abs(one.local[i]));
    return {accuracy, md, local, budgets, members: members.map((one) => one.sets)};
  }

  // A budget for each client.
  at(d) {
    if (Math.abs(this.free.md) <= d) return this.free;
    if (d < this.smallest) return null;
    const {fed, far, sign} = this, last = far.length - 1;
    const own = [Math.min(0, far[last]), Math.max(0, far[last])];
    let end = this.member(last, 0);
    const value = (u) => {
      const members = u.map((coordinate, i) => this.member(i, coordinate));
      let rest = sign * d;
      members.forEach((one, i) => (rest -= fed.weight[i] * one.md));
      const goal = rest / fed.weight[last];
      end = fed.meet(fed.own[last], goal, null, ...own, end.u + (goal - end.md) / end.slope);
      const missed = Math.abs(end.md - goal);
      const found = this.average([...members, end]);
      return {...found, merit: missed > 1e-9 ? -1 - missed : found.accuracy};
    };
    const best = search(value, far.slice(0, last).map((u) => [Math.min(0, u), Math.max(0, u)]));
    return best.merit < 0 ? this.average(this.least) : best;
  }

  // One budget for all clients.
  budget(eps) {
    return this.average(this.far.map((u, i) => {
      const free = this.member(i, 0).local[i];
      if (Math.abs(free) <= eps) return this.member(i, 0);
      const ends = [Math.min(0, u), Math.max(0, u)];
      return this.fed.meet(this.fed.own[i], Math.sign(free) * eps, i, ...ends, u / 2);
    }));
  }
}

// LFT+FedAvg: rules that accept where the score h = T + Σ_i P(i | x, a) (±λ_i / P(i, a)) is positive, for multipliers λ. Every
// MD_i and the pooled MD increase in every λ. A rule is the most accurate one for the budgets |MD_i| where no λ_i has
// the sign of MD_i.
class FedAvg {
  constructor(fed) {
    this.fed = fed;
    this.v = new Float64Array(fed.clients);
    this.dv = new Float64Array(fed.clients);
    this.grids = [0, 1].map((a) => this.grid(a));
    this.free = this.rule(fed.weight.map(() => 0));
    this.sign = Math.sign(this.free.md) || 1;
  }

  // Nodes in x, and there T and v_i = ±P(i | x, a) / P(i, a) with their derivatives.
  grid(a) {
    const own = this.fed.laws.map((laws) => laws[a]), n = own.length;
    const x = Float64Array.from(own.flatMap(({mean, sd}) => LEVELS.map((z) => mean + sd * z))).sort();
    const [t, rise, h, dh, ...tables] = Array.from({length: 4 + 2 * n}, () => new Float64Array(x.length));
    const v = tables.slice(0, n), dv = tables.slice(n);
    for (let k = 0; k < x.length; k++) {
      this.parts(a, x[k]);
      [t[k], rise[k]] = [this.t, this.rise];
      for (let i = 0; i < n; i++) [v[i][k], dv[i][k]] = [this.v[i], this.dv[i]];
    }
    return {x, t, rise, v, dv, h, dh};
  }

  // Sets T, its derivative, v and its derivative at x.
  parts(a, x) {
    const {laws, mass, slope, intercept, clients} = this.fed, {v, dv} = this;
    let top = -Infinity, total = 0, mean = 0;
    for (let i = 0; i < clients; i++) {
      const law = laws[i][a], z = (x - law.mean) / law.sd;
      v[i] = Math.log(mass[i][a] / law.sd) - (z * z) / 2;
      dv[i] = -z / law.sd;
      top = Math.max(top, v[i]);
    }
    for (let i = 0; i < clients; i++) total += v[i] = Math.exp(v[i] - top);
    for (let i = 0; i < clients; i++) mean += (v[i] / total) * dv[i];
    for (let i = 0; i < clients; i++) {
      v[i] *= (a ? -1 : 1) / (total * mass[i][a]);
      dv[i] = v[i] * (dv[i] - mean);
    }
    const negative = 1 / (Math.exp(slope * x + intercept) + 1);
    this.t = 1 - 2 * negative;
    this.rise = 2 * slope * negative * (1 - negative);
  }

  // The score and its derivative at x.
  score(a, lam, x) {
    this.parts(a, x);
    let h = this.t, dh = this.rise;
    for (let i = 0; i < lam.length; i++) {
      h += lam[i] * this.v[i];
      dh += lam[i] * this.dv[i];
    }
    return [h, dh];
  }

  // Where the score of group a is zero, and whether it is positive before.
  cuts(a, lam) {
    const {x, t, rise, v, dv, h, dh} = this.grids[a], out = [];
    const at = (place, sign) => {
      const [h, dh] = this.score(a, lam, place);
      return [sign * h, sign * dh];
    };
    h.set(t);
    dh.set(rise);
    for (let i = 0; i < lam.length; i++) {
      const one = lam[i], own = v[i], steep = dv[i];
      for (let k = 0; k < x.length; k++) {
        h[k] += one * own[k];
        dh[k] += one * steep[k];
      }
    }
    for (let k = 1; k < x.length; k++) {
      const side = h[k] > 0 ? 1 : -1, low = x[k - 1], high = x[k];
      if (h[k - 1] > 0 !== h[k] > 0) out.push(root((place) => at(place, side), low, high));
      else if (side * dh[k - 1] < 0 && side * dh[k] > 0) {
        const turn = this.turn((place) => at(place, side), low, high, side * h[k - 1], side * dh[k - 1]);
        if (turn !== null)
          out.push(root((place) => at(place, -side), low, turn), root((place) => at(place, side), turn, high));
      }
    }
    return {cuts: out, first: h[0] > 0};
  }

  // A place where a function with a minimum between two places is negative, or null: by halving, until its tangents
  // cross above zero.
  turn(f, low, high, value, slope) {
    let left = [value, slope], right = f(high);
    for (let step = 0; step < STEPS; step++) {
      const x = (right[0] - left[0] + low * left[1] - high * right[1]) / (left[1] - right[1]);
      if (left[0] + left[1] * (x - low) > 0 || !(x > low && x < high)) return null;
      const middle = f((low + high) / 2);
      if (middle[0] < 0) return (low + high) / 2;
      if (middle[1] < 0) [low, left] = [(low + high) / 2, middle];
      else [high, right] = [(low + high) / 2, middle];
    }
    return null;
  }

  rule(lam) {
    const {fed} = this, n = fed.clients;
    const jacobian = lam.map(() => lam.map(() => 0)), slopes = lam.map(() => 0);
    const sets = this.grids.map((_, a) => {
      const {cuts, first} = this.cuts(a, lam);
      for (const x of cuts) {
        const steep = Math.max(Math.abs(this.score(a, lam, x)[1]), 1e-9);
        const own = fed.laws.map((laws) => laws[a].density(x));
        const pooled = own.reduce((sum, one, i) => sum + one * fed.mass[i][a], 0);
        for (let i = 0; i < n; i++) {
          slopes[i] += own[i] / (fed.group[a] * steep);
          for (let k = 0; k < n; k++) if (pooled > 0) jacobian[i][k] += (own[i] * own[k]) / (pooled * steep);
        }
      }
      const ends = [...(first ? [-Infinity] : []), ...cuts, Infinity], intervals = [];
      for (let k = 0; k + 1 < ends.length; k += 2) intervals.push([ends[k], ends[k + 1]]);
      return intervals;
    });
    const found = fed.measured(sets);
    return {...found, lam, jacobian, slopes, budgets: found.local.map(Math.abs)};
  }

  // The best rule for budgets whose first multipliers are `known`. The dual is convex: MD_k increases in λ_k while the
  // later multipliers follow, with the slope that eliminating these leaves in the Jacobian. Starts from `near`.
  solve(eps, near = eps.map(() => 0), known = []) {
    const k = known.length;
    if (k === eps.length) return this.rule(known);
    let found = this.solve(eps, near, [...known, 0]);
    const md = found.local[k], side = -Math.sign(md), goal = -side * eps[k];
    if (Math.abs(md) <= eps[k]) return found;
    const start = near[k] * side > 0 ? near[k] : (goal - md) / found.jacobian[k][k];
    root((one) => {
      found = this.solve(eps, near, [...known, one]);
      return [found.local[k] - goal, found.jacobian[k][k]];
    }, Math.min(0, side * WIDEST), Math.max(0, side * WIDEST), start, MET);
    near[k] = found.lam[k];
    const own = found.jacobian[k];
    const jacobian = found.jacobian.map((row) => row.map((one, j) => one - (row[k] * own[j]) / own[k]));
    return {...found, jacobian};
  }

  // Ranges of the multipliers, from the rules of clients that are exactly fair, or not bound.
  get box() {
    if (this.ranges) return this.ranges;
    const n = this.fed.clients, reach = this.fed.weight.map(() => 1e-3);
    for (let some = 1; some < 2 ** n; some++) {
      const {lam} = this.solve(reach.map((_, i) => (some & (2 ** i) ? 0 : Infinity)));
      lam.forEach((one, i) => (reach[i] = Math.max(reach[i], Math.abs(one))));
    }
    this.ranges = reach.map((r) => [-1.01 * r, 1.01 * r]);
    return this.ranges;
  }

  // How far multipliers have the sign of their client's MD.
  broken({lam, local}) {
    return lam.reduce((sum, one, i) => sum + (one * local[i] > 0 ? Math.min(Math.abs(one), Math.abs(local[i])) : 0), 0);
  }

  // A budget for each client: the best rule with pooled MD of d, on the side of the free rule.
  at(d) {
    if (Math.abs(this.free.md) <= d) return this.free;
    const last = this.fed.clients - 1, [low, high] = this.box[last], goal = this.sign * d;
    let rule = this.free;
    const value = (known) => {
      const start = rule.lam[last] + known.reduce(
        (sum, one, i) => sum - rule.slopes[i] * (one - rule.lam[i]), goal - rule.md) / rule.slopes[last];
      root((one) => {
        rule = this.rule([...known, one]);
        return [rule.md - goal, rule.slopes[last]];
      }, 3 * low, 3 * high, start, MET);
      return {...rule, merit: rule.accuracy - RATE * (this.broken(rule) + Math.abs(rule.md - goal))};
    };
    const best = search(value, this.box.slice(0, last));
    if (this.broken(best) + Math.abs(best.md - goal) <= SURE) return best;
    return this.smallest <= d && this.smallest === Math.abs(this.least.md) ? this.least : null;
  }

  // The smallest disparity: of the last multiplier's interval in which no λ_i has the sign of MD_i the end with the
  // smallest MD.
  get smallest() {
    if (this.low !== undefined) return this.low;
    const {box, sign} = this, last = box.length - 1;
    const value = (known) => {
      let [low, high] = box[last].map((end) => 3 * end);
      const zero = (i) => root((one) => {
        const {local, jacobian} = this.rule([...known, one]);
        return [local[i], jacobian[i][last]];
      }, 3 * box[last][0], 3 * box[last][1], 0, MET);
      const own = zero(last);
      [low, high] = [Math.max(low, Math.min(own, 0)), Math.min(high, Math.max(own, 0))];
      known.forEach((one, i) => {
        if (one > 0) high = Math.min(high, zero(i));
        if (one < 0) low = Math.max(low, zero(i));
      });
      if (low > high) return {merit: -2 - (low - high)};
      const rule = this.rule([...known, sign > 0 ? low : high]);
      return {...rule, merit: -Math.max(sign * rule.md, 0)};
    };
    this.least = search(value, box.slice(0, last));
    this.low = -this.least.merit;
    return this.low;
  }

  budget(eps, start) {
    const rule = this.solve(this.fed.weight.map(() => eps), start);
    return {...rule, missed: Math.max(0, ...rule.budgets) - eps};
  }
}

// The path of one budget for all clients, from none to zero. Accuracy increases with the budget, so that the best
// solution for a disparity has the largest budget that keeps it.
class Common {
  constructor(scheme) {
    this.scheme = scheme;
    this.free = scheme.free;
    const top = Math.max(...scheme.free.budgets);
    this.path = [];
    for (let k = 0; k <= PATH; k++) this.path.push(this.budget(top * (1 - k / PATH)));
    const size = this.path.map(({md}) => Math.abs(md)), k = size.indexOf(Math.min(...size));
    this.least = this.path[k];
    const beside = [this.path[Math.max(k - 1, 0)], this.path[Math.min(k + 1, PATH)]];
    if (beside[0].md * beside[1].md > 0) {
      const end = narrowed((eps) => this.budget(eps), beside[1].eps, beside[0].eps);
      if (end.merit > -size[k]) this.least = end;
    } else this.least = this.meet(...(beside[0].md * this.least.md > 0 ? [this.least, beside[1]] : [beside[0], this.least]), 0);
    this.path.push(this.least);
    this.path.sort((one, two) => two.eps - one.eps);
    this.smallest = Math.abs(this.least.md) <= 1e-12 ? 0 : Math.abs(this.least.md);
  }

  budget(eps) {
    const near = this.path.length ? [...this.path[this.path.length - 1].lam ?? []] : undefined;
    const rule = this.scheme.budget(eps, near);
    return {...rule, eps, merit: -Math.abs(rule.md)};
  }

  at(d) {
    const k = this.path.findIndex(({md}) => Math.abs(md) <= d);
    const found = k > 0 ? this.meet(this.path[k - 1], this.path[k], d) : this.path[k];
    return found && !(found.missed > SURE) ? found : null;
  }

  // The solution with disparity d between one with more and one with at most d: false position (Illinois).
  meet(more, less, d) {
    const sign = Math.sign(more.md);
    let [far, value] = [more.eps, sign * more.md - d], [near, other] = [less.eps, sign * less.md - d], best = less;
    for (let step = 0; step < STEPS && Math.abs(other) > MET && far !== near; step++) {
      const eps = (far * other - near * value) / (other - value), rule = this.budget(eps), next = sign * rule.md - d;
      if (next <= MET) best = rule;
      if (next * other < 0) [far, value] = [near, other];
      else value /= 2;
      [near, other] = [eps, next];
    }
    return best;
  }
}
// The three schemes' frontiers, and their rules at disparity d, scheme by scheme; first of few points, then of more.
// Yields null in between, where a page may draw.
function* explored(setting, budgets, d) {
  const fed = new Federation(setting), common = budgets === "common";
  const schemes = {cfl: new Cfl(fed)};
  const own = {lft_fedavg: FedAvg, lft_ensemble: Ensemble};
  for (const points of CURVES)
    for (const name of ["cfl", "lft_ensemble", "lft_fedavg"]) {
      if (!schemes[name]) schemes[name] = common ? new Common(new own[name](fed)) : new own[name](fed);
      yield null;
      const scheme = schemes[name], top = Math.abs(scheme.free.md), low = Math.min(scheme.smallest, top);
      const rules = [];
      let best = null;
      const better = (target) => {
        const rule = scheme.at(target);
        if (rule && !(best && best.accuracy > rule.accuracy)) best = rule;
        return best;
      };
      for (let k = 0; k <= points; k++) {
        yield null;
        if (better(low + (top - low) * (k / points) ** 1.5)) rules.push(best);
      }
      best = rules.findLast(({md}) => Math.abs(md) <= d + MET) || null;
      const now = d < low ? null : better(d);
      yield {name, low, now, curve: rules.map(({md, accuracy}) => [Math.abs(md), accuracy])};
    }
}

if (typeof module !== "undefined")
  module.exports = {Federation, Cfl, Ensemble, FedAvg, Common, explored};
