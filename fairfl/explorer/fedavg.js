"use strict";
const RATE = 30; // accuracy that a unit of a broken condition costs
const BESIDE = 192; // part of a multiplier's range that is searched on both sides of a minimum
const SURE = 1e-7; // rules that miss a condition by more are not shown

// LFT+FedAvg's frontier with a budget for each client, by a search over all multipliers but the
// last, which follows from the disparity.
class FedAvg extends FedAvgRules {
  // Ranges of the multipliers, from the rules of clients that are exactly fair, or not bound; and
  // the multipliers of the rule in which all clients are exactly fair.
  get box() {
    if (this.ranges) return this.ranges;
    const {weight, clients} = this.fed;
    const rules = Array.from({length: 2 ** clients - 1}, (_, some) =>
      this.solve(weight.map((_, i) => ((some + 1) & (2 ** i) ? 0 : Infinity))),
    );
    this.corners = rules.filter((rule) => this.broken(rule) <= SURE);
    this.ranges = weight.map((_, i) => {
      const ends = rules.map(({lam}) => lam[i]);
      const [low, high] = [Math.min(...ends), Math.max(...ends)];
      const beside = (high - low) / 100;
      return [low - beside, high + beside, ends[ends.length - 1]];
    });
    return this.ranges;
  }

  // How far the last multiplier may go.
  get span() {
    return 3 * Math.max(...this.box.flat().map(Math.abs));
  }

  // How far multipliers have the sign of their client's MD.
  broken({lam, local}) {
    return lam.reduce(
      (sum, one, i) =>
        sum + (one * local[i] > 0 ? Math.min(Math.abs(one), Math.abs(local[i])) : 0),
      0,
    );
  }

  // A budget for each client: the best rule with pooled MD of d, on the side of the free rule.
  at(d) {
    if (Math.abs(this.free.md) <= d) return this.free;
    const last = this.fed.clients - 1;
    const goal = this.sign * d;
    let rule = this.free;
    const value = (known) => {
      const start =
        rule.lam[last] +
        known.reduce((sum, one, i) => sum - rule.slopes[i] * (one - rule.lam[i]), goal - rule.md) /
          rule.slopes[last];
      rule = this.meet([...known, 0], last, goal, start);
      const merit = rule.accuracy - RATE * (this.broken(rule) + Math.abs(rule.md - goal));
      return {...rule, merit};
    };
    const best = search(value, this.box.slice(0, last));
    const alone = this.alone(goal);
    return [best, ...alone, ...this.corners, ...(this.smallest <= d ? [this.least] : [])]
      .filter((one) => this.broken(one) <= SURE && Math.abs(one.md) <= d + SURE)
      .reduce((one, two) => (one && one.accuracy >= two.accuracy ? one : two), null);
  }

  // The rule with pooled MD of `goal` and all multipliers but λ_i as in `lam`.
  meet(lam, i, goal, start = 0) {
    let rule = null;
    const f = (one) => {
      rule = this.rule(lam.with(i, one));
      return [rule.md - goal, rule.slopes[i]];
    };
    root(f, -this.span, this.span, start, MET);
    return rule;
  }

  // For each client the rule in which it alone is bound, with pooled MD of `goal`.
  alone(goal) {
    return this.box.map((_, i) => this.meet(this.free.lam, i, goal));
  }

  // The smallest disparity: of the last multiplier's interval in which no λ_i has the sign of
  // MD_i the end with the smallest MD.
  get smallest() {
    if (this.low !== undefined) return this.low;
    const {box, sign, span} = this;
    const last = box.length - 1;
    const zeros = box.map(() => 0);
    const value = (known) => {
      const zero = (i) => {
        const f = (one) => {
          const {local, jacobian} = this.rule([...known, one]);
          return [local[i], jacobian[i][last]];
        };
        zeros[i] = root(f, -span, span, zeros[i], MET);
        return zeros[i];
      };
      const own = zero(last);
      let [low, high] = [Math.min(own, 0), Math.max(own, 0)];
      known.forEach((one, i) => {
        if (one > 0) high = Math.min(high, zero(i));
        if (one < 0) low = Math.max(low, zero(i));
      });
      if (low > high) return {lam: known, merit: -2 - (low - high)};
      const rule = this.rule([...known, sign > 0 ? low : high]);
      const broken = this.broken(rule);
      return {...rule, merit: broken > SURE ? -2 - broken : -Math.max(sign * rule.md, 0)};
    };
    // minima may be closer to each other than the places of a search: once more around the first
    const first = search(value, box.slice(0, last).map(([low, high]) => [low, high]));
    const near = first.lam.slice(0, last).map((one, i) => {
      const far = (box[i][1] - box[i][0]) / BESIDE;
      return [one - far, one + far];
    });
    const second = first.merit < 0 ? search(value, near) : first;
    const others = [...this.corners, ...this.alone(0)]
      .filter((rule) => this.broken(rule) <= SURE)
      .map((rule) => ({...rule, merit: -Math.max(sign * rule.md, 0)}));
    this.least = [second, first, ...others].reduce((one, two) =>
      one.merit >= two.merit ? one : two,
    );
    this.low = -this.least.merit;
    return this.low;
  }

  // The best rule for one budget, and by how much it misses: an MD_i is no larger, and no
  // smaller where λ_i is not 0.
  budget(eps, start) {
    const budgets = this.fed.weight.map(() => eps);
    const rule = this.solve(budgets, start);
    const off = rule.budgets.map((own, i) => (rule.lam[i] ? Math.abs(own - eps) : own - eps));
    return {...rule, missed: Math.max(...off)};
  }
}
