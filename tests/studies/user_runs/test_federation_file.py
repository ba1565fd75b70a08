"""TOML federations that are not: the reader takes what stands there, or names it in a line."""

import re
from pathlib import Path

import pytest
from text_tables import table

import fairfl as ff
from fairfl.studies.user_runs.federation_file import read_federation
from fairfl.theory.populations.federation import Federation

BIG = "1" + "0" * 400
REST = "\n[[clients]]\nmean = [0, 1]\n"
PLACES = {
    "mean": "[[clients]]\nmean = {}",
    "mean[1]": "[[clients]]\nmean = [0, {}]",
    "sd": "[[clients]]\nmean = [0, 1]\nsd = {}",
    "q": "[[clients]]\nmean = [0, 1]\nq = {}",
    "weight": "[[clients]]\nmean = [0, 1]\nweight = {}",
    "eta": "eta = {}\n[[clients]]\nmean = [0, 1]",
    "slope": "eta = {{slope = {}}}\n[[clients]]\nmean = [0, 1]",
    "intercept": "[[clients]]\nmean = [0, 1]\neta = {{intercept = {}}}",
    "laws": "[[clients]]\nlaws = {}",
    "law": "[[clients]]\nlaws = [{{law = 'norm'}}, {{law = {}}}]",
    "scale": "[[clients]]\nlaws = [{{law = 'norm'}}, {{law = 'gamma', a = 2, scale = {}}}]",
    "laws[1]": "[[clients]]\nlaws = [{{law = 'norm'}}, {}]",
    "mixture": "[[clients]]\nlaws = [{{law = 'norm'}}, {{mixture = {}}}]",
    "weights": "[[clients]]\nlaws = [{{law = 'norm'}}, {{mixture = [{{law = 'norm'}}, {{law = "
    "'expon'}}], weights = {}}}]",
    "points": "[[clients]]\nlaws = [{{law = 'norm'}}, {{points = {}, masses = [0.5, 0.5]}}]",
    "masses": "[[clients]]\nlaws = [{{law = 'norm'}}, {{points = [0, 1], masses = {}}}]",
    "clients": "clients = {}",
    "nothing": "nothing = {}",
}
VALUES = [
    *(
        value
        for row in table("""
nan | inf | -inf | 1e308 | 1e-300 | 3e15 | -1 | 0 | true | '' | 'x' | 1979-05-27 | [] | [1]
[1, 2, 3] | [[1, 2], [3, 4]] | [1e308, 1e308] | {} | {a = 1} | {law = 'poisson', mu = 1}
{law = 'norm', loc = 3e15} | {law = 'norm', scale = 0} | {law = 'norm', loc = 3, scale = 1e-300}
{law = 'rv_continuous'} | 'beta' | {law = 'beta'}
{law = 'levy_stable', alpha = 1.5, beta = 0.5} | {law = 'studentized_range', k = 3, df = 10}
'levy_stable'
""")
        for value in row
    ),
    BIG,
    "-" + BIG,
    "1" + "0" * 5000,
    f"[{BIG}, 1]",
    f"[0.5, {BIG}]",
    "[" * 60 + "]" * 60,
    "[" * 2000 + "]" * 2000,
    "{mixture = [" * 500 + "{law = 'norm'}" + "]}" * 500,
    "{mixture = [" * 30 + "{law = 'norm'}" + "]}" * 30,
]


def read(text: str, folder: Path) -> str:
    """What the reader says of a text; "" where it takes it."""
    file = folder / "federation.toml"
    file.write_text(text, "utf-8")
    try:
        federation = read_federation(file)
    except ValueError as error:
        assert "\n" not in str(error) and len(str(error)) < 400
        return str(error)
    assert isinstance(federation, Federation)
    assert len(federation.client_names) == federation.n_clients
    return ""


