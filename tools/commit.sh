#!/bin/sh
# The commit that is built: of this repository, or of the archive that was made
# of it (tools/dist.sh). Nothing if neither is known.
set -eu

cd "$(dirname "$0")/.."
if [ -f COMMIT ]; then
	cat COMMIT
elif [ -e .git ]; then
	git rev-parse --short=12 HEAD
fi
