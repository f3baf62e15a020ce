"""Trains nothing, saves often: python3 torch_writer.py DIR SECONDS [in-place|stepped|renamed]."""
import os
import sys
import time

import torch

root, seconds, how = sys.argv[1], float(sys.argv[2]), sys.argv[3]
end = time.monotonic() + seconds
print("ready", flush=True)
step = 0
while time.monotonic() < end:
    step += 1
    state = {"step": step, "w": torch.full((500_000,), float(step)), "m": torch.full((500_000,), float(step))}
    if how == "in-place":
        torch.save(state, os.path.join(root, "ckpt.pt"))
    elif how == "stepped":
        torch.save(state, os.path.join(root, "model_%d.pt" % step))
        if step > 3:
            os.remove(os.path.join(root, "model_%d.pt" % (step - 3)))
    else:
        torch.save(state, os.path.join(root, "ckpt.pt.tmp"))
        os.rename(os.path.join(root, "ckpt.pt.tmp"), os.path.join(root, "ckpt.pt"))
    # Some saves follow each other at once, some leave time to be found.
    time.sleep(0.02 if step % 4 else 4.6)