def test_laws_of_every_kind_are_read(tmp_path: Path) -> None:
    file = tmp_path / "kinds.toml"
    file.write_text(
        "[[clients]]\neta = {slope = 2}\n"
        "laws = [{law = 'gamma', a = 2, scale = 1.5}, "
        "{mixture = [{law = 'norm'}, {law = 't', df = 4}], weights = [1, 3]}]\n"
        "[[clients]]\nmean = [0, 1]\nq = 0.25\nweight = 3"
    )
    fed = read_federation(file)
    assert fed.client_names == ("0", "1") and fed.groups == ("a = 0", "a = 1")
    assert fed.q.tolist() == [0.5, 0.25] and fed.weight.tolist() == [0.25, 0.75]
    assert ff.solve(fed, "lft_ensemble", 0.1).duality_gap < 1e-10
    file.write_text(
        "[[clients]]\nlaws = [{points = [0, 1], masses = [0.5, 0.5]}, {points = [2], masses = [1]}]"
    )
    assert read_federation(file).is_finite


@pytest.mark.parametrize("place", PLACES)
def test_a_place_is_taken_or_named(place: str, tmp_path: Path) -> None:
    refused = 0
    for value in VALUES:
        said = read(PLACES[place].format(value) + (REST if place != "clients" else ""), tmp_path)
        name = place.partition("[")[0]
        named = any(word in said for word in (name, "clients[0]", "client 0", "TOML", "deep"))
        assert not said or named, f"{value[:60]}: {said}"
        refused += bool(said)
    assert refused > len(VALUES) / 2


WRONG = table(r"""
clients = 3 | clients must be at least one [[clients]] table, got 3
[[clients | bad.toml is not a TOML file
colour = 1\nGOOD | colour is unknown; allowed here: clients, eta
[[clients]]\nq = 0.5 | clients[0] must have either mean (and sd) or laws, got 'q'
[[clients]]\nmean = [1] | clients[0].mean must be a list of two or more
[[clients]]\nmean = [1, 2]\nvariance = 1 | clients[0].variance is unknown; allowed here: eta, name
[[clients]]\nmean = [1, 2]\nq = 1 | group 0 is empty
[[clients]]\nmean = [1, 2]\neta = {slope = -1} | clients[0].eta.slope must be positive
[[clients]]\nmean = [1, 2]\neta = 3 | clients[0].eta must be a table
[[clients]]\nlaws = [{law = 'norm'}] | clients[0].laws must be a list of two or more
[[clients]]\nlaws = [{law = 'nosuch'}, {law = 'norm'}] | 'nosuch'
[[clients]]\nlaws = [{law = 'norm'}, {law = 'poisson', mu = 2}] | must have a density
[[clients]]\nlaws = [{law = 'gamma'}, {law = 'norm'}] | its parameters (a, loc, scale), got none
[[clients]]\nlaws = [{law = 'norm'}, {law = 'norm'}]\nsd = 1 | clients[0].sd goes with mean
[[clients]]\nlaws = [{points = [0, 1], masses = [0.5, 0.4]}, {law = 'norm'}] |
    masses must sum to one
[[clients]]\nlaws = [{points = [0, 1], masses = [0.5, 0.5]}, {law = 'norm'}] | mixture of both kinds
[[clients]]\nlaws = [{points = [0, 1]}, {law = 'norm'}] | clients[0].laws[0].masses must be given
[[clients]]\nlaws = [3, {law = 'norm'}] | must be a table with one of law, mixture and points
""")


@pytest.mark.parametrize(("text", "message"), [*WRONG, ("\udcff", "not a TOML file")])
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.toml"
    text = text.replace("GOOD", "[[clients]]\nmean = [3, 5]")
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        read_federation(file)
    assert str(raised.value).count("bad.toml") == 1 and "\n" not in str(raised.value)


def test_what_a_client_leaves_out_is_the_default(tmp_path: Path) -> None:
    file, accuracies = tmp_path / "defaults.toml", []
    for keys in ("", "sd = 1\nq = 0.5\nweight = 1\neta = {slope = 1, intercept = 0}\n"):
        file.write_text(f"[[clients]]\nmean = [0, 1]\n{keys}" * 2, "utf-8")
        accuracies.append(ff.solve(read_federation(file), "cfl", 0.1).accuracy)
    expected = ff.solve(ff.Federation.normal([[0, 1], [0, 1]], 1.0, 0.5), "cfl", 0.1).accuracy
    assert accuracies == pytest.approx([expected, expected], abs=1e-12)
