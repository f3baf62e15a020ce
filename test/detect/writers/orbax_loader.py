"""Restores every step of every directory given with a manager of its own and checks it: prints the steps."""
import sys

import numpy as np
import orbax.checkpoint as ocp

for root in sys.argv[1:]:
    manager = ocp.CheckpointManager(root)
    steps = manager.all_steps()
    assert steps, "no steps in " + root
    for step in steps:
        state = manager.restore(step, args=ocp.args.StandardRestore())
        assert int(state["step"]) == step and (state["w"] == step).all() and (state["m"]["v"] == step).all(), step
        print(step)
    manager.close()
