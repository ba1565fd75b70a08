"""Parts of one's own that are wrong: each ends in one line, which says what is allowed."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
COMMANDS = {
    "lemma": "claims check mine --import my_lemma.py",
    "objective": "figures --list --import my_objective.py",
    "figure": "figures my_figure --import my_figure.py --out out",
    "algorithm": "crosscheck my_crosscheck.toml --import my_algorithm.py --out out",
    "data": "simulate my_run.toml --import my_data_and_model.py --out out",
    "study": "crosscheck my_study --import my_study.py --out out",
}
"""What is run on the example of each kind."""
FILES = {"data": "my_data_and_model.py"}
NAMED, LEMMA = 'NAME, TITLE = "my_{}", "Squares"', "return sum(u) / len(u) - factor * min(u)"
VALUE, SLOPE = (
    "np.sqrt((f**2).mean(-1) + 0.01)",
    "f / f.shape[-1] / np.sqrt((f**2).mean(-1, keepdims=True) + 0.01)",
)
AGGREGATE = "return Aggregate(received.p, received.state, step)"
WRONG = {
    "lemma": [
        (
            "st.lists(st.floats(0.1, 9), min_size=1)",
            "3",
            "strategy must be one of hypothesis, got 3",
        ),
        ("min_size=1", "least=1", "unexpected keyword argument 'least'"),
        (
            '{"factor": 1.01}',
            '{"scale": 2}',
            "mutant 1 % must change parameters of u, factor, got scale",
        ),
        ('{"factor": 1.01}', "{}", "mutant 1 % must change parameters of u, factor, got none"),
        ('mutants={"1 %": {"factor": 1.01}}', "mutants=3", "mutants must be a Mapping, got int"),
        ("mutants=", "where=[len], mutants=", "where must be a Mapping, got list"),
        ('"mine/mean"', '"mean"', "id must be paper/name with letters, digits, dots and hyphens"),
        ('"mine/mean"', "3", "id must be a str, got int"),
        ('"mine/mean"', '"pffl/mean"', "must not begin as those of a paper do, got pffl/mean"),
        ("def mean", "class Mean: ...\ndef mean", "must change parameters of , got factor"),
        ("import fairfl as ff", "import fairfl.lemmas as ff", "No module named 'fairfl.lemmas'"),
    ],
    "objective": [
        ("lower=0.0,", "lower=2.0, upper=1.0,", "lower must be below upper, got [2.0, 1.0]"),
        (f"lambda f: {VALUE}", "3", "function must be a function, got 3"),
        (f"lambda f: {SLOPE}", "None", "slope must be a function, got None"),
        (VALUE, "np.sqrt(f)", "function"),
        (SLOPE, "f[0]", "slope"),
        (VALUE, "f.means()", "no attribute 'means' (my_objective.py, line 9)"),
        (VALUE, "None", "function"),
        ("ROOT_MEAN_SQUARE, ex", "VALUE, ex", "NameError"),
        ("ROOT_MEAN_SQUARE, ex", "3, ex", "objective must be an aggregation objective, got 3"),
        ("examples=50", "examples=0", "got none among 0"),
        ("examples=50", "clients=0.5", "'float' object cannot be"),
    ],
    "figure": [
        (NAMED.format("figure"), 'TITLE = "Squares"', "must define NAME"),
        (NAMED.format("figure"), 'NAME = "my_figure"', "no TITLE"),
        ("def data():", "def date():", "it has no data"),
        ("def draw(data):", "def drawn(data):", "figure must be one of"),
        (
            '"my_figure"',
            '"fedfb_figure_5"',
            "NAME must be new, got 'fedfb_figure_5' in my_figure.py",
        ),
        ('"my_figure"', "3", "NAME must be of letters, digits, dots and hyphens, got 3"),
        ('"my_figure"', '"../my_figure"', "NAME must be of letters, digits, dots and hyphens"),
        ("def data():", "def data(points):", "my_figure.py: TypeError: data() missing 1"),
        ("return pd.DataFrame(", "return dict(", "data of my_figure must be a DataFrame, got dict"),
        ("    return figure", "    pass", "draw of my_figure must be a Figure, got NoneType"),
        ("    return figure", "    return figure.axes[0]", "must be a Figure, got Axes"),
        ('data["x"]', 'data["z"]', "my_figure.py, line 15: KeyError: 'z'"),
    ],
    "algorithm": [
        ('name = "my_median"', "", "algorithm[0].name must be one of"),
        ('name = "my_median"', 'name = "fedavg"', "name must be new, got 'fedavg'"),
        ('name = "my_median"', "name = 3", "name must be a str, got int"),
        ("class Median(Algorithm)", "class Median", "algorithm[0].name must be one of"),
        ("shrink: float = 1.0", "shrink: float", "algorithm[0].shrink must be given, got nothing"),
        (AGGREGATE, "return step", "server of Median must be a Aggregate, got Tensor"),
        (AGGREGATE, "return None", "server of Median must be a Aggregate, got NoneType"),
        ("step)", "step[:-1])", "step must have shape (4,), got (3,)"),
        ("self.shrink *", "float('nan') *", "the global model is NaN or infinite"),
        ("received.updates", "received.update", "my_algorithm.py, line 14: AttributeError"),
        ("server(self, received)", "server(self)", "Median.server() takes 1 positional"),
        ("def server", "def serve", "my_algorithm.py: TypeError: Can't instantiate"),
    ],
    "data": [
        ('"my_blobs", "Two', '"mnist", "Two', "name must be new, got 'mnist', registered already"),
        ('"my_blobs", "Two', '"my_blob", "Two', "data.name must be one of"),
        ('"my_blobs", "Two', '3, "Two', "name must be a str, got int"),
        (
            'return FederatedData("my_blobs", x, y, np.arange(400) // 100)',
            "return x",
            "data my_blobs must be a FederatedData, got ndarray",
        ),
        (
            "np.arange(400) // 100)",
            "np.arange(300) // 100)",
            "owner must be whole numbers of shape (400,)",
        ),
        (
            "np.arange(400) // 100)",
            "np.arange(400) // 100, 2)",
            "owner must be in 0..1, got 2 at row 200",
        ),
        ("x, y, np", "x * np.nan, y, np", "x must be finite, got NaN or infinity in row 0"),
        (
            "def blobs(folder, progress)",
            "def blobs(folder)",
            "my_data_and_model.py: TypeError: blobs() takes 1",
        ),
        ('register_model("my_softmax")', 'register_model("mine")', "model.kind must be one of"),
        (
            "lambda shape, classes: Softmax(shape[0], classes)",
            "lambda shape: Softmax(3, 2)",
            "takes 1 positional argument but 2 were given",
        ),
        ("Softmax(shape[0], classes)", "3", "model.kind must be a Model, got int"),
        ("Softmax(shape[0], classes)", "Softmax(7, classes)", "x must have shape (N, 7)"),
    ],
    "study": [
        (NAMED.format("study"), 'TITLE = "Squares"', "must define NAME"),
        (NAMED.format("study"), 'NAME = "my_study"', "no TITLE"),
        ("def measured(", "def measure(", "it has no units or measured"),
        ("def verdicts(", "def verdict(", "study must be one of"),
        ('"my_study"', '"frontier"', "NAME must be new, got 'frontier' in my_study.py"),
        ('"my_study"', '"a/b"', "NAME must be of letters, digits, dots and hyphens"),
        ("NAME,", "units = lambda scale: [3]\nNAME,", "units must be a Unit, got int"),
        ("NAME,", "tables = len\nNAME,", "tables must be a dict, got int"),
        ("NAME,", "tables = dict\nNAME,", "tables['square'] must be a DataFrame, got Series"),
        ("return (Verdict", "return list, (Verdict", "verdicts must be a Verdict, got type"),
        (
            "NAME,",
            "SEEDS = {'quick': 0}\nNAME,",
            "seeds must be a whole number of at least 1, got 0",
        ),
        ('{"square": seed**2}', "seed", "what seed 0 measured must be a DataFrame, got int"),
        ('measures["square"]', 'measures["cube"]', "my_study.py, line 13: KeyError: 'cube'"),
    ],
}
"""What is replaced in the example, by what, and what the line says."""
ROWS = [(kind, *row) for kind, rows in WRONG.items() for row in rows]


@pytest.mark.usefixtures("own_parts_forgotten")
@pytest.mark.parametrize(("kind", "old", "new", "why"), ROWS)
def test_a_wrong_part_is_told_in_one_line(cli, tmp_path, monkeypatch, kind, old, new, why):
    for file in EXAMPLES.iterdir():
        (tmp_path / file.name).write_text(file.read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / FILES.get(kind, f"my_{kind}.py")
    text = mine.read_text("utf-8").replace('__name__ == "__main__"', "True")
    assert old in text
    mine.write_text(text.replace(old, new), "utf-8")
    result = cli(*COMMANDS[kind].split())
    assert result.exit_code in (1, 2) and "Traceback" not in result.stderr
    assert why in result.stderr and result.stderr.count("\n") == 1
