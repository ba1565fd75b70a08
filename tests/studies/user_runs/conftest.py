"""A run's TOML file, written and read."""

import pytest

from fairfl.studies.user_runs.run_file import read_config


@pytest.fixture
def toml(tmp_path):
    """The experiment of a text, in mine.toml."""

    def read(text):
        file = tmp_path / "mine.toml"
        file.write_text(text, "utf-8")
        return read_config(file)

    return read
