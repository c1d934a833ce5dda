#!/bin/sh
# make static: for each machine that a compiler is here for, an archive with
# programs that need no library of the machine. Unpack it anywhere; bin/llmc finds
# the others.
#
#   tools/static.sh OUT
set -eu

cd "$(dirname "$0")/.."
mkdir -p "${1:-build-static}"
out=$(cd "${1:-build-static}" && pwd)
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
here=$(uname -m)

make_archive() { # machine option...
	machine=$1
	shift
	name=llmc-$version-linux-$machine
	rm -rf "${out:?}/$machine" "${out:?}/$name"
	meson setup "$out/$machine" --prefix /usr --buildtype release --strip \
		--prefer-static -Dc_link_args=-static -Db_pie=false \
		-Dwerror=false -Dfleet=disabled "$@" >"$out/$machine.log"
	ninja -C "$out/$machine" programs >>"$out/$machine.log"
	DESTDIR="$out/root-$machine" meson install -C "$out/$machine" \
		--no-rebuild >>"$out/$machine.log"
	mv "$out/root-$machine/usr" "$out/$name"
	rm -rf "$out/root-$machine"
	cp LICENSE README.md CHANGELOG.md "$out/$name"
	tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner \
		--mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}" \
		-cf - "$name" | gzip -n >"$out/$name.tar.gz"
	rm -rf "${out:?}/$name"
	echo "$out/$name.tar.gz"
}

make_archive "$here"
[ "$here" != x86_64 ] || exit 0
libraries=/usr/lib/x86_64-linux-gnu
if ! command -v x86_64-linux-gnu-gcc >/dev/null ||
	! [ -e $libraries/pkgconfig/json-c.pc ]; then
	echo "static.sh: nothing for x86_64: it needs x86_64-linux-gnu-gcc, and" \
		"libevent, json-c, libbsd and sqlite3 for it in $libraries"
	exit 0
fi
cat >"$out/cross.ini" <<END
[binaries]
c = 'x86_64-linux-gnu-gcc'
ar = 'x86_64-linux-gnu-ar'
strip = 'x86_64-linux-gnu-strip'
pkgconfig = 'pkg-config'
[properties]
pkg_config_libdir = '$libraries/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
END
make_archive x86_64 --cross-file "$out/cross.ini"
