#!/bin/sh
# Builds the servers that storage tests talk to, once, into a cache outside the checkout: versitygw (S3), fake-gcs-server (GCS), gcsfuse (a bucket
# mounted as a directory), and moto (S3, a second opinion) in a virtual environment. Needs Go 1.25 or later and Python with venv; a first run takes
# about five minutes on two cores. Does nothing when they are there already.
set -eu

versitygw=v1.8.0
fake_gcs=v1.56.1
gcsfuse=v3.8.4
moto=5.2.2

cache="${XDG_CACHE_HOME:-$HOME/.cache}/outlast-test"
bin="$cache/bin"
mkdir -p "$bin"

work=$(mktemp -d)
# Go makes its module cache read-only, also where a temporary one was asked for.
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

need_go() {
  command -v go >/dev/null 2>&1 && return 0
  echo "error: Go is not installed, and the storage tests' servers are built with it" >&2
  echo "hint: install Go 1.25 or later and put it on PATH, then run $0 again" >&2
  exit 1
}

# A name carries its version, so that another version is built beside it and never mistaken for it. A rename puts it there whole.
build() { # name version package
  target="$bin/$1-$2"
  [ -x "$target" ] && return 0
  need_go
  echo "building $1 $2"
  mkdir "$work/$1"
  (
    cd "$work/$1"
    # A module of our own: some of these cannot be had by `go install` at a version.
    printf 'module outlast.dev/%s\n\ngo 1.24\n' "$1" >go.mod
    go get "$3@$2" >go.log 2>&1 || { cat go.log >&2; exit 1; }
    go build -trimpath -o "$bin/.$1-$2.$$" "$3"
  )
  mv "$bin/.$1-$2.$$" "$target"
}

build versitygw "$versitygw" github.com/versity/versitygw/cmd/versitygw
build fake-gcs-server "$fake_gcs" github.com/fsouza/fake-gcs-server
build gcsfuse "$gcsfuse" github.com/googlecloudplatform/gcsfuse/v3

venv="$cache/moto-$moto"
if ! [ -x "$venv/bin/moto_server" ]; then
  echo "installing moto $moto"
  rm -rf "$venv"
  python3 -m venv "$venv"
  # The command that tests look for is written last of all by pip.
  "$venv/bin/pip" install --quiet --disable-pip-version-check "moto[server]==$moto" || {
    rm -rf "$venv"
    exit 1
  }
fi
