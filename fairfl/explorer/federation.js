"use strict";
// Federations of two groups, whose clients have normal laws of x by group and one logistic η;
// rules with a threshold for each group, and CFL. With T = 2η − 1, accuracy is P(y = 0) plus the
// integral of T over what is accepted. MD is the difference of the groups' acceptance rates,
// that of group 0 first.

// Gauss and Legendre's rule on [0, 1].
const POINTS = [
  0.04691007703066802, 0.23076534494715845, 0.5, 0.7692346550528415, 0.953089922969332,
];
const WEIGHTS = [
  0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
  0.11846344252809454,
];
const FAR = 38; // a law ends so many standard deviations from its mean
const CELLS = 400; // of a law's table
const LARGEST = 350; // coordinates of multipliers, which are masses times tanh
const MET = 1e-13; // MD may miss a goal by this

// A normal law with the integrals above x of its density, and of T times it.
class Law {
  constructor(mean, sd, slope, intercept) {
    Object.assign(this, {mean, sd, scale: slope * sd, shift: slope * mean + intercept});
    this.tails = new Float64Array(CELLS + 1);
    this.gains = new Float64Array(CELLS + 1);
    for (let k = CELLS - 1; k >= 0; k--)
      [this.tails[k], this.gains[k]] = this.from((2 * FAR * k) / CELLS - FAR, k);
  }

  from(z, cell) {
    const width = (2 * FAR * (cell + 1)) / CELLS - FAR - z;
    let tail = 0;
    let gain = 0;
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

  // P(Z > z) of the standard normal law.
  tail(z) {
    return this.above(this.mean + this.sd * z)[0];
  }

  density(x) {
    const z = (x - this.mean) / this.sd;
    return Math.exp((-z * z) / 2) / (this.sd * Math.sqrt(2 * Math.PI));
  }
}

// The federation of a setting: mean and sd [client][group], share of group 1 and weight
// [client], slope and intercept.
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
    this.mass.forEach((own, i) =>
      own.forEach((m, a) => (this.negative -= (m * this.laws[i][a].gains[0]) / 2)),
    );
  }

  // What a rule attains that accepts the intervals sets[a] of each group.
  measured(sets) {
    const rates = this.laws.map(() => [0, 0]);
    let accuracy = this.negative;
    let md = 0;
    for (let i = 0; i < this.clients; i++)
      for (let a = 0; a < 2; a++) {
        let rate = 0;
        let gain = 0;
        for (const [low, high] of sets[a]) {
          const [t, g] = this.laws[i][a].above(low);
          const [s, h] = high === Infinity ? [0, 0] : this.laws[i][a].above(high);
          rate += t - s;
          gain += g - h;
        }
        rates[i][a] = rate;
        accuracy += this.mass[i][a] * gain;
        md += ((a ? -1 : 1) * this.mass[i][a] * rate) / this.group[a];
      }
    return {accuracy, md, local: rates.map(([zero, one]) => zero - one), sets};
  }

  // The rule of one fairness constraint whose groups have masses m, at the multiplier
  // min(m)·tanh(u): thresholds with η = 1/2 ∓ λ/(2 m_a), and their derivatives in u.
  thresholds(m, u) {
    const least = Math.min(...m);
    const left = 2 / (Math.exp(2 * Math.abs(u)) + 1);
    const lam = least * (1 - left);
    return [0, 1].map((a) => {
      const room = m[a] - least + least * left; // m_a − |λ|
      const sign = a ? 1 : -1;
      const odds = Math.log((m[a] + lam) / room) * Math.sign(u);
      const slope = (2 * m[a] * least * left * (2 - left)) / (room * (m[a] + lam));
      return [(sign * odds - this.intercept) / this.slope, (sign * slope) / this.slope];
    });
  }

  // MD of client i at thresholds, from the masses below them where these are smaller: an MD of
  // 1e-20 has a sign.
  difference(i, [[zero], [one]]) {
    const [z, y] = [zero, one].map((t, a) => (t - this.laws[i][a].mean) / this.laws[i][a].sd);
    const tail = (at) => this.laws[i][0].tail(at);
    return z < 0 && y < 0 ? tail(-y) - tail(-z) : tail(z) - tail(y);
  }

  // Such a rule's measures; its MD in client i, or pooled (null), increases in u with this
  // slope.
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
    return {...rule, u, slope, asked: client === null ? rule.md : this.difference(client, cuts)};
  }

  // The one of such rules whose MD is `goal`, within `zero`.
  meet(m, goal, client = null, low = -LARGEST, high = LARGEST, start = 0, zero = MET) {
    let rule = null;
    root(
      (u) => {
        rule = this.threshold(m, u, client);
        return [rule.asked - goal, rule.slope];
      },
      low,
      high,
      start,
      zero,
    );
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
