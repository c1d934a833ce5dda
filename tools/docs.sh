#!/bin/sh
# Write the parts of the documents that are generated from tables: tools/docs.sh
# BUILD. tests/manual.sh fails when they are out of date.
set -eu

build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")/.."
llmc=$build/src/cli/llmc
page=man/llmc.conf.5
new=$(mktemp)
trap 'rm -f "$new"' EXIT
trap 'exit 1' INT TERM HUP

{
	sed '/^\.\\" BEGIN KEYS/q' "$page"
	"$llmc" config doc --format mdoc
	sed -n '/^\.\\" END KEYS/,$p' "$page"
} >"$new"
cat "$new" >"$page"

"$llmc" config doc >"$new"
cat "$new" >examples/config.toml

"$build/tests/e2e/list-failures" >"$new"
cat "$new" >docs/failures.md
