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

.PHONY: help build demo test bench install uninstall clean

help:
	@echo 'make demo               the four tables for the program of the paper'
	@echo 'make test               all tests, on the release build of the library'
	@echo 'make bench              what the library costs on the workloads of bench/'
	@echo 'make install PREFIX=DIR library, tools and documentation (DESTDIR is honoured)'
	@echo 'make clean              remove all that was built'

build:
	$(CARGO) build --release -p mprof-preload -p mpfilt -p mpdisplay

# The path of a preloaded library must have no blanks and colons in it: it is given relative to the program's folder.
demo: build
	@mkdir -p '$(DEMO)'
	@rm -f '$(DEMO)'/mprof.data*
	$(CC) -O0 -g -o '$(DEMO)/widgets' c-tests/programs/widgets.c
	cd '$(DEMO)' && LD_PRELOAD=../release/libmprof.so ./widgets
	cd '$(DEMO)' && ../release/mpdisplay

test: build
	MPROF_LIB='$(RELEASE)/libmprof.so' MPROF_BIN_DIR='$(RELEASE)' $(CARGO) test --workspace --no-fail-fast

bench: build
	python3 bench/bench.py --library '$(RELEASE)/libmprof.so'

install: build
	$(INSTALL) -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/lib' '$(DESTDIR)$(PREFIX)/share/doc/mprof'
	$(INSTALL) -m 755 '$(RELEASE)/mpfilt' '$(RELEASE)/mpdisplay' '$(DESTDIR)$(PREFIX)/bin'
	$(INSTALL) -m 644 '$(RELEASE)/libmprof.so' '$(DESTDIR)$(PREFIX)/lib'
	$(INSTALL) -m 644 $(wildcard README.md CHANGELOG.md LICENSE-* docs/*.md) '$(DESTDIR)$(PREFIX)/share/doc/mprof'
	for page in $(wildcard docs/man/*.1); do \
	    $(INSTALL) -D -m 644 "$$page" '$(DESTDIR)$(PREFIX)/share/man/man1/'"$${page##*/}" || exit 1; \
	done

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/mpfilt' '$(DESTDIR)$(PREFIX)/bin/mpdisplay' '$(DESTDIR)$(PREFIX)/lib/libmprof.so'
	rm -f $(patsubst docs/man/%,'$(DESTDIR)$(PREFIX)/share/man/man1/%',$(wildcard docs/man/*.1))
	rm -rf '$(DESTDIR)$(PREFIX)/share/doc/mprof'

clean:
	$(CARGO) clean
