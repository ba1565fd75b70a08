"""fairfl claims report: in a real browser, and as text."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from browser import BROWSER, in_browser

from fairfl.claims.registry import registered
from fairfl.claims.runner import Checked, recorded
from fairfl.reports.claims.errata import errata_list
from fairfl.reports.claims.legend import value
from fairfl.reports.claims.math import BadMathematics, html, mathml
from fairfl.reports.claims.page import page, write_report

needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no chromium here: the page is not tried in a browser"
)


@pytest.fixture(scope="module")
def checked() -> list[Checked]:
    return recorded()


@pytest.fixture(scope="module")
def whole(checked: list[Checked]) -> str:
    return page(checked)


def test_mathematics_becomes_mathml() -> None:
    assert html("a < b, $x^2$ for \\$5") == (
        f'a &lt; b, <span class="m">{mathml("x^2")}</span> for $5'
    )
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in mathml("x^2")
    assert html("lambda_i^(t) <= 3/mu in table_one:f, v_2.") == (
        "λ<sub>i</sub><sup>(t)</sup> ≤ 3/μ in table_one:f, v<sub>2</sub>."
    )
    assert html("F_1² at w_λ, M^(1/(q+1))") == (
        "F<sub>1</sub>² at w<sub>λ</sub>, M<sup>1/(q+1)</sup>"
    )
    assert html("(eta/2) L'_{y,a}, eta^2 mu/2, +-g, theory/alpha/x") == (
        "(η/2) L&#x27;<sub>y,a</sub>, η<sup>2</sup> μ/2, ±g, theory/alpha/x"
    )
    for bad in (r"\nosuchmacro x", r"\frac{1"):
        with pytest.raises(BadMathematics, match="LaTeX must"):
            mathml(bad)


def test_the_page_loads_nothing(whole: str) -> None:
    assert not re.search(r"<(link|img|iframe|object|embed)\b|\bsrc=|@import|\bfetch\(", whole)
    assert not re.search(r"url\((?!#)", whole)
    ids = re.findall(r'<section class="claim" id="([^"]+)"', whole)
    assert Counter(ids) == Counter(list(registered()))
    for target in re.findall(r'href="#([^"]+)"', whole):
        assert f'id="{target}"' in whole, target


@needs_browser
@pytest.mark.slow
def test_the_page_in_a_browser(whole: str, checked: list[Checked], tmp_path: Path) -> None:
    script = """(() => {
      const form = document.forms[0];
      const seen = () => [...document.querySelectorAll(".claim")].filter(c => !c.hidden);
      const choose = (name, value) => {
        form[name].value = value; form.dispatchEvent(new Event("input"));
      };
      const wide = document.documentElement.scrollWidth;
      const prose = [...document.querySelectorAll("p, li, h3, h4, dd, .math")];
      const over = prose.filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0);
      const out = {over: over.map(e => e.textContent.slice(0, 80)),
        all: seen().length, wide: wide, inner: innerWidth, papers: {}, verdicts: {}};
      for (const o of form.paper.options) {
        choose("paper", o.value); out.papers[o.value] = seen().length;
      }
      choose("paper", "");
      for (const o of form.verdict.options) {
        choose("verdict", o.value); out.verdicts[o.value] = seen().length;
      }
      choose("verdict", "");
      choose("words", "no such words at all");
      out.none = seen().length; out.count = document.getElementById("count").textContent;
      choose("words", "");
      const m = document.querySelector(".claim math"); out.math = m.getBoundingClientRect().width;
      out.namespace = m.namespaceURI; out.faults = window.faults; return out; })()"""
    page = in_browser(whole, script, 390, tmp_path)
    assert page["faults"] == []
    assert page["inner"] == 390 and page["wide"] <= 390  # nothing sticks out on a phone
    assert page["over"] == []  # nor does prose scroll sideways: long formulas do, by themselves
    assert page["all"] == len(checked) == page["papers"][""] == page["verdicts"][""]
    assert page["none"] == 0 and page["count"] == f"0 of {len(checked)} claims"
    by_paper = Counter(c.claim.paper for c in checked)
    assert {k: v for k, v in page["papers"].items() if k} == by_paper
    by_verdict = Counter(c.settled.verdict for c in checked)
    assert {k: v for k, v in page["verdicts"].items() if k and v} == {
        k: v for k, v in by_verdict.items() if k
    }
    assert page["math"] > 0 and page["namespace"].endswith("MathML")


@needs_browser
def test_the_browser_sees_faults(tmp_path: Path) -> None:
    bad = "<!DOCTYPE html><html><head></head><body><script>nosuch()</script></body></html>"
    assert "nosuch" in in_browser(bad, "window.faults", 390, tmp_path)[0]


def test_errata_name_every_false_statement(whole: str, checked: list[Checked]) -> None:
    errata = whole[whole.index('id="errata"') :]
    text = errata_list(checked)
    for c in checked:
        if c.claim.erratum:
            theirs = c.claim.severity is not None
            assert (f'<a href="#{c.claim.id}">' in errata) == theirs
            assert (f"(`{c.claim.id}`, {c.status}" in text) == theirs


def test_no_repaired_form_is_called_a_wrong_statement(whole: str, checked: list[Checked]) -> None:
    sections = whole.split('<section class="claim" id="')[1:]
    false = {c.claim.id for c in checked if c.outcome and c.outcome.finding == "refuted"}
    for section in sections:
        id = section.partition('"')[0]
        assert ("<p>Wrong statements" in section) == (id not in false), id


def test_numbers_are_written_as_people_write_them() -> None:
    assert value({"c": ["1/2", "3/1", -4, "-5/1", "x/1"]}) == "{c: [1/2, 3, -4, -5, x/1]}"
    assert value([0, 0, 0, [1], [1], 2]) == "[0, 0, 0, [1], [1], 2]"
    assert value([7, *["0/1"] * 9, "0/2"]) == "[7, 0 (9 times), 0/2]"


def test_two_files_the_same_each_time(checked: list[Checked], tmp_path: Path) -> None:
    files = write_report(tmp_path / "a", checked)
    assert [f.name for f in files] == ["claims.html", "claims.json"]
    again = write_report(tmp_path / "b", checked)
    assert [f.read_bytes() for f in files] == [f.read_bytes() for f in again]
    data = json.loads(files[1].read_text("utf-8"))
    assert [row["id"] for row in data] == [c.claim.id for c in checked]
    assert {row["verdict"] for row in data} <= {"holds", "holds-repaired", "refuted", "open", None}
