# Homebrew on Linux: put it into a tap, with the address and the checksum of the
# archive of `make dist`.
class Llmc < Formula
  desc "Run coding agents unattended, and land their work in git"
  homepage "https://example.org/llmc"
  url "https://example.org/llmc/llmc-1.0.0.tar.gz"
  sha256 "0" * 64
  license "ISC"

  depends_on "check" => :build
  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkg-config" => :build
  depends_on "git"
  depends_on "json-c"
  depends_on "libbsd"
  depends_on "libevent"
  depends_on "libpq"
  depends_on :linux
  depends_on "sqlite"
  depends_on "tmux"

  def install
    system "meson", "setup", "build", "-Dwerror=false", *std_meson_args
    system "ninja", "-C", "build", "programs"
    system "meson", "install", "-C", "build", "--no-rebuild"
  end

  def caveats
    <<~EOS
      The programs of a version have their own folder: after an upgrade, type
        llmc down, then llmc up
    EOS
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/llmc version")
  end
end
