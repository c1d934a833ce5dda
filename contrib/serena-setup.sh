#!/bin/sh
# A Serena project for each worktree: an example of repo.setup_command.
#
#	llmc config set repo.setup_command /path/to/serena-setup.sh
#
# It writes .serena/project.yml with a name of its own, keeps it out of git,
# and adds the worktree to the list "projects" of Serena's own settings, if
# there are any. What git tracks is left alone. A sandboxed worker can do the
# latter only if ~/.serena is in defaults.sandbox_write.
set -eu

project=.serena/project.yml
config=${HOME:?}/.serena/serena_config.yml
common=$(cd "$(git rev-parse --git-common-dir)" && pwd -P)
name=llmc-${PWD##*/}-$(printf %s "$common" | cksum | cut -d' ' -f1)

if ! git ls-files --error-unmatch "$project" >/dev/null 2>&1; then
	for path in .serena "$project"; do
		[ ! -L "$path" ] || { echo "$path is a link" >&2; exit 1; }
	done
	if ! git check-ignore -q "$project"; then
		mkdir -p "$common/info"
		printf '\n/.serena/\n' >>"$common/info/exclude"
	fi
	mkdir -p .serena
	[ -e "$project" ] || : >"$project"
	{
		printf 'project_name: "%s"\n' "$name"
		grep -v '^project_name:' "$project" || :
	} >"$project.new"
	mv -f "$project.new" "$project"
fi

[ -e "$config" ] || exit 0
config=$(readlink -f "$config")
exec 9>"$config.llmc-lock"
flock 9 # several workers are set up at the same time
item="'$(pwd | sed "s/'/''/g")'"
! grep -qxF -e "- $item" -e "  - $item" "$config" || exit 0
cp -p "$config" "$config.llmc-new"
# A list with one item per line, an empty one, or none: nothing else is edited.
ITEM="- $item" awk '
	/^projects:/ { found = 1 }
	/^projects: *\[\] *$/ { print "projects:"; print ENVIRON["ITEM"]; next }
	/^projects: *(#.*)?$/ { print; first = 1; next }
	/^projects:/ { bad = 1; exit 1 }
	first {
		first = 0
		indent = match($0, /^ *- /) ? substr($0, 1, RLENGTH - 2) : ""
		print indent ENVIRON["ITEM"]
	}
	{ print }
	END {
		if (bad)
			exit 1
		if (!found)
			print "projects:"
		if (!found || first)
			print ENVIRON["ITEM"]
	}
' "$config" >"$config.llmc-new" || {
	rm -f "$config.llmc-new"
	echo "$config: the form of the list projects is not understood" >&2
	exit 1
}
mv -f "$config.llmc-new" "$config"
