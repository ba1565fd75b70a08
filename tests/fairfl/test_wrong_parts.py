"""Parts of one's own that are wrong: each ends in one line, which says what is allowed."""

import shutil
from pathlib import Path

import pytest
from text_tables import table

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
COMMANDS = {
    "lemma": ("claims check mine --import my_lemma.py", "claims checked: 1, failed: 0"),
    "objective": ("figures --list --import my_objective.py", "Fenchel-Young                 holds"),
    "figure": ("figures my_figure --import my_figure.py --out out", "drawn "),
    "algorithm": (
        "crosscheck my_crosscheck.toml --import my_algorithm.py --out out",
        "frontier (hard): holds",
    ),
    "data": ("simulate my_run.toml --import my_data_and_model.py --out out", "fedavg"),
    "study": ("crosscheck my_study --import my_study.py --out out", "(hard): holds"),
}
"""What is run on the example of each kind, and what is printed of it as it is."""
FILES = {"data": "my_data_and_model.py"}
ROWS = table(r"""
lemma | st.lists(st.floats(0.1, 9), min_size=1) | 3 | strategy must be one of hypothesis, got 3
lemma | {"factor": 1.01} | {"scale": 2} | mutant 1 % must change parameters of u, factor, got scale
lemma | mutants={"1 %": {"factor": 1.01}} | mutants=3 | mutants must be a Mapping, got int
lemma | "mine/mean" | "mean" | id must be paper/name with letters, digits, dots and hyphens
lemma | "mine/mean" | "pffl/mean" | must not begin as those of a paper do, got pffl/mean
lemma | def mean | class Mean: ...\ndef mean | must change parameters of , got factor
lemma | import fairfl as ff | import fairfl.lemmas as ff | No module named 'fairfl.lemmas'
objective | lambda f: np.sqrt((f**2).mean(-1) + 0.01) | 3 | function must be a function, got 3
objective | np.sqrt((f**2).mean(-1) + 0.01) | np.sqrt(f) | function
objective | f / f.shape[-1] / np.sqrt((f**2).mean(-1, keepdims=True) + 0.01) | f[0] | slope
objective | np.sqrt((f**2).mean(-1) + 0.01) | f.means() | no attribute 'means' (my_objective.py,
    line 9)
objective | examples=50 | examples=0 | got none among 0
figure | NAME, TITLE = "my_figure", "Squares" | TITLE = "Squares" | must define NAME
figure | def data(): | def date(): | it has no data
figure | def draw(data): | def drawn(data): | figure must be one of
figure | "my_figure" | "fedfb_figure_5" | name must be new, got 'fedfb_figure_5' in my_figure.py
figure | "my_figure" | "../my_figure" | NAME must be of letters, digits, dots and hyphens
figure | def data(): | def data(points): | my_figure.py: TypeError: data() missing 1
figure | return figure | pass | draw of my_figure must be a Figure, got NoneType
figure | return pd.DataFrame( | return dict( | data of my_figure must be a DataFrame, got dict
figure | plot("x" | plot("z" | my_figure.py, line 13: KeyError: 'z'
algorithm | name = "my_median" | name = "fedavg" | name must be new, got 'fedavg'
algorithm | class Median(Algorithm) | class Median | algorithm[0].name must be one of
algorithm | shrink: float = 1.0 | shrink: float | algorithm[0].shrink must be given, got nothing
algorithm | return Aggregate(received.p, received.state, step) | return step | server of Median must
    be a Aggregate, got Tensor
algorithm | self.shrink * | float('nan') * | the global model is NaN or infinite
algorithm | received.updates | received.update | my_algorithm.py, line 14: AttributeError
algorithm | def server | def serve | my_algorithm.py: TypeError: Can't instantiate
data | "my_blobs", "Two | "my_blob", "Two | data.name must be one of
data | return FederatedData("my_blobs", x, y, np.arange(400) // 100) | return x | data my_blobs must
    be a FederatedData, got ndarray
data | np.arange(400) // 100) | np.arange(400) // 100, 2) | owner must be in 0..1, got 2 at row 200
data | x, y, np | x * np.nan, y, np | x must be finite, got NaN or infinity in row 0
data | def blobs(folder, progress) | def blobs(folder) | my_data_and_model.py: TypeError: blobs()
    takes 1
data | register_model("my_softmax") | register_model("mine") | model.kind must be one of
data | lambda shape, classes: Softmax(shape[0], classes) | lambda shape: Softmax(3, 2) | takes 1
    positional argument but 2 were given
data | Softmax(shape[0], classes) | Softmax(7, classes) | x must have shape (N, 7)
study | def measured( | def measure( | it has no units or measured
study | NAME, | units = lambda scale: [3]\nNAME, | units must be a Unit, got int
study | NAME, | tables = dict\nNAME, | tables['square'] must be a DataFrame, got Series
study | NAME, | SEEDS = {'quick': 0}\nNAME, | seeds must be a whole number of at least 1, got 0
study | measures["square"] | measures["cube"] | my_study.py, line 13: KeyError: 'cube'
""")
"""What is replaced in the example of a kind, by what, and what the line says."""


@pytest.fixture
def run(cli, tmp_path, monkeypatch, own_parts_forgotten):
    """Run the command on the example of a kind, where one text is another."""
    monkeypatch.chdir(tmp_path)

    def run(kind, old="", new=""):
        for file in filter(Path.is_file, EXAMPLES.iterdir()):
            shutil.copy(file, tmp_path)
        part_file = tmp_path / FILES.get(kind, f"my_{kind}.py")
        text = part_file.read_text("utf-8").replace('__name__ == "__main__"', "True")
        assert old in text
        part_file.write_text(text.replace(old, new), "utf-8")
        return cli(*COMMANDS[kind][0].split())

    return run


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_examples_run(run, kind):
    result = run(kind)
    assert result.exit_code == 0 and COMMANDS[kind][1] in result.stdout


@pytest.mark.parametrize(("kind", "old", "new", "why"), ROWS)
def test_a_wrong_part_is_told_in_one_line(run, kind, old, new, why):
    result = run(kind, old, new)
    assert result.exit_code in (1, 2) and "Traceback" not in result.stderr
    assert why in result.stderr and result.stderr.count("\n") == 1
