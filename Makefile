# Thin front of CMake. Each command installs what it needs and is missing (Debian packages), then builds what it needs.
#   make          the library and the program
#   make demo     the flexed arm under every solver: table and pictures
#   make check    the tests of one build that take seconds
#   make test     all tests: other compilers, sanitizers, installation; the large extras below where they are installed
# Further: bench, lint, golden, format, install, clean, reference (tables of parameters and functions, build/docs). Large extras, which each install what they run:
#   make test-blender    Blender plays what was baked
#   make blender-addon   the Blender add-on, build/cutis_blender.zip, to be installed from Blender's preferences
#   make python          the Python wheel, in build/; `pip install ./python` makes and installs it
#   make test-windows    the Windows build under wine; make windows packs it
#   make test-arm64      the build for 64-bit ARM under qemu
#   make test-farm       a list of bakes on a Slurm of one node
#   make dist            what is handed out, in build/dist: tarballs, Debian packages, wheel, add-on; make test-dist tries it
#   make web             the library as WebAssembly: the npm package, build/npm/cutis
#   make studio          the page to try, tune and bake, served on this machine; make test-web tests all of it in Chromium
#   make site            the page as a folder for any host of static files, build/site

JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
RELEASE = build/release
INSTALL = @mkdir -p build && sh scripts/install-deps.sh

# $(call build,OPTIONS,TARGETS): configure the release build, then build.
define build
@cmake --preset release $(1) >build/configure.log || { cat build/configure.log; exit 1; }
@cmake --build --preset release -j $(JOBS) --target $(2)
endef

.PHONY: build demo tests test check bench lint golden format install clean python windows test-blender test-windows \
        test-arm64 test-farm test-dist dist blender-addon web studio site test-web reference
build:
	$(INSTALL) build
	$(call build,-DCUTIS_TESTS=OFF,all)

demo:
	$(INSTALL) build demo
	$(call build,-DCUTIS_TESTS=OFF,cutis)
	@sh scripts/demo.sh $(RELEASE)/bin/cutis

tests:
	$(INSTALL) build test
	$(call build,-DCUTIS_TESTS=ON,all)

test: tests
	@sh scripts/validator.sh
	@sh scripts/test.sh $(RELEASE) -j $(JOBS)

check: tests
	@sh scripts/test.sh $(RELEASE) -LE "matrix|slow" -j $(JOBS)

test-blender: tests
	$(INSTALL) blender
	@sh scripts/test.sh $(RELEASE) -R blender

python:
	$(INSTALL) build
	$(call build,-DCUTIS_TESTS=OFF,cutis_shared)
	@cd python && /usr/bin/env python3 -c "import build_wheel_here as b; print('build/' + b.build_wheel('../build'))"

test-windows: tests
	$(INSTALL) windows wine
	@sh scripts/test.sh $(RELEASE) -R "^windows$$"

test-arm64: tests
	$(INSTALL) arm64
	@sh scripts/test.sh $(RELEASE) -R "^arm64$$"

test-farm: tests
	$(INSTALL) farm
	@sh scripts/test.sh $(RELEASE) -R "^farm$$"

test-dist: tests
	$(INSTALL) dist
	@CUTIS_DIST_TWICE=1 sh scripts/test.sh $(RELEASE) -R "^dist$$"

dist:
	$(INSTALL) build dist
	@JOBS=$(JOBS) sh scripts/dist.sh

web:
	$(INSTALL) build web
	@JOBS=$(JOBS) sh scripts/web.sh

studio: build web
	@sh scripts/studio.sh
	@$(RELEASE)/bin/cutis studio $(FILE)

site: web
	@sh scripts/studio.sh
	@sh scripts/site.sh

test-web: tests
	$(INSTALL) web chromium
	@sh scripts/test.sh $(RELEASE) -R "^web$$"

windows:
	$(INSTALL) build windows
	@JOBS=$(JOBS) sh scripts/cross.sh win64
	@sh scripts/windows-zip.sh

blender-addon:
	$(INSTALL) build
	$(call build,-DCUTIS_TESTS=OFF,cutis_shared)
	@python3 scripts/blender_zip.py $(RELEASE)/libcutis.so build/cutis_blender.zip

reference:
	$(INSTALL) build
	$(call build,-DCUTIS_TESTS=OFF,cutis)
	@python3 scripts/reference_tables.py $(RELEASE)/bin/cutis build/docs

bench:
	$(INSTALL) build
	$(call build,-DCUTIS_TESTS=OFF,cutis)
	@$(RELEASE)/bin/cutis bench

lint: tests
	$(INSTALL) lint
	@sh scripts/lint.sh $(RELEASE)

# After a change that is meant to change results: say why in the commit.
golden:
	$(INSTALL) build test
	$(call build,-DCUTIS_TESTS=ON,golden)
	@$(RELEASE)/bin/golden 1 >tests/golden.txt
	@git diff --stat tests/golden.txt

format:
	$(INSTALL) lint
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: build
	@cmake -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(RELEASE) >build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --install $(RELEASE) --prefix $(PREFIX)

clean:
	rm -rf build out
