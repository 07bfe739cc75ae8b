# Thin front of CMake. Each command installs what is missing first (Debian packages), then builds what it needs.
#   make demo     the flexed arm under every solver: table and pictures
#   make test     all tests
# Further: build, check (the tests without the build matrix), bench, lint, golden, format, install, clean.

JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
RELEASE = build/release

.PHONY: build demo test check bench lint golden format install clean deps
build: deps
	@cmake --preset release >build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS)

deps:
	@sh scripts/install-deps.sh
	@mkdir -p build

demo: build
	@sh scripts/demo.sh $(RELEASE)/bin/cutis

test: build
	@sh scripts/validator.sh
	@sh scripts/test.sh $(RELEASE) -j $(JOBS)

check: build
	@sh scripts/test.sh $(RELEASE) -LE matrix -j $(JOBS)

bench: build
	@$(RELEASE)/bin/cutis bench

lint: build
	@sh scripts/lint.sh $(RELEASE)

# After a change that is meant to change results: say why in the commit.
golden: deps
	@cmake --preset release >build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS) --target golden
	@$(RELEASE)/bin/golden 1 >tests/golden.txt
	@git diff --stat tests/golden.txt

format: deps
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: build
	@cmake -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(RELEASE) >build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --install $(RELEASE) --prefix $(PREFIX)

clean:
	rm -rf build out
