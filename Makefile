# What people do with mprof. `make demo` first.

CARGO ?= cargo
ifeq ($(origin CC),default)
CC := gcc
endif
INSTALL ?= install
PREFIX ?= /usr/local

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
RELEASE := $(TARGET)/release
DEMO := $(TARGET)/demo

LIBDIR ?= $(PREFIX)/lib
MAN ?= $(PREFIX)/share/man
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS ?= $(PREFIX)/share/fish/vendor_completions.d

PROGRAMS := mprof mpfilt mpdisplay
GENERATED := $(TARGET)/generated
DOCUMENTS := $(wildcard README.md CHANGELOG.md LICENSE-* docs/*.md)
HEADERS := $(wildcard mprof-preload/include/*.h)

.PHONY: help build generated demo test random soak instructions bench bench-parts bench-dwarf bench-peers install uninstall deb clean

help:
	@echo 'make demo               the four tables for the program of the paper'
	@echo 'make test               all tests, on the release build of the library'
	@echo 'make random             the random programs with 1000 seeds (SEEDS=...)'
	@echo 'make soak               everything at once for ten minutes (SOAK=seconds)'
	@echo 'make instructions       renew the counts of instructions that a test compares with'
	@echo 'make bench              what the library costs on the workloads of bench/'
	@echo 'make bench-parts        what the parts of the hot path cost'
	@echo 'make bench-dwarf        how long a report takes with 300 MB of debug information'
	@echo 'make bench-peers        other profilers beside it, which apt installs'
	@echo 'make install PREFIX=DIR library, tools, manual pages, completions (DESTDIR is honoured)'
	@echo 'make deb                the same as a Debian package'
	@echo 'make clean              remove all that was built'

build:
	$(CARGO) build --release -p mprof-preload -p mpfilt -p mpdisplay

# Manual pages and shell completions, from the definitions of the command lines.
generated:
	$(CARGO) run --quiet -p xtask -- man '$(GENERATED)/man'
	$(CARGO) run --quiet -p xtask -- completions '$(GENERATED)/completions'

# The path of a preloaded library must have no blanks and colons in it: it is given relative to the program's folder.
demo: build
	@mkdir -p '$(DEMO)'
	@rm -f '$(DEMO)'/mprof.data*
	$(CC) -O0 -g -o '$(DEMO)/widgets' c-tests/programs/widgets.c
	cd '$(DEMO)' && LD_PRELOAD=../release/libmprof.so ./widgets
	cd '$(DEMO)' && ../release/mpdisplay

test: build
	MPROF_LIB='$(RELEASE)/libmprof.so' MPROF_BIN_DIR='$(RELEASE)' $(CARGO) test --workspace --no-fail-fast

SEEDS ?= 1000
random: build
	C_TESTS_SEEDS='$(SEEDS)' MPROF_LIB='$(RELEASE)/libmprof.so' MPROF_BIN_DIR='$(RELEASE)' \
	    $(CARGO) test -p c-tests --test random -- --nocapture

# Seconds.
SOAK ?= 600
soak: build
	C_TESTS_SOAK='$(SOAK)' MPROF_LIB='$(RELEASE)/libmprof.so' MPROF_BIN_DIR='$(RELEASE)' \
	    $(CARGO) test -p c-tests --test soak -- --nocapture

instructions: build
	C_TESTS_RENEW=1 MPROF_LIB='$(RELEASE)/libmprof.so' MPROF_BIN_DIR='$(RELEASE)' \
	    $(CARGO) test -p c-tests --test instructions -- --nocapture

bench: build
	$(CARGO) build --release -p mprof-format --example count
	python3 bench/bench.py --out '$(TARGET)/bench' --library '$(RELEASE)/libmprof.so' --display '$(RELEASE)/mpdisplay' \
	    --counter '$(RELEASE)/examples/count' --json '$(TARGET)/bench.json' $(BENCH)

bench-parts:
	$(CARGO) bench -p mprof-core --bench parts

bench-dwarf: build
	python3 bench/dwarf.py '$(RELEASE)/libmprof.so' '$(RELEASE)/mpdisplay'

# The others too, with a tenth of the work: some of them take a hundred times as long.
bench-peers:
	apt-get install -y --no-install-recommends heaptrack valgrind google-perftools libgoogle-perftools4 libgoogle-perftools-dev
	$(MAKE) bench BENCH='--peers --scale 0.1 --rounds 3 $(BENCH)'

install: build generated
	$(INSTALL) -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(LIBDIR)' '$(DESTDIR)$(PREFIX)/share/doc/mprof' \
	    $(patsubst %,'$(DESTDIR)%',$(MAN)/man1 $(MAN)/man3 $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS))
	$(INSTALL) -m 755 $(patsubst %,'$(RELEASE)/%',$(PROGRAMS)) '$(DESTDIR)$(PREFIX)/bin'
	$(INSTALL) -m 644 '$(RELEASE)/libmprof.so' '$(DESTDIR)$(LIBDIR)'
	$(INSTALL) -m 644 $(DOCUMENTS) '$(DESTDIR)$(PREFIX)/share/doc/mprof'
	$(INSTALL) -m 644 '$(GENERATED)'/man/man1/*.1 '$(DESTDIR)$(MAN)/man1'
	$(INSTALL) -m 644 '$(GENERATED)'/man/man3/*.3 '$(DESTDIR)$(MAN)/man3'
	$(INSTALL) -m 644 '$(GENERATED)'/completions/bash/* '$(DESTDIR)$(BASH_COMPLETIONS)'
	$(INSTALL) -m 644 '$(GENERATED)'/completions/zsh/* '$(DESTDIR)$(ZSH_COMPLETIONS)'
	$(INSTALL) -m 644 '$(GENERATED)'/completions/fish/* '$(DESTDIR)$(FISH_COMPLETIONS)'
	$(if $(HEADERS),$(INSTALL) -d '$(DESTDIR)$(PREFIX)/include')
	$(if $(HEADERS),$(INSTALL) -m 644 $(HEADERS) '$(DESTDIR)$(PREFIX)/include')

uninstall:
	rm -f $(patsubst %,'$(DESTDIR)$(PREFIX)/bin/%',$(PROGRAMS)) '$(DESTDIR)$(LIBDIR)/libmprof.so'
	rm -f $(patsubst %,'$(DESTDIR)$(MAN)/man1/%.1',$(PROGRAMS)) '$(DESTDIR)$(MAN)/man3/libmprof.3'
	rm -f $(patsubst %,'$(DESTDIR)$(BASH_COMPLETIONS)/%',$(PROGRAMS))
	rm -f $(patsubst %,'$(DESTDIR)$(ZSH_COMPLETIONS)/_%',$(PROGRAMS))
	rm -f $(patsubst %,'$(DESTDIR)$(FISH_COMPLETIONS)/%.fish',$(PROGRAMS))
	rm -f $(patsubst %,'$(DESTDIR)$(PREFIX)/include/%',$(notdir $(HEADERS)))
	rm -rf '$(DESTDIR)$(PREFIX)/share/doc/mprof'

# A Debian package of the same.
deb:
	packaging/deb.sh '$(TARGET)'

clean:
	$(CARGO) clean
