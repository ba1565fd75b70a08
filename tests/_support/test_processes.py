"""Processes that a caller stops: none is left, nor the thread that watched them."""

import threading
import time
from multiprocessing import active_children

import pytest

from fairfl._support.processes import as_done


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ValueError])
def test_nothing_is_left_where_the_caller_stops(raised):
    # a thread that still closes its pipes while Python ends writes a traceback after our last word
    threads = set(threading.enumerate())
    results = as_done(time.sleep, [(0.01,)] + [(30.0,)] * 5, 2)
    next(results)
    with pytest.raises(raised):
        results.throw(raised)
    assert set(threading.enumerate()) == threads
    assert active_children() == []
