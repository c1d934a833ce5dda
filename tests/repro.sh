#!/bin/sh
# Is the Debian package, built twice, the same byte for byte? The second time in
# another folder, time zone, language and umask. tests/repro.sh BUILD [FOLDER]: with
# a folder, that has what tools/deb.sh built first. Prints TAP.
# (dpkg leaves the path in the debug symbols if there is a space in it.)
set -eu

build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")/.."
command -v dh >/dev/null 2>&1 || {
	echo "1..0 # SKIP no dh: tools/deps.sh package"
	exit 0
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
one=${2:-$scratch/one}
unset CC CCACHE_DIR
export CCACHE_DISABLE=1
[ -n "${2:-}" ] || {
	meson dist -C "$build" --no-tests --allow-dirty --formats gztar \
		>/dev/null 2>&1
	tools/deb.sh "$build" "$one" >/dev/null
}
(
	umask 027
	TZ=Asia/Tokyo LC_ALL=C.UTF-8 LANG=C.UTF-8 \
		tools/deb.sh "$build" "$scratch/another" >/dev/null
)
echo 1..1
for deb in "$one"/*.deb; do
	if ! cmp "$deb" "$scratch/another/${deb##*/}"; then
		echo "not ok 1 - the package is the same when it is built again"
		exit 1
	fi
done
echo "ok 1 - the package is the same when it is built again"
