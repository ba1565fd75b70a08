"use strict";
const LEVELS = Array.from({length: 57}, (_, k) => k / 4 - 7); // standard deviations of the nodes
const WIDEST = 20; // multipliers are below
const FLATTEST = 1e-9; // a score is taken to be as steep at its zeros

// LFT+FedAvg: rules that accept where the score h = T + Σ_i P(i | x, a) (±λ_i / P(i, a)) is
// positive, for multipliers λ. Every MD_i and the pooled MD increase in every λ. A rule is the
// most accurate one for the budgets |MD_i| where no λ_i has the sign of MD_i.
class FedAvgRules {
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
    const own = this.fed.laws.map((laws) => laws[a]);
    const n = own.length;
    const x = Float64Array.from(
      own.flatMap(({mean, sd}) => LEVELS.map((z) => mean + sd * z)),
    ).sort();
    const [t, rise, h, dh, ...tables] = Array.from(
      {length: 4 + 2 * n},
      () => new Float64Array(x.length),
    );
    const v = tables.slice(0, n);
    const dv = tables.slice(n);
    for (let k = 0; k < x.length; k++) {
      this.parts(a, x[k]);
      [t[k], rise[k]] = [this.t, this.rise];
      for (let i = 0; i < n; i++) [v[i][k], dv[i][k]] = [this.v[i], this.dv[i]];
    }
    return {x, t, rise, v, dv, h, dh};
  }

  // Sets T, its derivative, v and its derivative at x.
  parts(a, x) {
    const {laws, mass, slope, intercept, clients} = this.fed;
    const {v, dv} = this;
    let top = -Infinity;
    let total = 0;
    let mean = 0;
    for (let i = 0; i < clients; i++) {
      const law = laws[i][a];
      const z = (x - law.mean) / law.sd;
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
    let h = this.t;
    let dh = this.rise;
    for (let i = 0; i < lam.length; i++) {
      h += lam[i] * this.v[i];
      dh += lam[i] * this.dv[i];
    }
    return [h, dh];
  }

  // Where the score of group a is zero, and whether it is positive before.
  cuts(a, lam) {
    const {x, t, rise, v, dv, h, dh} = this.grids[a];
    const out = [];
    const at = (place, sign) => {
      const [h, dh] = this.score(a, lam, place);
      return [sign * h, sign * dh];
    };
    h.set(t);
    dh.set(rise);
    for (let i = 0; i < lam.length; i++) {
      const one = lam[i];
      const own = v[i];
      const steep = dv[i];
      for (let k = 0; k < x.length; k++) {
        h[k] += one * own[k];
        dh[k] += one * steep[k];
      }
    }
    for (let k = 1; k < x.length; k++) {
      const side = h[k] > 0 ? 1 : -1;
      const low = x[k - 1];
      const high = x[k];
      if (h[k - 1] > 0 !== h[k] > 0) out.push(root((place) => at(place, side), low, high));
      else if (side * dh[k - 1] < 0 && side * dh[k] > 0) {
        const turn = this.turn(
          (place) => at(place, side),
          low,
          high,
          side * h[k - 1],
          side * dh[k - 1],
        );
        if (turn !== null)
          out.push(
            root((place) => at(place, -side), low, turn),
            root((place) => at(place, side), turn, high),
          );
      }
    }
    return {cuts: out, first: h[0] > 0};
  }

  // A place where a function with a minimum between two places is negative, or null: by halving,
  // until its tangents cross above zero.
  turn(f, low, high, value, slope) {
    let left = [value, slope];
    let right = f(high);
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
    const {fed} = this;
    const n = fed.clients;
    const jacobian = lam.map(() => lam.map(() => 0));
    const slopes = lam.map(() => 0);
    const sets = this.grids.map((_, a) => {
      const {cuts, first} = this.cuts(a, lam);
      for (const x of cuts) {
        const steep = Math.max(Math.abs(this.score(a, lam, x)[1]), FLATTEST);
        const own = fed.laws.map((laws) => laws[a].density(x));
        const pooled = own.reduce((sum, one, i) => sum + one * fed.mass[i][a], 0);
        for (let i = 0; i < n; i++) {
          slopes[i] += own[i] / (fed.group[a] * steep);
          for (let k = 0; k < n; k++)
            if (pooled > 0) jacobian[i][k] += (own[i] * own[k]) / (pooled * steep);
        }
      }
      const ends = [...(first ? [-Infinity] : []), ...cuts, Infinity];
      const intervals = [];
      for (let k = 0; k + 1 < ends.length; k += 2) intervals.push([ends[k], ends[k + 1]]);
      return intervals;
    });
    const found = fed.measured(sets);
    return {...found, lam, jacobian, slopes, budgets: found.local.map(Math.abs)};
  }

  // The best rule for budgets whose first multipliers are `known`. The dual is convex: MD_k
  // increases in λ_k while the later multipliers follow, with the slope that eliminating these
  // leaves in the Jacobian. Starts from `near`.
  solve(eps, near = eps.map(() => 0), known = []) {
    const k = known.length;
    if (k === eps.length) return this.rule(known);
    let found = this.solve(eps, near, [...known, 0]);
    const md = found.local[k];
    const side = -Math.sign(md);
    const goal = -side * eps[k];
    if (Math.abs(md) <= eps[k]) return found;
    const start = near[k] * side > 0 ? near[k] : (goal - md) / found.jacobian[k][k];
    root(
      (one) => {
        found = this.solve(eps, near, [...known, one]);
        return [found.local[k] - goal, found.jacobian[k][k]];
      },
      Math.min(0, side * WIDEST),
      Math.max(0, side * WIDEST),
      start,
      MET,
    );
    near[k] = found.lam[k];
    const own = found.jacobian[k];
    const jacobian = found.jacobian.map((row) =>
      row.map((one, j) => one - (row[k] * own[j]) / own[k]),
    );
    return {...found, jacobian};
  }
}
