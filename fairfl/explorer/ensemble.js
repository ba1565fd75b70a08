"use strict";
// LFT+Ensemble: client i's own rules run from u = 0 to its fair rule, u = far[i]. Pooled
// accuracy falls and pooled MD is monotone on the way, so that the best ensemble with disparity
// at most d has exactly d, on the side of u = 0.
class Ensemble {
  constructor(fed) {
    this.fed = fed;
    this.far = fed.own.map((own, i) => fed.meet(own, 0, i, -LARGEST, LARGEST, 0, 0).u);
    const ends = [0, 1].map((share) => this.far.map((u, i) => this.member(i, share * u)));
    this.free = this.average(ends[0]);
    this.sign = Math.sign(this.free.md) || 1;
    this.least = ends[0].map((one, i) =>
      this.sign * ends[1][i].md < this.sign * one.md ? ends[1][i] : one,
    );
    const lowest = this.average(this.least);
    this.smallest = Math.max(this.sign * lowest.md, 0);
  }

  member(i, u) {
    return this.fed.threshold(this.fed.own[i], u);
  }

  // MD of client i under its own rule.
  own(i, u) {
    return this.fed.difference(i, this.fed.thresholds(this.fed.own[i], u));
  }

  average(members) {
    let accuracy = 0;
    let md = 0;
    const local = this.fed.weight.map(() => 0);
    members.forEach((one, i) => {
      accuracy += this.fed.weight[i] * one.accuracy;
      md += this.fed.weight[i] * one.md;
      one.local.forEach((own, k) => (local[k] += this.fed.weight[i] * own));
    });
    const budgets = members.map((one, i) => Math.abs(this.own(i, one.u)));
    return {accuracy, md, local, budgets, members: members.map((one) => one.sets)};
  }

  // A budget for each client.
  at(d) {
    if (Math.abs(this.free.md) <= d) return this.free;
    if (d < this.smallest) return null;
    const {fed, far, sign} = this;
    const last = far.length - 1;
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
    const best = search(
      value,
      far.slice(0, last).map((u) => [Math.min(0, u), Math.max(0, u)]),
    );
    return best.merit < 0 ? this.average(this.least) : best;
  }

  // One budget for all clients.
  budget(eps) {
    return this.average(
      this.far.map((u, i) => {
        const free = this.own(i, 0);
        if (Math.abs(free) <= eps) return this.member(i, 0);
        const ends = [Math.min(0, u), Math.max(0, u)];
        return this.fed.meet(this.fed.own[i], Math.sign(free) * eps, i, ...ends, u / 2, MET * eps);
      }),
    );
  }
}
