#!/bin/sh
# Do the documents match the programs? tests/manual.sh BUILD. Prints TAP.
set -eu

build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")/.."
llmc=$build/src/cli/llmc
page=man/llmc.1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
n=0
failed=0

# Other tests look for leaks, which takes seconds per run in some containers.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

verdict() { # what, what is wrong
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
		failed=1
	fi
}

differs() { # file expected
	diff -u "$1" "$2" || true
}

# Words on standard input that have no list item in the pages.
undescribed() { # macro before the word, such as "Cm "; page...
	macro=$1
	shift
	while read -r word; do
		grep -qE "^\.It (.* )?$macro$word( |\$)" "$@" || echo "$word"
	done
}

# All but those that only programs use; "goal plan" is one of them.
commands() {
	"$llmc" --json help | awk -F'"' '/^    "name":/ { name = $4 }
		/^    "summary":/ && !/\(internal\)/ { print name }'
}

options() {
	"$llmc" help "$@" | sed -n 's/^  --\([a-z][a-z-]*\).*/\1/p'
}

# "config list", "config get", ...: the alternatives of a synopsis, one per
# line.
forms() {
	commands | while read -r command; do
		"$llmc" help "$command" |
			sed -n "s/^usage: llmc $command \(.* | .*\)/\1/p" |
			tr '|' '\n' |
			sed -n "s/^ *\([a-z][a-z-]*\).*/$command \1/p"
	done
}

# Names of tests and test files in docs/supervision.md that do not exist.
missing_tests() {
	# shellcheck disable=SC2016 # literal backquotes
	sed -n '/^## Faults/,$p' docs/supervision.md | grep -o '`[a-z0-9_.-]*`' |
		tr -d '`' | sort -u | while read -r name; do
		case $name in
		*.c | *.sh) [ -n "$(find tests -name "$name")" ] ;;
		*.*) ;; # a file of llmc, a setting
		*_*) grep -rqE "TEST(_ROWS)?\(${name}[,)]|^$name\(" tests ;;
		esac || echo "$name"
	done
}

