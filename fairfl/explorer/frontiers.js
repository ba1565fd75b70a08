"use strict";
const PATH = 64; // budgets of a path
const CURVES = [4, 40]; // parts of a frontier, at first and then
const PROVEN = 1e-6; // a point this close to CFL's frontier is the best

// The path of one budget for all clients, from none to zero. Accuracy increases with the budget,
// so that the best solution for a disparity has the largest budget that keeps it.
class Common {
  constructor(scheme) {
    this.scheme = scheme;
    this.free = scheme.free;
    this.sign = scheme.sign;
    const top = Math.max(...scheme.free.budgets);
    this.path = [];
    for (let k = 0; k <= PATH; k++) this.path.push(this.budget(top * (1 - k / PATH)));
    // between two budgets the disparity may be smaller than at both
    const peaks = this.path.filter(
      ({merit}, k, path) =>
        merit < 0 && !(merit < path[k - 1]?.merit) && !(merit <= path[k + 1]?.merit),
    );
    for (const peak of peaks) {
      const k = this.path.indexOf(peak);
      const [more, less] = [Math.max(k - 1, 0), Math.min(k + 1, this.path.length - 1)];
      const end = narrowed((eps) => this.budget(eps), this.path[less].eps, this.path[more].eps);
      if (end.merit > peak.merit) this.path.splice(end.eps > peak.eps ? k : k + 1, 0, end);
    }
    const crossing = this.crossed(-1);
    if (crossing > 0) this.least = this.meet(this.path[crossing - 1], this.path[crossing], 0);
    else this.least = this.path.reduce((one, two) => (one.merit >= two.merit ? one : two));
    this.path.push(this.least);
    this.path.sort((one, two) => two.eps - one.eps);
    this.smallest = Math.abs(this.least.md) <= MET ? 0 : Math.abs(this.least.md);
  }

  budget(eps) {
    const near = this.path.length ? [...(this.path[this.path.length - 1].lam ?? [])] : undefined;
    const rule = this.scheme.budget(eps, near);
    const merit = rule.missed > SURE ? -1 - rule.missed : -this.sign * rule.md;
    return {...rule, eps, merit};
  }

  // The first place of the path with at most disparity d, or behind a change of the sign of MD.
  crossed(d) {
    return this.path.findIndex(
      ({md}, k) => Math.abs(md) <= d + MET || (k > 0 && md * this.path[k - 1].md < 0),
    );
  }

  at(d) {
    const k = this.crossed(d);
    const found = k > 0 ? this.meet(this.path[k - 1], this.path[k], d) : this.path[k];
    if (!found || found.missed > SURE || Math.abs(found.md) > d + SURE) return null;
    return found;
  }

  // The solution with disparity d between one with more and one with at most d: false position
  // (Illinois).
  meet(more, less, d) {
    const sign = Math.sign(more.md);
    let [far, value] = [more.eps, sign * more.md - d];
    let [near, other] = [less.eps, sign * less.md - d];
    let best = less;
    for (let step = 0; step < STEPS && Math.abs(other) > MET && far !== near; step++) {
      const eps = (far * other - near * value) / (other - value);
      const rule = this.budget(eps);
      const next = sign * rule.md - d;
      if (next <= MET) best = rule;
      if (next * other < 0) [far, value] = [near, other];
      else value /= 2;
      [near, other] = [eps, next];
    }
    return best;
  }
}

// The three schemes' frontiers, and their rules at disparity d, scheme by scheme; first of few
// points, then of more. Yields null in between, where a page may draw.
function* explored(setting, budgets, d) {
  const fed = new Federation(setting);
  const common = budgets === "common";
  const schemes = {cfl: new Cfl(fed)};
  const own = {lft_fedavg: FedAvg, lft_ensemble: Ensemble};
  for (const points of CURVES)
    for (const name of ["cfl", "lft_ensemble", "lft_fedavg"]) {
      if (!schemes[name])
        schemes[name] = common ? new Common(new own[name](fed)) : new own[name](fed);
      yield null;
      const scheme = schemes[name];
      const top = Math.abs(scheme.free.md);
      const low = Math.min(scheme.smallest, top);
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
      const curve = rules.map(({md, accuracy}) => [Math.abs(md), accuracy]);
      const proven = curve.map(([at, accuracy]) => schemes.cfl.at(at).accuracy - accuracy <= PROVEN);
      yield {name, low, now, curve, proven};
    }
}
