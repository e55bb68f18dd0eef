# For testers. OpenBench runs `make -j EXE=name [EVALFILE=network]`; everything else uses plain Cargo.
#
#   make                     the engine for this machine, as ./kiln or $(EXE)
#   make CPU=x86-64-v3       the engine for another instruction set
#   make x86-64-v3           the same, as kiln-VERSION-x86-64-v3; also x86-64-v2, x86-64-v4 and x86-64-v4-vbmi
#   make release             all four
#   make FEATURES=tune       with search parameters as UCI options (docs/testing.md)
#   make universal           one binary for every x86-64 processor, as kiln-VERSION-x86-64 or $(EXE) (Linux)
#   make pgo                 profile-guided optimisation with a profile of `bench`; accepts EXE, EVALFILE, CPU, FEATURES
#   make serve               the browser version at http://localhost:8000, or PORT; make web only builds it
#   make clean               remove build outputs

EXE ?= kiln
CPU ?= native
CARGO ?= cargo
FEATURES ?=
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
HOST := $(shell rustc -vV | sed -n 's/^host: //p')
# Not icelake-server, which has features that Zen 4 lacks, such as SGX, and that the engine does not use, such as SHA.
ifeq ($(CPU),x86-64-v4-vbmi)
FLAGS = -C target-cpu=x86-64-v4 \
    -C target-feature=+avx512ifma,+avx512vbmi,+avx512vbmi2,+avx512vnni,+avx512bitalg,+avx512vpopcntdq,+gfni
else
FLAGS = -C target-cpu=$(CPU)
endif
# Build scripts must run on this machine, whatever CPU the engine is built for: with an explicit --target, Cargo does
# not apply RUSTFLAGS to them.
ELSEWHERE := --target-dir target/$(CPU) --target $(HOST)
ifeq ($(CPU),native)
BUILD := --target-dir target
BUILT := target/dist
else
BUILD := $(ELSEWHERE)
BUILT := target/$(CPU)/$(HOST)/dist
endif
ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif
BINARY := $(patsubst %.exe,%,$(EXE))$(SUFFIX)
# build.rs reads EVALFILE from the environment.
export EVALFILE

engine:
	+RUSTFLAGS="$(FLAGS)" $(CARGO) build --profile dist --locked --bin kiln --features "$(FEATURES)" $(BUILD)
	cp -f $(BUILT)/kiln$(SUFFIX) "$(BINARY)"

LEVELS := x86-64-v2 x86-64-v3 x86-64-v4 x86-64-v4-vbmi
release: $(LEVELS)
$(LEVELS):
	+$(MAKE) engine CPU=$@ EXE=kiln-$(VERSION)-$@

# Each level is a relocatable object in which only two symbols are global, under names of its own.
UNIVERSAL := kiln-$(VERSION)-x86-64
ifeq ($(origin EXE),command line)
UNIVERSAL := $(BINARY)
endif
universal:
	+$(foreach level,$(LEVELS),$(MAKE) level CPU=$(level) &&) true
	rustc --edition 2024 -O -C target-cpu=x86-64 -C target-feature=+crt-static -C panic=abort -C strip=symbols \
	    universal/main.rs -o "$(UNIVERSAL)" \
	    $(foreach level,$(LEVELS),-C link-arg=target/$(level)/level.o)

LEVEL = $(subst -,_,$(subst x86-64-,,$(CPU)))
level:
	+RUSTFLAGS="$(FLAGS)" $(CARGO) build --profile dist --locked -p kiln-universal --features "$(FEATURES)" $(ELSEWHERE)
	ld -r --gc-sections --force-group-allocation -u kiln_start -u KILN_REQUIRED -o target/$(CPU)/all.o \
	    target/$(CPU)/$(HOST)/dist/libkiln_universal.a
	objcopy --redefine-sym kiln_start=kiln_start_$(LEVEL) --keep-global-symbol=kiln_start_$(LEVEL) \
	    --redefine-sym KILN_REQUIRED=KILN_REQUIRED_$(LEVEL) --keep-global-symbol=KILN_REQUIRED_$(LEVEL) \
	    target/$(CPU)/all.o target/$(CPU)/level.o

# The engine may use 2 GB; a search runs on a stack of its own.
WASM := -C target-feature=+simd128
web:
	@command -v npm >/dev/null || { echo "make web needs Node.js with npm" >&2; exit 1; }
	@rustup target add wasm32-wasip1-threads wasm32-unknown-unknown || { echo "make web needs the targets wasm32-wasip1-threads and wasm32-unknown-unknown" >&2; exit 1; }
	+RUSTFLAGS="$(WASM) -C link-arg=--initial-memory=134217728 -C link-arg=--max-memory=2147483648" \
	    $(CARGO) build --profile dist --locked -p kiln-web --bin engine --target wasm32-wasip1-threads
	+RUSTFLAGS="$(WASM)" $(CARGO) build --profile dist --locked -p kiln-web --lib --target wasm32-unknown-unknown
	npm ci --prefix web --no-audit --no-fund
	node web/build.js target/wasm32-wasip1-threads/dist/engine.wasm target/wasm32-unknown-unknown/dist/rules.wasm \
	    target/web
serve: web
	node web/serve.js target/web $(PORT)

TOOLS = $(shell rustc --print sysroot)/lib/rustlib/$(HOST)/bin
LLVM_PROFDATA ?= $(firstword $(wildcard $(TOOLS)/llvm-profdata$(SUFFIX)) llvm-profdata)
PROFILE := $(abspath target/profile)
pgo:
	@"$(LLVM_PROFDATA)" --version >/dev/null 2>&1 || { echo "make pgo needs llvm-profdata: rustup component add llvm-tools, or LLVM_PROFDATA=path of one at least as new as Rust's profiles" >&2; exit 1; }
	rm -rf "$(PROFILE)"
	+RUSTFLAGS="$(FLAGS) -C profile-generate=$(PROFILE)" $(CARGO) build --profile dist --locked --bin kiln --features "$(FEATURES)" $(ELSEWHERE)
	target/$(CPU)/$(HOST)/dist/kiln$(SUFFIX) bench >/dev/null
	"$(LLVM_PROFDATA)" merge -o "$(PROFILE)/all.profdata" "$(PROFILE)"
	+RUSTFLAGS="$(FLAGS) -C profile-use=$(PROFILE)/all.profdata" $(CARGO) build --profile dist --locked --bin kiln --features "$(FEATURES)" $(ELSEWHERE)
	cp -f target/$(CPU)/$(HOST)/dist/kiln$(SUFFIX) "$(BINARY)"

clean:
	$(CARGO) clean
	rm -f "$(BINARY)" kiln-$(VERSION)-x86-64*

.PHONY: engine release $(LEVELS) universal level web serve pgo clean
