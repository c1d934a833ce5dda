#!/bin/sh
# Does systemd accept the units of contrib/systemd, and do they have what the
# overseer needs? tests/systemd.sh BUILD. Prints TAP.
set -eu

build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")/../contrib/systemd"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
ln -s "$build/src/cli" "$scratch/bin"
n=0
failed=0

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

# The output of systemd-analyze for a unit; its exit status does not reflect
# keys that it ignores. Uses the llmc that was just built, through a link: a
# prefix has no blanks, but the path of a clone may.
complaints() { # manager
	mkdir -p "$scratch/$1"
	sed "s|@bindir@|$scratch/bin|g" "$1/llmc-overseer@.service.in" \
		>"$scratch/$1/llmc-overseer@.service"
	XDG_RUNTIME_DIR=$scratch systemd-analyze "--$1" verify --man=no \
		"$scratch/$1/llmc-overseer@.service" 2>&1 || true
}

# Lines that are missing in a unit.
missing() { # unit
	while IFS= read -r line; do
		grep -qxF "$line" "$1" || echo "$line"
	done <<-'END'
		Type=notify
		NotifyAccess=main
		WatchdogSec=60
		Restart=on-failure
		RestartPreventExitStatus=2 3 4 5 6
		SuccessExitStatus=130
		KillMode=process
		OOMPolicy=continue
	END
}

echo 1..8
for manager in user system; do
	unit=$manager/llmc-overseer@.service.in
	if command -v systemd-analyze >/dev/null 2>&1; then
		verdict "systemd-analyze finds no fault in the $manager unit" \
			"$(complaints "$manager")"
	else
		n=$((n + 1))
		echo "ok $n - the $manager unit # SKIP no systemd-analyze"
	fi
	verdict "the $manager unit ends, restarts and tells as it must" \
		"$(missing "$unit")"
	verdict "the $manager unit hides tmux from nobody" \
		"$(grep -nE '^(Private|Protect|Root|DynamicUser|JoinsNamespaceOf)' \
			"$unit" || true)"
	verdict "the built $manager unit names the program" \
		"$(for line in 'Start=/[^@]*/llmc overseer' \
			'Reload=/[^@]*/llmc restart'; do
			grep -qE "^Exec$line\$" \
				"$build/contrib/systemd/$manager/llmc-overseer@.service" ||
				echo "no Exec$line"
		done)"
done
exit "$failed"
