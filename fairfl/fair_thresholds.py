"""Fair thresholds of a score for each group, as an estimator of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import (
    _safe_indexing,
    assert_all_finite,
    check_consistent_length,
    check_random_state,
    get_tags,
)
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter, validate_data

from fairfl._support.checks import (
    Array,
    as_labels,
    broadcast,
    coded,
    in_range,
    one_of,
    pos_code,
    shown,
)
from fairfl.reports.guarantee import limits_of, of_rows
from fairfl.reports.question import Question
from fairfl.solvers.api import solve
from fairfl.solvers.guarantee import Promise, guaranteed
from fairfl.solvers.schemes import SOLVED, SchemeName
from fairfl.theory.populations.cells import FOLDS
from fairfl.theory.populations.classifiers import places
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.count_people import intersections
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import ALIASES, NOTIONS

Labels = ArrayLike | None


class FairThresholds(ClassifierMixin, BaseEstimator):
    """The most accurate rule of a score under a budget on the groups' disparity.

    A score is learned from X, people's own scores out of fold; then :func:`fairfl.solve` gives the
    scheme's optimal rule, thresholds for each group that may accept a share of the people at one of
    them.

    Parameters
    ----------
    scheme : "cfl", "lft_fedavg", "lft_ensemble", or "client_aware", whose rule sees the client.
    eps : the budget: of "cfl" and "client_aware" on the pooled disparity, of the others on each
        client's own; one number, or (I,) for the clients in sorted order.
    local_eps, notion, difference, costs, sees, monotone : see :func:`fairfl.solve`; with sees="x"
        the rule needs no groups to decide.
    estimator : classifier of scikit-learn with ``predict_proba``, from which the score is, given X
        as it is; None: logistic regression on standardised features; "passthrough": X is the score,
        one column, or several numbers of a person. With sees="x" it is fitted to the groups too,
        and the rule is of cells of these chances; but with monotone=True, which needs the order of
        one score, of P(y = 1 | x) alone.
    levels, calibrate : see :meth:`fairfl.Federation.from_samples`, with its warnings.
    guarantee : a probability, such as 0.95, with which the rule keeps eps among all people such as
        these, whatever their distribution: some of them learn the score and a family of rules, the
        others test these. eps limits the pooled disparity, of "lft_fedavg" each client's; there the
        rule may leave a part to a constant. None: eps limits the disparity of the people at hand.
    random_state : of ``predict``, unless it is given one: a seed, or a generator of numpy.
    pos_label : the label that is y = 1, which costs and notions count from; None: the later in
        sorted order.

    Attributes
    ----------
    classes_ : (2,) the labels in sorted order.
    estimator_ : fitted to all rows; None with "passthrough".  estimators_ : that and those of the
        groups.
    federation_, solution_ : what was solved, and its certified solution.
    rule_ : :class:`fairfl.Classifier` of the score; ``rule_.to_json()`` is what ``fairfl apply``
        reads. Of "client_aware" one for each client.
    guarantee_ : what the rule rests on, with ``guarantee``: ``people``, how many tested it.

    Raises
    ------
    RuntimeError : ``fit`` finds no rule with the guarantee; it says how many people would do.

    Notes
    -----
    ``fit`` without ``sensitive_features`` knows one group, and no budget binds. ``cross_validate``
    and ``GridSearchCV`` deal out groups, clients and weights by scikit-learn's metadata routing.

    Examples
    --------
    >>> import numpy as np
    >>> import fairfl as ff
    >>> rng = np.random.default_rng(0)
    >>> sex, site = rng.choice(["f", "m"], 3000), rng.integers(0, 3, 3000)
    >>> X = rng.normal(size=(3000, 2)) + (sex == "m")[:, None]
    >>> y = rng.random(3000) < 1 / (1 + np.exp(-X.sum(axis=1)))
    >>> model = ff.FairThresholds("cfl", eps=0.02)
    >>> yes = model.fit(X, y, sensitive_features=sex, client=site).predict(
    ...     X, sensitive_features=sex, random_state=0
    ... )
    >>> bool(abs(yes[sex == "f"].mean() - yes[sex == "m"].mean()) < 0.06)
    True
    """

    def __init__(
        self,
        scheme: SchemeName = "cfl",
        eps: ArrayLike = 0.05,
        notion: str = "demographic_parity",
        *,
        estimator: Any = None,
        local_eps: ArrayLike | None = None,
        difference: str = "pairwise",
        costs: Any = (1.0, 1.0),
        sees: str = "xa",
        monotone: bool = False,
        levels: int | None = None,
        calibrate: str = "auto",
        guarantee: float | None = None,
        random_state: Any = None,
        pos_label: Any = None,
    ) -> None:
        self.scheme, self.eps, self.notion, self.estimator = scheme, eps, notion, estimator
        self.local_eps, self.difference, self.costs, self.sees = local_eps, difference, costs, sees
        self.levels, self.calibrate, self.random_state = levels, calibrate, random_state
        self.pos_label, self.monotone, self.guarantee = pos_label, monotone, guarantee

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        sensitive_features: Labels = None,
        client: Labels = None,
    ) -> FairThresholds:
        """Learn the score and the rule.

        Parameters
        ----------
        X : (n, d) features.  y : (n,) two labels.
        sample_weight : (n,) see ``weight`` of :meth:`fairfl.Federation.from_samples`; rows of
            weight 0 are left out. The estimator has it, too, with a warning if its ``fit`` takes
            none.
        sensitive_features : (n,) groups, or (n, k), whose combinations are the groups.
        client : (n,) clients; None: all are one.
        """
        one_of("scheme", self.scheme, [*SOLVED])
        if y is not None:  # of which scikit-learn has an error of its own
            as_labels("y", y)
        is_score = isinstance(self.estimator, str)
        table: tuple[Any, Any] = X, y
        features, labels = validate_data(self, *table, skip_check_array=not is_score)
        check_consistent_length(features, labels)
        codes, weight = self._codes(column_or_1d(labels, warn=True), sample_weight)
        self._group_columns = [*getattr(sensitive_features, "columns", ())]
        group = None if sensitive_features is None else self._rows(sensitive_features, len(codes))
        site: Any = np.zeros(len(codes), int) if client is None else client
        names = ("notion", "difference", "costs", "sees", "monotone")
        task: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.guarantee is not None:
            if self.local_eps is not None:
                raise ValueError(f"local_eps must be None with guarantee, got {self.local_eps}")
            if weight is not None and np.ptp(weight) > 0:
                ends = f"{weight.min():g} to {weight.max():g}"
                raise ValueError(
                    f"sample_weight must be the same of all with guarantee, got {ends}"
                )
            return self._with_guarantee(features, codes, group, site, Question(**task))
        score = self._learn(features, self._targets(codes, group), weight)
        if weight is not None:
            rows, site = weight > 0, as_labels("client", site)
            check_consistent_length(weight, site)
            score, codes, site, weight = (v[rows] for v in (score, codes, site, weight))
            group = None if group is None else group[rows]
        self._one_group = group is None
        if group is None:  # everybody stands in two groups, so that no budget binds
            group = np.repeat([0, 1], len(codes))
            score, codes, site = (np.concatenate([v, v]) for v in (score, codes, site))
            weight = None if weight is None else np.tile(weight, 2)
        settings = {"levels": self.levels, "calibrate": self.calibrate, "weight": weight}
        self.federation_ = Federation.from_samples(score, codes, group, site, **settings)
        task |= {"scheme": self.scheme, "eps": self.eps, "local_eps": self.local_eps}
        self.solution_ = solve(self.federation_, **task)
        self.rule_ = self.solution_.classifier
        return self

    def _codes(self, labels: Array, sample_weight: ArrayLike | None) -> tuple[Array, Array | None]:
        """y (n,) as 0 and 1, and the weights (n,); sets the classes."""
        assert_all_finite(labels)
        check_classification_targets(labels)
        if (kind := type_of_target(labels)) != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        self.classes_, codes = np.unique(labels, return_inverse=True)
        weight = None
        if sample_weight is not None:
            weight = in_range("sample_weight", sample_weight, 0.0, np.inf, open_high=True)
            weight = broadcast("sample_weight", weight, codes.shape, f"({len(codes)},)")
        present = self.classes_ if weight is None else np.unique(labels[weight > 0])
        if len(present) < 2:
            rows = "" if weight is None else " at weights other than zero"
            alone = f"one class: {shown(present[0])}" if len(present) else "none"
            raise ValueError(f"y must hold two classes{rows}, got {alone}")
        self._one = pos_code("y", self.classes_.tolist(), self.pos_label, ordered=True)
        return (codes == self._one).astype(int), weight

    def _targets(self, codes: Array, group: Any) -> list[Array]:
        """What the estimator learns, (n,) each: y; for rules that do not see the group, unless they
        are monotone in a score, also whether people are of a group, of all but the first in sorted
        order, and where the notion counts labels whether they are and have y = 1.
        """
        targets = []
        if self.sees == "x" and not self.monotone and group is not None:
            _, of_group = intersections("sensitive_features", group, len(codes))
            for k in range(1, int(of_group.max()) + 1):
                targets.append((of_group == k).astype(int))
                if NOTIONS[ALIASES.get(self.notion, self.notion)].counts_labels:
                    targets.append(targets[-1] * codes)
        return [codes, *(target for target in targets if target.any())]

    def _with_guarantee(
        self, features: Any, codes: Any, group: Any, site: Any, question: Question
    ) -> FairThresholds:
        """Fit the score and a family of rules to some of the people; the others test these."""
        if group is None:
            raise ValueError("guarantee needs sensitive_features, whose disparity is kept")
        groups, a = intersections("group", group, len(codes))
        clients, i = coded("client", site, len(codes))
        path, limits = limits_of(self.scheme, self.eps, len(clients))
        level = float(in_range("guarantee", self.guarantee, 0, 1, open_low=True, open_high=True))
        people, cells = np.zeros((len(clients), len(groups), 2, 1)), (i, a, codes)
        np.add.at(people[..., 0], cells, 1.0)  # pyright: ignore
        promise = Promise(question.notion, question.sees, limits, level)
        tests = np.random.default_rng(0).random(len(codes)) < promise.share_of_testers(people)
        learned = self._targets(codes[~tests], group[~tests])
        maker_scores = self._learn(_safe_indexing(features, ~tests), learned, None)
        score = np.empty((len(codes), *maker_scores.shape[1:]))
        score[~tests] = maker_scores
        score[tests] = self._scores(_safe_indexing(features, tests))
        makers, testers = of_rows((score, codes, a, i), tests, self.levels)
        makers = replace(makers, groups=groups, clients=clients, calibrate=self.calibrate)
        self.federation_ = fed = Federation.of_people(makers).for_notion(question.notion)
        scheme: Any = self.scheme
        task = question.task(fed, scheme)
        out = guaranteed(makers, task, path, promise, testers)
        if out.rule is None:
            raise RuntimeError(
                f"no rule within eps was found with guarantee={level:g}: about "
                f"{float(f'{out.sufficient:.2g}'):,.0f} people would do, got {len(codes):,}"
            )
        self.guarantee_, self.rule_, self._one_group = out, out.rule, False
        self.solution_ = solve(fed, scheme, self.eps, **question.of(scheme))
        return self

    def _learn(self, features: Any, targets: Sequence[Array], weight: Array | None) -> Array:
        """The people's scores (n,), or a number (n, d) for each target, out of fold."""
        self.estimators_: list[Any] = []
        self.estimator_ = None
        if isinstance(self.estimator, str):
            return self._score(features)
        base: Any = self.estimator
        if base is None:
            base = make_pipeline(StandardScaler(), LogisticRegression())
        weights, chances = {} if weight is None else _fit_weights(base, weight), []
        with config_context(enable_metadata_routing=False):  # the weights have their steps' names
            for target in targets:
                fitted: Any = clone(base)
                self.estimators_.append(fitted.fit(features, target, **weights))
                folds = min(FOLDS, int(np.bincount(target).min()))
                if folds < 2:
                    chances.append(fitted.predict_proba(features)[:, 1])
                    continue
                dealt = StratifiedKFold(folds, shuffle=True, random_state=0)
                out_of_fold: Any = cross_val_predict(
                    base, features, target, cv=dealt, method="predict_proba", params=weights
                )
                chances.append(out_of_fold[:, 1])
        self.estimator_ = self.estimators_[0]
        return chances[0] if len(chances) == 1 else np.stack(chances, axis=1)

    def _score(self, features: Any) -> Array:
        """With ``passthrough`` the column of the features, or all of them."""
        if self.estimator != "passthrough":
            raise ValueError(
                f"estimator must be a classifier, None or 'passthrough', got {self.estimator!r}"
            )
        if self.monotone and features.shape[1] > 1:
            raise ValueError(
                "monotone=True needs one score, since several numbers of a person have no order, "
                f"got X of {features.shape[1]} columns"
            )
        return features[:, 0] if features.shape[1] == 1 else features

    def _scores(self, features: Any) -> Array:
        """Scores by the estimators that were learned."""
        if self.estimator_ is None:
            return self._score(features)
        chances = [estimator.predict_proba(features)[:, 1] for estimator in self.estimators_]
        return chances[0] if len(chances) == 1 else np.stack(chances, axis=1)

    def predict_proba(
        self, X: Any, *, sensitive_features: Labels = None, client: Labels = None
    ) -> Array:
        """(n, 2) the labels' chances to be predicted; "client_aware" needs ``client`` (n,)."""
        check_is_fitted(self)
        # an estimator checks X
        score = self._scores(X if self.estimators_ else validate_data(self, X, reset=False))
        if self._one_group or self.sees == "x":
            group = self.federation_.groups[0]
        elif sensitive_features is None:
            raise ValueError("sensitive_features must be given: the rule's thresholds are by group")
        else:
            group = self._rows(sensitive_features, len(score))
        if isinstance(self.rule_, ClientClassifiers):
            check_consistent_length(score, client)
            number = places("client", "clients", client, self.federation_.client_names)
            chance = self.rule_(score, group, number)
        else:
            chance = self.rule_(score, group)
        chances = [1.0 - chance, chance]
        return np.column_stack(chances if self._one else chances[::-1])

    def predict(
        self,
        X: Any,
        *,
        sensitive_features: Labels = None,
        client: Labels = None,
        random_state: Any = None,
    ) -> Any:
        """(n,) labels; where the rule accepts a share, drawn from ``random_state``."""
        chance = self.predict_proba(X, sensitive_features=sensitive_features, client=client)[:, 1]
        state = self.random_state if random_state is None else random_state
        draws = state if isinstance(state, np.random.Generator) else check_random_state(state)
        return self.classes_[(draws.random(len(chance)) < chance).astype(int)]

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: Any = None,
        *,
        sensitive_features: Labels = None,
        client: Labels = None,
    ) -> float:
        """The accuracy of ``predict`` on average over its draws: the mean chance of the right
        label, which no seed changes; of people with weights the weighted mean.
        """
        chances = self.predict_proba(X, sensitive_features=sensitive_features, client=client)
        labels: Any = column_or_1d(as_labels("y", y))
        check_consistent_length(chances, labels)
        right = (chances * (labels[:, None] == self.classes_)).sum(axis=1)
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = True  # a rule may accept a share
        if hasattr(self.estimator, "fit"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _rows(self, groups: Any, count: int) -> Array:
        """Groups (count,), or (count, k), whose columns are those of ``fit``."""
        rows, columns = as_labels("sensitive_features", groups), self._group_columns
        if rows.ndim not in (1, 2) or len(rows) != count:
            raise ValueError(f"sensitive_features must have shape ({count},), got {rows.shape}")
        names = [*getattr(groups, "columns", columns)]
        if columns and names != columns:
            raise ValueError(
                f"sensitive_features must have the columns of fit in order, {columns}, got {names}"
            )
        return rows[:, 0] if rows.ndim == 2 and rows.shape[1] == 1 else rows


def _fit_weights(estimator: Any, weight: Array) -> dict[str, Array]:
    """The weights as the estimator's ``fit`` takes them, a pipeline's as its last step does."""
    prefix, last = "", estimator
    while isinstance(last, Pipeline):
        step, last = last.steps[-1]
        prefix += f"{step}__"
    if has_fit_parameter(last, "sample_weight"):
        return {f"{prefix}sample_weight": weight}
    warnings.warn(f"sample_weight is not taken by the fit of {shown(last)}", stacklevel=4)
    return {}
