# Two commands for people: make demo, make check. meson does the work.
BUILD = build
.DEFAULT_GOAL = all
.PHONY: all deps lint-deps demo check install bench soak fuzz format lint docs \
	shots clean

all: deps
	@[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD)
	@ninja -C $(BUILD) --quiet

deps:
	@contrib/deps.sh build

lint-deps:
	@contrib/deps.sh lint

# llmc at work, end to end, in a scratch repository.
demo: all
	@contrib/demo.sh $(BUILD)

check: all
	@tests/check.sh $(BUILD)

install: all
	meson install -C $(BUILD)

# Speed, measured and printed.
bench: all
	@ninja -C $(BUILD) --quiet tests/bench/bench tests/bench/bench-fleet \
		tests/bench/bench-box tests/bench/bench-mcp \
		tests/bench/bench-auto tests/bench/bench-landing \
		tests/bench/bench-overseer tests/bench/bench-queue \
		tests/bench/bench-plan tests/bench/bench-store \
		tests/bench/bench-tick tests/bench/bench-oversight \
		tests/bench/bench-eyes tests/bench/bench-top \
		tests/tools/beacon.so
	@$(BUILD)/tests/bench/bench $(BUILD)
	@$(BUILD)/tests/bench/bench-fleet $(BUILD)
	@$(BUILD)/tests/bench/bench-box $(BUILD)
	@$(BUILD)/tests/bench/bench-auto $(BUILD)
	@$(BUILD)/tests/bench/bench-landing
	@$(BUILD)/tests/bench/bench-plan
	@$(BUILD)/tests/bench/bench-tick
	@$(BUILD)/tests/bench/bench-oversight
	@$(BUILD)/tests/bench/bench-eyes $(BUILD)
	@$(BUILD)/tests/bench/bench-top $(BUILD)
	@$(BUILD)/tests/bench/bench-store $(BUILD)
	@$(BUILD)/tests/bench/bench-queue $(BUILD)
	@$(BUILD)/tests/bench/bench-overseer $(BUILD)

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
	@contrib/docs.sh $(BUILD)

# Pictures of the page, for the README and for looking at.
shots: all lint-deps
	@contrib/shots.sh $(BUILD)

lint: all lint-deps
	@tests/lint.sh $(BUILD)

clean:
	rm -rf build build-*
