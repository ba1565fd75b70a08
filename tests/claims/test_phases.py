"""The phase diagrams in the claims' report say what their claims say."""

import numpy as np
import pytest

from fairfl.claims.picture import pictures


@pytest.mark.parametrize(
    ("module", "id", "maps"),
    [("theorem_1", "theorem-1/repaired", 1), ("theorem_2", "theorem-2", 2)],
)
def test_all_is_shaded_above_the_line_of_a_repaired_claim(module, id, maps):
    drawn = pictures(f"fairfl.claims.dynamic.{module}")[f"dynamic/{id}"]()
    shaded = found = 0
    for each in drawn.maps:
        x, y = np.meshgrid(each.x, each.y)
        values = np.array(each.values)
        for line in each.lines:
            above = values[(y > np.interp(x, line.x, line.y) + 1e-9) & (y > x)]
            repaired = "repaired" in line.label
            shaded += repaired and len(above) > 100 and bool((above > 0).all())
            found += repaired
    assert shaded == found == maps


def test_the_printed_theorem_2_says_too_much():
    for each in pictures("fairfl.claims.dynamic.theorem_2")["dynamic/theorem-2"]().maps:
        above = np.array(each.values)[np.array(each.y) >= 2]
        assert (above > 0).any() and (above < -1).any()
