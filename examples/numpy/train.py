"""Logistic regression in plain NumPy that can be ended at any moment and goes on bit for bit where it was. It knows nothing of outlast."""
import hashlib
import json
import os
import sys
import time

import numpy as np

directory, steps, save_every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
step_seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 0.0

data = np.random.default_rng(1)
x = data.normal(size=(2000, 20))
y = (x @ data.normal(size=20) + 0.1 * data.normal(size=2000) > 0).astype(float)


def save(step, weights, velocity, rng):
    path = os.path.join(directory, "step-%06d.npz" % step)
    with open(path + ".tmp", "wb") as out:
        np.savez(out, step=step, weights=weights, velocity=velocity, rng=json.dumps(rng.bit_generator.state))
        out.flush()
        os.fsync(out.fileno())
    os.replace(path + ".tmp", path)


def newest():
    names = sorted(name for name in os.listdir(directory) if name.startswith("step-") and name.endswith(".npz"))
    return os.path.join(directory, names[-1]) if names else None


os.makedirs(directory, exist_ok=True)
rng = np.random.default_rng(2)
weights, velocity, first = np.zeros(20), np.zeros(20), 1
if newest():
    with np.load(newest()) as state:
        weights, velocity, first = state["weights"], state["velocity"], int(state["step"]) + 1
        rng.bit_generator.state = json.loads(str(state["rng"]))
    print("resumed at step", first, flush=True)

for step in range(first, steps + 1):
    batch = rng.integers(len(x), size=64)
    predicted = 1 / (1 + np.exp(-(x[batch] @ weights)))
    velocity = 0.9 * velocity - 0.1 * (x[batch].T @ (predicted - y[batch])) / len(batch)
    weights = weights + velocity
    time.sleep(step_seconds)
    if step % save_every == 0 or step == steps:
        save(step, weights, velocity, rng)
        print("saved step", step, flush=True)

print("final", hashlib.sha256(weights.tobytes()).hexdigest(), flush=True)