# Files that say another version than meson.build, and a tag that does.
versions() {
	version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
	for place in "debian/changelog:llmc ($version-" \
		"contrib/packaging/PKGBUILD:pkgver=$version" \
		"contrib/packaging/llmc.spec:        $version" \
		"contrib/packaging/llmc.spec:developers - $version-" \
		"contrib/packaging/llmc.rb:/llmc-$version.tar.gz" \
		"CONTRIBUTING.md:v$version -m 'llmc $version'" \
		"CHANGELOG.md:## $version"; do
		grep -qF "${place#*:}" "${place%%:*}" ||
			echo "${place%%:*} has no \"${place#*:}\""
	done
	sed -n 's/^## \([0-9][0-9.]*\).*/\1/p; s/^llmc (\(.*\)-[0-9]*) .*/\1/p' \
		CHANGELOG.md debian/changelog | sort -Vr | head -n 1 |
		grep -vxF "$version" | sed 's/$/ is newer than meson.build/'
	grep -noE '(llmc|version) [0-9]+\.[0-9]+\.[0-9]+' man/*.[0-9] |
		grep -v " $version\$"
	git tag --points-at HEAD 'v[0-9]*' 2>/dev/null | grep -vxF "v$version" |
		sed 's/^/the tag is /'
}

# Installed files that the RPM does not list, what it lists for nothing, and
# files of the packages that are not there.
packaged() {
	meson introspect "$build" --installed | tr ',' '\n' |
		sed -n 's/.*": "\(.*\)".*/\1/p' >"$scratch/installed"
	prefix=$(sed -n 's|/bin/llmc$||p' "$scratch/installed")
	sed -n '/^%files/,/^%changelog/p' contrib/packaging/llmc.spec |
		sed -n "s|^%{_\(.*\)}|\1|p" |
		sed "s|^bindir|$prefix/bin|; s|^libexecdir|$prefix/libexec|
			s|^mandir|$prefix/share/man|; s|^datadir|$prefix/share|
			s|^prefix|$prefix|; s|/\$|/*|" >"$scratch/listed"
	while read -r file; do
		while read -r pattern; do
			# shellcheck disable=SC2254 # it is a pattern
			case $file in $pattern)
				echo "$pattern" >>"$scratch/used"
				continue 2
				;;
			esac
		done <"$scratch/listed"
		echo "llmc.spec does not list $file"
	done <"$scratch/installed"
	grep -vxFf "$scratch/used" "$scratch/listed" |
		sed 's/^/llmc.spec lists what is not installed: /'
	for file in $(sed -n 's/^%license //p; s/^%doc //p' \
		contrib/packaging/llmc.spec) $(cat debian/llmc.docs) LICENSE; do
		[ -e "$file" ] || echo "no $file"
	done
	! command -v bash >/dev/null || bash -n contrib/packaging/PKGBUILD 2>&1
	! command -v ruby >/dev/null ||
		ruby -wc contrib/packaging/llmc.rb 2>&1 | grep -vx 'Syntax OK'
}

# Places in the daemon that log WARN or ERROR without an event, whose row names
# a class of failures.
bare_complaints() {
	grep -rnE '\<(log_(warn|error)x?|log_pairs) *\(' src/autod src/session \
		src/port src/model src/base | grep -vE \
		'src/base/log\.[ch]:|src/autod/core/emit\.c:' || true
}

# Classes of failures that the sources name, but the table does not.
unlisted_classes() {
	{
		grep -rhoE -e '\.class = "[a-z_]+"' \
			-e '(_blocked|raise_failure)\(.*"[a-z_]+"' \
			-e '\<RAISE\([^"]*"[a-z_]+"' \
			-e 'return "task_pool_[a-z]+"' src/autod src/port
		# A class on a line of its own, as clang-format breaks calls.
		grep -rhA1 -E '_blocked\($' src/autod |
			grep -oE '"[a-z_]+", ' || true
	} | grep -oE '"[a-z_]+"' | tr -d '"' | sort -u | while read -r class; do
		grep -q "^| $class |" docs/failures.md || echo "$class"
	done
}

echo 1..17

sed -n '/^\.\\" BEGIN KEYS/,/^\.\\" END KEYS/p' man/llmc.conf.5 |
	sed '1d;$d' >"$scratch/keys"
"$llmc" config doc --format mdoc >"$scratch/mdoc"
verdict "llmc.conf.5 has the keys of llmc config doc --format mdoc" \
	"$(differs "$scratch/keys" "$scratch/mdoc")"

"$llmc" config doc >"$scratch/toml"
sed -n '/^\.\\" BEGIN TABLE/,/^\.\\" END TABLE/p' man/overseer.8 |
	sed '1,2d' | sed '/^\.Ed$/,$d' >"$scratch/states"
"$build/src/overseer/overseer" --table >"$scratch/table"
verdict "overseer(8) has the table of overseer --table" \
	"$(differs "$scratch/states" "$scratch/table")"

verdict "examples/config.toml is what llmc config doc prints" \
	"$(differs examples/config.toml "$scratch/toml")"

"$build/tests/e2e/list-failures" >"$scratch/failures" || true
verdict "docs/failures.md is what the tests' own table says" \
	"$(differs docs/failures.md "$scratch/failures")"

verdict "only events with a class of failures are logged as WARN or ERROR" \
	"$(bare_complaints)"
verdict "docs/failures.md has every class of failures that is raised" \
	"$(unlisted_classes)"

verdict "every file says the same version" "$(versions || true)"
verdict "the packages list what is installed" "$(packaged || true)"
verdict "docs/supervision.md names tests that are there" "$(missing_tests)"

verdict "llmc.1 describes every command" "$(commands | undescribed 'Cm ' "$page")"
verdict "llmc.1 describes every form of every command" \
	"$(forms | undescribed 'Cm ' "$page")"
verdict "llmc.1 describes every option" \
	"$({
		options
		commands | while read -r command; do
			options "$command"
		done
	} | sort -u | undescribed 'Fl -' "$page")"
verdict "the manuals describe every environment variable that is read" \
	"$(find src -name '*.c' -exec grep -ho 'getenv("[A-Z_]*")' {} + |
		sed 's/.*"\(.*\)".*/\1/' | sort -u |
		undescribed 'Ev ' man/*.[0-9])"
verdict "llmc.1 names no error code that the sources do not have" \
	"$(sed -n '/^\.Sh JSON/,/^\.Sh ENV/s/^\.It Sy //p' "$page" |
		while read -r code; do
			grep -q "\"$code\"" src/cli/*.c || echo "$code"
		done)"
verdict "every header says what it is for" \
	"$(tools/map.sh src tests | grep ': ?$' || true)"

# Of each agent: the version that the tests install, and that doctor names.
pinned() {
	sed -n 's/.*\tversion=\([^ ]*\) package=.*/\1/p' \
		tests/tools/real-agent.sh | sort -u
}
judged() {
	sed -n 's/.*\.tested = "\([^"]*\)".*/\1/p' src/port/*/*.c | sort -u
}
verdict "doctor names the versions of agents that are tested" \
	"$([ "$(pinned)" = "$(judged)" ] ||
		echo "$(pinned) in real-agent.sh, $(judged) in src/port" | tr '\n' ' ')"

if command -v mandoc >/dev/null 2>&1; then
	verdict "mandoc finds no fault in the manuals" \
		"$(mandoc -T lint man/*.[0-9] 2>/dev/null |
			grep -v 'referenced manual not found' || true)"
else
	n=$((n + 1))
	echo "ok $n - mandoc finds no fault in the manuals # SKIP no mandoc"
fi
exit "$failed"
