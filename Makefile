# For testers. OpenBench calls: make -j EXE=name [EVALFILE=network]; all else is plain Cargo.
#
#   make                     the engine for this machine, as ./kiln or what EXE says
#   make CPU=x86-64-v3       for other machines
#   make x86-64-v3           the same, as kiln-VERSION-x86-64-v3; also x86-64-v2 and x86-64-v4
#   make release             all three
#   make pgo                 optimised by a profile of bench; may be combined with EXE, EVALFILE and CPU
#   make clean

EXE ?= kiln
CPU ?= native
CARGO ?= cargo
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
HOST := $(shell rustc -vV | sed -n 's/^host: //p')
FLAGS = -C target-cpu=$(CPU)
# What runs during the build must run here, whatever the engine is built for: with a target named, Cargo keeps the flags from it.
ELSEWHERE := --target-dir target/$(CPU) --target $(HOST)
ifeq ($(CPU),native)
BUILD := --target-dir target
BUILT := target/release
else
BUILD := $(ELSEWHERE)
BUILT := target/$(CPU)/$(HOST)/release
endif
ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif
BINARY := $(patsubst %.exe,%,$(EXE))$(SUFFIX)
# The build reads it from the environment; a path on the command line gets there by itself.
export EVALFILE

engine:
	+RUSTFLAGS="$(FLAGS)" $(CARGO) build --release --locked --bin kiln $(BUILD)
	cp -f $(BUILT)/kiln$(SUFFIX) "$(BINARY)"

LEVELS := x86-64-v2 x86-64-v3 x86-64-v4
release: $(LEVELS)
$(LEVELS):
	+$(MAKE) engine CPU=$@ EXE=kiln-$(VERSION)-$@

TOOLS = $(shell rustc --print sysroot)/lib/rustlib/$(HOST)/bin
LLVM_PROFDATA ?= $(firstword $(wildcard $(TOOLS)/llvm-profdata$(SUFFIX)) llvm-profdata)
PROFILE := $(abspath target/profile)
pgo:
	@"$(LLVM_PROFDATA)" --version >/dev/null 2>&1 || { echo "make pgo needs llvm-profdata: rustup component add llvm-tools, or LLVM_PROFDATA=path of one at least as new as Rust's profiles" >&2; exit 1; }
	rm -rf "$(PROFILE)"
	+RUSTFLAGS="$(FLAGS) -C profile-generate=$(PROFILE)" $(CARGO) build --release --locked --bin kiln $(ELSEWHERE)
	target/$(CPU)/$(HOST)/release/kiln$(SUFFIX) bench >/dev/null
	"$(LLVM_PROFDATA)" merge -o "$(PROFILE)/all.profdata" "$(PROFILE)"
	+RUSTFLAGS="$(FLAGS) -C profile-use=$(PROFILE)/all.profdata" $(CARGO) build --release --locked --bin kiln $(ELSEWHERE)
	cp -f target/$(CPU)/$(HOST)/release/kiln$(SUFFIX) "$(BINARY)"

clean:
	$(CARGO) clean
	rm -f "$(BINARY)" kiln-$(VERSION)-x86-64-v*

.PHONY: engine release $(LEVELS) pgo clean
