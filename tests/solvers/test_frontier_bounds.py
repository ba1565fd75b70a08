"""Frontiers know how far they may be from the best, and can be pickled."""

import dataclasses
import pickle

import numpy as np
import pytest
from tasks import drawn

import fairfl as ff
