#!/bin/sh
# Make every system call of llmc fail once: tests/faults/torture.sh BUILD [STEP]
#
# With a STEP above 1 only about every STEP-th call is tried, with one error
# each; LLMC_TORTURE_SEED selects another sample. Prints TAP. Whatever fails,
# llmc must exit with 0 or 1, print a message in the latter case, leave either
# the old or the new config, no temporary files, and a repository in which the
# next llmc works.
set -eu

build=$(cd "${1:?build folder}" && pwd)
step=${2:-1}
llmc=$build/src/cli/llmc
preload=torture.so # by name: the folder may have a space
export LD_LIBRARY_PATH="$build/tests/faults"
seed=${LLMC_TORTURE_SEED:-1}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/llmc-torture.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
cd "$scratch"

export HOME="$scratch/home" GIT_CONFIG_NOSYSTEM=1 TERM=dumb
unset LLMC_ROOT NO_COLOR FORCE_COLOR GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
# The leak search takes seconds per process on aarch64.
leaks=1
[ "$(uname -m)" = aarch64 ] && leaks=0
sanitizer="verify_asan_link_order=0:exitcode=99:detect_leaks=$leaks"
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:$sanitizer"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-}:halt_on_error=1:exitcode=99"

# EIO, ENOSPC, EACCES, EMFILE: errors of disks, permissions and limits. Not
# ENOENT, which legitimately means that there is no file.
errors='5 28 13 24'
tests=0
failed=0

# Templates: a repository, one after llmc init, and one that an older llmc init
# has set up, without a landing branch.
mkdir home bin
printf '#!/bin/sh\necho 1.0\n' >bin/claude
chmod +x bin/claude
PATH=$scratch/bin:$PATH
git init -q -b main --template= plain
git -C plain -c user.name=T -c user.email=t@example.invalid \
	commit -q --allow-empty -m Start
mkdir plain/.git/info
echo '# mine' >plain/.git/info/exclude
cp -R plain ready
"$llmc" --root ready init >/dev/null
cp -R ready older
printf '# mine\n[repo]\ndefault_branch = "main"\n[auto]\nmax_turns = 30 # high\n' \
	>ready/.llmc/config.toml
printf '# mine\n[auto]\nmax_turns = 30 # high\n' >older/.llmc/config.toml

random() { # below $1
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	random=$((seed / 65536 % $1))
}

complain() { # text
	failed=$((failed + 1))
	bad=1
	echo "# $name: call $n ($call) with error $error: $1"
	sed 's/^/#   /' err out 2>/dev/null | head -n 20
}

# Have both files the same settings? What init proposes stands in comments, and
# is less when a program that it asks could not be started.
same() { # file file
	[ -f "$2" ] && [ "$(sed '/^#/d; /^$/d; /^\[/d' "$1")" = \
		"$(sed '/^#/d; /^$/d; /^\[/d' "$2")" ]
}

# Check what one run has left.
judge() { # status
	case $1 in
	0 | 1) ;;
	*) complain "ended with $1" ;;
	esac
	if grep -q 'Sanitizer\|runtime error:' err; then
		complain "a sanitizer complained"
	fi
	[ "$1" -ne 1 ] || [ -s err ] || [ -s out ] ||
		complain "failed without a word"
	if [ -e work/.llmc/config.toml ]; then
		same work/.llmc/config.toml "$new" ||
			same work/.llmc/config.toml "$old" ||
			complain "config.toml is neither old nor new"
	elif [ "$old" != none ]; then
		complain "config.toml is gone"
	fi
	[ "$1" -ne 0 ] || same work/.llmc/config.toml "$new" ||
		complain "it did not do its work"
	grep -q '^# mine$' work/.git/info/exclude ||
		complain "info/exclude lost a line"
	left=$(find work/.llmc work/.git/info -name '*.tmp' 2>/dev/null)
	[ -z "$left" ] || complain "left behind: $left"
	if ! "$llmc" --root work init >out 2>err; then
		complain "init afterwards fails"
	elif ! "$llmc" --root work config get auto.max_turns >out 2>err; then
		complain "config get afterwards fails"
	fi
}

# One run with the n-th call failing; false if there were fewer calls.
try() { # argument...
	rm -rf work
	cp -R "$template" work
	status=0
	LLMC_TORTURE_N=$n LLMC_TORTURE_ERRNO=$error \
		LLMC_TORTURE_COUNT=$scratch/count LD_PRELOAD=$preload \
		"$llmc" --root work "$@" >out 2>err || status=$?
	seen=$(od -An -N4 -tu4 count | tr -d " ")
	[ "$seen" -ge "$n" ] || return 1
	call=$(tail -c +17 count | tr -d '\0')
	tried=$((tried + 1))
	judge "$status"
}

scenario() { # template old new argument...
	template=$1 old=$2 new=$3
	shift 3
	name="$*"
	bad=0
	tried=0
	n=1
	if [ "$step" -gt 1 ]; then
		random "$step"
		n=$((1 + random))
	fi
	while :; do
		if [ "$step" -gt 1 ]; then
			random 4
			# shellcheck disable=SC2086 # a list of words
			set_error $random $errors
			try "$@" || break
			random $((2 * step - 1))
			n=$((n + 1 + random))
		else
			for error in $errors; do
				try "$@" || break 2
			done
			n=$((n + 1))
		fi
	done
	tests=$((tests + 1))
	if [ "$bad" -eq 0 ]; then
		echo "ok $tests - $name: $tried faults among $seen calls"
	else
		echo "not ok $tests - $name"
	fi
}

set_error() { # index error...
	shift "$(($1 + 1))"
	error=$1
}

# What the commands leave if nothing fails.
cp -R plain after
"$llmc" --root after init >/dev/null
cp after/.llmc/config.toml init.toml
cp ready/.llmc/config.toml ready.toml
cp older/.llmc/config.toml older.toml
cp -R older later
"$llmc" --root later init >/dev/null
cp later/.llmc/config.toml later.toml
sed 's/30/31/' ready.toml >set.toml
sed '/max_turns/d' ready.toml >unset.toml

echo "# seed $seed, step $step"
scenario plain none init.toml init
scenario ready ready.toml ready.toml init
scenario older older.toml later.toml init
scenario ready ready.toml set.toml config set auto.max_turns 31
scenario ready ready.toml unset.toml config unset auto.max_turns
scenario ready ready.toml ready.toml config list
scenario ready ready.toml ready.toml --json config get auto.max_turns
scenario ready ready.toml ready.toml doctor
echo "1..$tests"
[ "$failed" -eq 0 ]
