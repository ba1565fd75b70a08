"""Bad input as a table: calls as a user writes them, and what their errors say."""

from typing import Any

import pytest
from text_tables import table


def refused(rows: str, names: dict[str, Any]) -> Any:
    """A test of lines ``call | words``: the call ends in a one-line ValueError with the words."""

    @pytest.mark.parametrize(("call", "words"), table(rows))
    def test(call: str, words: str) -> None:
        with pytest.raises(ValueError, match=words) as caught:
            eval(call, dict(names))
        assert type(caught.value) is ValueError
        assert len(str(caught.value)) < 250 and "\n" not in str(caught.value)

    return test
