#!/usr/bin/env bash
# Installs the libraries and programs that some tests need and most machines lack. Debian and Ubuntu; needs root or sudo.
set -euo pipefail

packages=(python3 python3-venv python3-numpy python3-torch procps jq b3sum)

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
