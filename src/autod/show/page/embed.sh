#!/bin/sh
# Print the files of the page as C, plain and compressed: embed.sh FILE...
set -eu

bytes() {
	od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
}

echo '/* Made by page/embed.sh. */'
echo '#include "base.h"'
echo '#include "page-assets.h"'
for file in "$@"; do
	name=$(basename "$file" | tr -c 'a-z\n' '_')
	echo "static const unsigned char ${name}[] = {"
	bytes <"$file"
	echo "};"
	echo "static const unsigned char ${name}_gzip[] = {"
	gzip -9 -n <"$file" | bytes
	echo "};"
done
echo 'const struct page_asset page_assets[PAGE_ASSET_COUNT] = {'
for file in "$@"; do
	name=$(basename "$file" | tr -c 'a-z\n' '_')
	echo "	{ ${name}, sizeof ${name}, ${name}_gzip, sizeof ${name}_gzip },"
done
echo '};'
