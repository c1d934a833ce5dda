# Two commands for people: make demo, make check. meson does the work.
BUILD = build
.DEFAULT_GOAL = all
.PHONY: all deps lint-deps demo fleet-demo check install dist deb static bench soak \
	fuzz format lint docs shots clean

# The programs only: the tests are built when they are run.
all: deps
	@[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD)
	@ninja -C $(BUILD) programs

deps:
	@contrib/deps.sh build

lint-deps:
	@contrib/deps.sh lint

# llmc at work, end to end, in a scratch repository.
demo: all
	@ninja -C $(BUILD) tests/tools/fake-claude
	@contrib/demo.sh $(BUILD)

# Three hosts on one queue; one is killed, one paused.
fleet-demo: all
	@ninja -C $(BUILD) tests/tools/fake-claude
	@contrib/fleet/demo.sh $(BUILD)

check: all
	@tests/check.sh $(BUILD)

install: all
	meson install -C $(BUILD) --no-rebuild

# What is committed, as an archive with its checksum: build/meson-dist.
dist: all
	meson dist -C $(BUILD) --no-tests --allow-dirty --formats gztar

# A Debian package of that: build-deb.
deb: dist
	@contrib/deps.sh package
	@contrib/deb.sh $(BUILD) build-deb

# An archive with programs that need no library of the machine: build-static.
static: all
	@contrib/static.sh build-static

# Speed, measured and printed. One of them: make bench BENCHES=bench-overseer
BENCHES = bench bench-fleet bench-box bench-auto bench-landing bench-plan \
	bench-tick bench-oversight bench-show bench-top bench-book bench-shared \
	bench-queue bench-overseer bench-seed
bench: all
	@ninja -C $(BUILD) --quiet $(BENCHES:%=tests/bench/%) \
		tests/bench/bench-mcp tests/tools/fake-claude tests/tools/beacon.so
	@failed=; for bench in $(BENCHES); do \
		$(BUILD)/tests/bench/$$bench $(BUILD) || failed="$$failed $$bench"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# Long-running tests: every test many times, every failing system call, and each
# fuzz target for minutes.
soak: all lint-deps
	@tests/soak.sh $(BUILD)

# Each fuzz target for FUZZ_SECONDS.
FUZZ_SECONDS = 60
fuzz: lint-deps
	@tests/fuzz/run.sh build-fuzz $(FUZZ_SECONDS)

format: lint-deps
	find src tests -name '*.[ch]' -exec clang-format -i {} +

# The parts of the documents that are generated from tables.
docs: all
	@ninja -C $(BUILD) --quiet tests/e2e/list-failures
	@contrib/docs.sh $(BUILD)

# Pictures of the page, for the README and for looking at.
shots: all lint-deps
	@ninja -C $(BUILD) --quiet tests/tools/fake-claude
	@contrib/shots.sh $(BUILD)

lint: all lint-deps
	@tests/lint.sh $(BUILD)

clean:
	rm -rf build build-*
