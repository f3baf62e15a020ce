#!/bin/sh
# Brings the real libraries that some tests write checkpoints with: Debian's PyTorch, and Orbax in a virtual environment outside the checkout.
# Does nothing when they are there already.
set -eu

if ! /usr/bin/python3 -c "import importlib.util as u, sys; sys.exit(not u.find_spec('torch'))" 2>/dev/null; then
  as_root=""
  [ "$(id -u)" = 0 ] || as_root="sudo"
  $as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends python3-torch
fi

venv="${XDG_CACHE_HOME:-$HOME/.cache}/outlast-test/venv"
if ! [ -d "$venv"/lib/python3*/site-packages/orbax/checkpoint ] 2>/dev/null; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check orbax-checkpoint jax
fi
