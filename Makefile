# Two commands for people: make demo, make check. They install what is missing, and
# say what; `make` alone only builds. meson does the work.
BUILD = build
.DEFAULT_GOAL = all
.NOTPARALLEL:
.PHONY: all deps world-deps lint-deps demo fleet-demo check check-world check-versions install dist deb static bench soak \
	fuzz format lint docs shots clean

# The programs only: the tests are built when they are run. Installs nothing.
all:
	@tools/deps.sh missing
	@[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD)
	@ninja -C $(BUILD) $$([ -t 1 ] || echo --quiet) programs

deps:
	@tools/deps.sh build

world-deps:
	@tools/deps.sh world

lint-deps:
	@tools/deps.sh lint

# llmc at work, end to end, in a scratch repository.
demo: deps all
	@ninja -C $(BUILD) tests/tools/fake-claude
	@tools/demo.sh $(BUILD)

# Three hosts on one queue; one is killed, one paused.
fleet-demo: deps all
	@ninja -C $(BUILD) tests/tools/fake-claude
	@tools/fleet-demo.sh $(BUILD)

# The tests that say whether it works, and all of them.
check: deps all
	@tests/check.sh $(BUILD) check

check-world: world-deps all
	@tests/check.sh $(BUILD) world

install: all
	meson install -C $(BUILD) --no-rebuild

# What is committed, as an archive with its checksum: build/meson-dist.
dist: deps all
	meson dist -C $(BUILD) --no-tests --allow-dirty --formats gztar

# A Debian package of that: build-deb.
deb: dist
	@tools/deps.sh package
	@tools/deb.sh $(BUILD) build-deb

# An archive with programs that need no library of the machine: build-static.
static: deps all
	@tools/static.sh build-static

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

# The tests with the real Claude Code, with those that are released now.
check-versions: all
	@tests/versions.sh $(BUILD)

# Long-running tests: every test many times, every failing system call, and each
# fuzz target for minutes.
soak: lint-deps all
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
	@tools/docs.sh $(BUILD)

# Pictures of the page, for the README and for looking at.
shots: lint-deps all
	@ninja -C $(BUILD) --quiet tests/tools/fake-claude
	@tools/shots.sh $(BUILD)

lint: lint-deps all
	@tests/lint.sh $(BUILD)

clean:
	rm -rf build build-*
