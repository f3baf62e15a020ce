#!/usr/bin/env bash
# Installs the libraries and programs that some tests need and most machines lack. Debian and Ubuntu; needs root or sudo.
set -euo pipefail

packages=(
  python3 python3-venv python3-numpy python3-torch # checkpoints written by real libraries; moto
  procps jq b3sum                                  # restoring by hand, as docs/reference/format.md says
  fuse3                                            # buckets mounted by gcsfuse
  postgresql                                       # queues and results
)
# Google's Pub/Sub emulator is a jar, from Google's own apt source; the machine must have that source already.
command -v java >/dev/null || packages+=(default-jre-headless)
if grep -qs cloud-sdk /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; then
  packages+=(google-cloud-cli-pubsub-emulator)
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing+=("$package")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -qy --no-install-recommends "${missing[@]}"
