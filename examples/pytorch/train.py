"""A small PyTorch training loop that can be ended at any moment and goes on bit for bit where it was.

What makes it exact: the checkpoint holds the model, the optimizer, the random state that shuffles the data and the one that drives dropout;
it is written aside, flushed and renamed, so that it is never seen half written; and every step depends on nothing but that state.
"""
import argparse
import hashlib
import os
import re
import signal
import sys
import time

import torch

try:
    import outlast  # Optional: the loop works without it, and without a supervisor.
except ImportError:
    outlast = None


def build():
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(64, 1))
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def make_data():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(512, 16, generator=generator)
    return x, (x[:, :4].prod(dim=1, keepdim=True) + x.sum(dim=1, keepdim=True)).tanh()


def save(directory, step, model, optimizer, shuffle):
    path = os.path.join(directory, "step-%06d.pt" % step)
    state = {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
             "rng": torch.get_rng_state(), "shuffle": shuffle.get_state()}
    with open(path + ".tmp", "wb") as out:
        torch.save(state, out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(path + ".tmp", path)
    for old in sorted(name for name in os.listdir(directory) if re.fullmatch(r"step-\d+\.pt", name))[:-3]:
        os.unlink(os.path.join(directory, old))
    if outlast:
        outlast.saved(path, step)


def find_newest(directory):
    names = sorted(name for name in os.listdir(directory) if re.fullmatch(r"step-\d+\.pt", name))
    return os.path.join(directory, names[-1]) if names else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", default="checkpoints")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--save-every", type=int, default=25)
    parser.add_argument("--step-seconds", type=float, default=0.0, help="pretend that a step takes this long")
    parser.add_argument("--resume", help="a checkpoint to go on from; otherwise the newest in --dir")
    args = parser.parse_args()

    told = []
    signal.signal(signal.SIGTERM, lambda signum, frame: told.append(signum))
    torch.set_num_threads(1)
    os.makedirs(args.dir, exist_ok=True)
    model, optimizer = build()
    shuffle = torch.Generator().manual_seed(2)
    x, y = make_data()
    first = 1
    resume = args.resume or find_newest(args.dir)
    if resume:
        state = torch.load(resume)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"])
        shuffle.set_state(state["shuffle"])
        first = state["step"] + 1
        print("resumed at step", first, flush=True)

    for step in range(first, args.steps + 1):
        batch = torch.randint(len(x), (32,), generator=shuffle)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        time.sleep(args.step_seconds)
        if outlast:
            outlast.step(step)
        stopping = bool(told) or bool(outlast and outlast.stopping())
        if step % args.save_every == 0 or step == args.steps or stopping or (outlast and outlast.should_save()):
            save(args.dir, step, model, optimizer, shuffle)
            print("saved step", step, "loss %.6f" % loss.item(), flush=True)
        if stopping and step < args.steps:
            sys.exit(143)

    weights = b"".join(value.numpy().tobytes() for value in model.state_dict().values())
    print("final", hashlib.sha256(weights).hexdigest(), flush=True)
    if outlast:
        outlast.finished()


if __name__ == "__main__":
    main()
