#!/bin/sh
# make deb: the Debian package of the archive that `meson dist` has made.
#
#   tools/deb.sh BUILD OUT
set -eu

build=$(cd "${1:-build}" && pwd)
mkdir -p "${2:-build-deb}"
out=$(cd "${2:-build-deb}" && pwd)
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$(dirname "$0")/../meson.build")
name=llmc-$version
archive=$build/meson-dist/$name.tar.gz

rm -rf "${out:?}/$name"
tar -xzf "$archive" -C "$out"
# The package's own version is that of the program.
head -n 1 "$out/$name/debian/changelog" | grep -qF "($version-" || {
	echo "deb.sh: debian/changelog does not begin with $version" >&2
	exit 1
}
(cd "$out/$name" && dpkg-buildpackage -b -us -uc >"$out/build.log" 2>&1) || {
	tail -n 40 "$out/build.log" >&2
	exit 1
}
rm -rf "${out:?}/$name"
ls "$out"/*.deb
