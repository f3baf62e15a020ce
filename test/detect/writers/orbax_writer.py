"""Saves with Orbax's CheckpointManager, asynchronously, keeping two: python3 orbax_writer.py DIR SECONDS."""
import sys
import time

import numpy as np
import orbax.checkpoint as ocp

root, seconds = sys.argv[1], float(sys.argv[2])
options = ocp.CheckpointManagerOptions(max_to_keep=2, enable_async_checkpointing=True)
manager = ocp.CheckpointManager(root, options=options)
end = time.monotonic() + seconds
print("ready", flush=True)
step = 0
while time.monotonic() < end:
    step += 1
    state = {"step": np.asarray(step), "w": np.full((200_000,), step, np.float32), "m": {"v": np.full((1000,), step)}}
    manager.save(step, args=ocp.args.StandardSave(state))
    time.sleep(0.05 if step % 3 else 1.6)
manager.wait_until_finished()
manager.close()
