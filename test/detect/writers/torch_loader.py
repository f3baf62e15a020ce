"""Loads every file given and checks that it is of one step: prints the steps."""
import sys

import torch

for path in sys.argv[1:]:
    state = torch.load(path)
    assert bool((state["w"] == state["step"]).all()) and bool((state["m"] == state["step"]).all()), path
    print(state["step"])
