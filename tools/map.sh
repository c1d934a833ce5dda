#!/bin/sh
# What each unit is for: tools/map.sh [FOLDER...] prints the first sentence of
# every header below src or the folders. Ends with 1 if a header says nothing.
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- src
find "$@" -name '*.h' | sort | while read -r header; do
	folder=${header%/*}
	[ "$folder" = "${last:-}" ] || printf '\n%s/\n' "$folder"
	last=$folder
	awk -v name="${header##*/}" '
	NR == 1 && /SPDX/ { next }
	!begun && /^[[:space:]]*$/ { next }
	!begun && !/^\/\*/ { exit }
	{
		begun = 1
		end = /\*\//
		gsub(/^\/\*+ ?|^ \* ?| ?\*\/.*/, "")
		if (/^[[:space:]]*$/ && text != "")
			exit
		text = text (text == "" || $0 == "" ? "" : " ") $0
		if (end)
			exit
	}
	END {
		if (match(text, /[.;] /))
			text = substr(text, 1, RSTART)
		sub(/[.;]$/, "", text)
		print "  " name ": " (text == "" ? "?" : text)
	}' "$header"
done | awk '{ print } /: \?$/ { bad = 1 } END { exit bad }'
