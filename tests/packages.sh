#!/bin/sh
# The other packages, of the archive that `make dist` makes: an RPM, a package for
# Arch Linux, the formula for Homebrew, and static programs in a root where no
# library of llmc's is. tests/packages.sh BUILD. Prints TAP.
# shellcheck disable=SC2317 # functions that ok() calls
set -eu

build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")/.."
source=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
archive=$build/meson-dist/llmc-$version.tar.gz
n=0
failed=0

ok() { # what needed-program command...
	what=$1 needed=$2
	shift 2
	n=$((n + 1))
	if ! command -v "$needed" >/dev/null 2>&1; then
		echo "ok $n - $what # SKIP no $needed"
	elif "$@" >"$scratch/said" 2>&1; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		tail -n 40 "$scratch/said" | sed 's/^/# /'
		failed=1
	fi
}

# On Fedora, meson's package has the macros.
rpm_builds() {
	set --
	[ "$(rpm --eval %meson)" != %meson ] ||
		set -- --define '_vpath_builddir redhat-build' --define \
			'meson meson setup %{_vpath_builddir} --prefix=%{_prefix} --libexecdir=%{_libexecdir} --buildtype=plain'
	rpmbuild -tb --nodeps --define "_topdir $scratch/rpm" "$@" "$archive" ||
		return 1
	! rpm -qp --scripts "$scratch"/rpm/RPMS/*/llmc-"$version"-*.rpm |
		grep .
}

# What makepkg does. It refuses to run as root.
arch_builds() {
	mkdir "$scratch/arch"
	tar -xzf "$archive" -C "$scratch/arch"
	bash -euc '
		cd "$1/arch"
		. "$2/contrib/packaging/PKGBUILD"
		srcdir=$1/arch pkgdir=$1/arch/pkg
		(build)
		(package)
		"$pkgdir/usr/bin/llmc" version | grep -F "llmc $pkgver"
		[ -x "$pkgdir/usr/lib/llmc/autod" ]' sh "$scratch" "$source"
}

# With what Homebrew would do for it.
formula_builds() {
	mkdir "$scratch/brew"
	tar -xzf "$archive" -C "$scratch/brew"
	cat >"$scratch/brew/formula.rb" <<-'END'
		class Formula
		  def self.method_missing(name, *words, &block)
		    @said ||= {}
		    words.empty? && !block ? @said[name] : @said[name] = block || words
		  end
		  def self.test(&block) = block ? @test = block : @test
		  def std_meson_args = ["--prefix=#{prefix}", "--buildtype=release"]
		  def prefix = ENV.fetch("PREFIX")
		  def bin = "#{prefix}/bin"
		  def version = self.class.url[0][/llmc-(.*)\.tar/, 1]
		  def system(*words) = Kernel.system(*words) || abort("failed: #{words}")
		  def shell_output(line) = `#{line}`
		  def assert_match(a, b) = b.include?(a) || abort("no #{a} in #{b}")
		end
		load ARGV[0]
		Llmc.new.then do |llmc|
		  llmc.install
		  llmc.caveats
		  llmc.instance_exec(&Llmc.test)
		end
	END
	(cd "$scratch/brew/llmc-$version" && PREFIX=$scratch/brew/cellar \
		ruby -W "$scratch/brew/formula.rb" \
		"$source/contrib/packaging/llmc.rb")
}

# Files that a program needs beside itself, as options of bwrap.
bound() { # program...
	for program; do
		path=$(command -v "$program")
		echo "$path"
		ldd "$(readlink -f "$path")" 2>/dev/null | grep -o '/[^ ]*'
	done | sort -u | while read -r file; do
		printf -- '--ro-bind\n%s\n%s\n' "$(readlink -f "$file")" "$file"
	done
}

static_builds() {
	machine=$(uname -m)
	mkdir "$scratch/empty"
	tools/static.sh "$scratch/static" || {
		tail -n 20 "$scratch/static/$machine.log"
		return 1
	}
	tar -xzf "$scratch/static/llmc-$version-linux-$machine.tar.gz" \
		-C "$scratch/empty"
	mv "$scratch/empty/llmc-$version-linux-$machine" "$scratch/empty/llmc"
	bwrap --bind "$scratch/empty" / /llmc/bin/llmc version
}

# The story of debian/tests, beside git, tmux and what a shell script uses.
static_lands() {
	ninja -C "$scratch/static/$(uname -m)" tests/tools/fake-claude ||
		return 1
	cp "$scratch/static/$(uname -m)/tests/tools/fake-claude" \
		debian/tests/landing "$scratch/empty"
	mkdir "$scratch/empty/tmp"
	# shellcheck disable=SC2046 # paths of the system, without blanks
	bwrap --bind "$scratch/empty" / --proc /proc --dev /dev \
		--ro-bind-try /lib/terminfo /lib/terminfo \
		--ro-bind-try /usr/share/terminfo /usr/share/terminfo \
		--ro-bind "$(git --exec-path)" "$(git --exec-path)" \
		--ro-bind-try /usr/lib/locale /usr/lib/locale \
		--setenv LC_ALL C.UTF-8 \
		--ro-bind /etc/passwd /etc/passwd \
		--ro-bind "$(readlink -f "$(command -v sh)")" /bin/sh \
		$(bound sh git tmux cat id mkdir mktemp sleep sync) \
		--setenv LLMC /llmc/bin/llmc \
		--setenv LLMC_FAKE_CLAUDE /fake-claude \
		--unshare-pid --die-with-parent sh /landing
}

[ -e "$archive" ] || meson dist -C "$build" --no-tests --allow-dirty \
	--formats gztar >/dev/null 2>&1
# A compiler cache would remember what is built once.
unset CC
echo 1..5
ok "the RPM is built, and has no scripts" rpmbuild rpm_builds
ok "the package for Arch Linux is built" bash arch_builds
ok "the formula for Homebrew builds and passes its test" ruby formula_builds
ok "static programs run where nothing else is" bwrap static_builds
ok "they land work beside git and tmux" bwrap static_lands
exit "$failed"
