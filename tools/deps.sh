#!/bin/sh
# Install what llmc needs on this machine.
#
#   tools/deps.sh build    to build, test and run it (make deps)
#   tools/deps.sh missing  is that there? Names what is not, and installs nothing
#   tools/deps.sh world    also for the tests that need more (make check-world)
#   tools/deps.sh lint     also to check it as CI does
#   tools/deps.sh package  to build the Debian package (make deb)
#   tools/deps.sh list     print the packages of "build", and install nothing
#
# Looks for the programs and libraries first, and does nothing when all are there.
# On Debian, Ubuntu and their relatives it installs the missing packages (with sudo
# only if you are not root); elsewhere it lists them and stops.
set -eu

# Kind, name, and Debian's package.
build='
command cc           gcc
header  stdio.h      libc6-dev
command make         make
command meson        meson
command ninja        ninja-build
command pkg-config   pkg-config
module  libevent     libevent-dev
module  json-c       libjson-c-dev
module  libbsd       libbsd-dev
module  sqlite3      libsqlite3-dev
module  check        check
command tmux         tmux
command git          git
command curl         curl
command bwrap        bubblewrap
file    /usr/share/zoneinfo/America/New_York tzdata
'
lint='
command clang        clang
command clang-format clang-format
command clang-tidy   clang-tidy
command cppcheck     cppcheck
command shellcheck   shellcheck
command valgrind     valgrind
command npm          npm
runtime asan         libclang-rt-dev
'
# To build the Debian package.
packaging='
command dpkg-buildpackage dpkg-dev
command dh           debhelper
command fakeroot     fakeroot
command lintian      lintian
module  libpq        libpq-dev
'
# Tests that need these are skipped where they cannot be had.
tests='
command mandoc       mandoc
command git-lfs      git-lfs
command openssl      openssl
'
browser='
command chromium     chromium
'
promtool='
command promtool     prometheus
'
# llmc is built without PostgreSQL where libpq cannot be had, and the tests with
# a server are skipped where that cannot be had.
libpq='
module  libpq        libpq-dev
'
server='
postgres initdb      postgresql
'

# The sanitizer and fuzzer runtimes of clang: do they link?
have_runtime() {
	dir=$(mktemp -d) || return 1
	echo 'int main(void) { return 0; }' >"$dir/a.c"
	status=0
	clang -fsanitize=address -o "$dir/a" "$dir/a.c" 2>/dev/null || status=1
	rm -rf "$dir"
	return "$status"
}

have() { # kind name
	case $1 in
	command) command -v "$2" >/dev/null 2>&1 ;;
	module) pkg-config --exists "$2" 2>/dev/null ;;
	header) [ -e "/usr/include/$2" ] ;;
	file) [ -e "$2" ] ;;
	runtime) have_runtime ;;
	postgres) "$(dirname "$0")/../contrib/fleet/postgres.sh" find >/dev/null 2>&1 ;;
	esac
}

# Older releases name clang's runtime by its version only.
package_name() {
	if [ "$1" = libclang-rt-dev ] &&
	    ! apt-cache show libclang-rt-dev >/dev/null 2>&1; then
		version=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
		echo "libclang-rt-${version:-14}-dev"
	else
		echo "$1"
	fi
}

missing_of() { # table
	echo "$1" | while read -r kind name package; do
		[ -z "$kind" ] || have "$kind" "$name" || echo "$package"
	done
}

install_packages() { # package...
	sudo=
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null 2>&1 || {
			echo "deps.sh: no root and no sudo; ask an administrator to run:" >&2
			echo "  apt-get install $*" >&2
			exit 1
		}
		sudo=sudo
	fi
	echo "deps.sh: installing $*"
	$sudo apt-get -qq update
	$sudo env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq -y --no-install-recommends install "$@" >/dev/null
}

need() { # table
	missing=$(missing_of "$1")
	[ -n "$missing" ] || return 0
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "deps.sh: please install these packages (Debian names):" >&2
		echo "$missing" | sed 's/^/  /' >&2
		exit 1
	fi
	packages=
	for package in $missing; do
		packages="$packages $(package_name "$package")"
	done
	# shellcheck disable=SC2086 # one word a package
	install_packages $packages
	missing=$(missing_of "$1")
	if [ -n "$missing" ]; then
		echo "deps.sh: still missing after the installation:" >&2
		echo "$missing" | sed 's/^/  /' >&2
		exit 1
	fi
}

# As need(), but only a word where it cannot be installed.
want() { # table what
	if ! (need "$1"); then
		echo "deps.sh: going on without; $2"
	fi
}

case ${1:-build} in
build)
	need "$build"
	want "$libpq" "a fleet needs PostgreSQL"
	;;
missing)
	missing=$(missing_of "$build")
	if [ -n "$missing" ]; then
		echo "llmc needs what is not installed here:" >&2
		echo "$missing" | sed 's/^/  /' >&2
		echo "To install it: make deps" >&2
		exit 1
	fi
	;;
list)
	echo "$build" | awk 'NF { print $3 }'
	;;
package)
	need "$build"
	need "$packaging"
	;;
world | lint)
	need "$build"
	[ "$1" = world ] || need "$lint"
	want "$libpq" "what several hosts share is not tested"
	want "$tests" "the tests with them are skipped"
	want "$server" "the tests with PostgreSQL are skipped"
	want "$browser" "the tests of the page are skipped"
	want "$promtool" "what Prometheus says of the metrics is not tested"
	[ "$1" = world ] || want "$packaging" "the tests of the package are skipped"
	;;
*)
	echo "usage: tools/deps.sh [build | missing | world | lint | package | list]" >&2
	exit 2
	;;
esac
