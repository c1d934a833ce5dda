#!/bin/sh
# Run by `meson dist`: the archive says which commit it was made of.
set -eu

git -C "$MESON_SOURCE_ROOT" rev-parse --short=12 HEAD >"$MESON_DIST_ROOT/COMMIT"
