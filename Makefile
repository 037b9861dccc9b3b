# Ferry. `make run` shows the first lesson, `make test` tests everything, `make help` lists the rest.

CC  = gcc
CXX = g++
B   ?= build
# One name for a folder: what an object is made from is kept under it.
override B := $(patsubst $(CURDIR)/%,%,$(B))
OPT ?= -O2 -g
SAN ?=
PREFIX ?= /usr/local
RUNS ?= 20000
NVCC ?= $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
LESSON ?= 01-where-am-i
# NVIDIA's driver shows itself by one of these, as in lib/devices/cuda_library.c: then a card may answer.
DRIVER := $(wildcard /proc/driver/nvidia/version /dev/nvidiactl /usr/lib/wsl/lib/libcuda.so.1 /dev/nvmap)
# What the real card's kernels are compiled for: the card that is here; else every card, as for `make gpu-check`.
GPU_CODE ?= $(if $(DRIVER),-arch=native,$(EVERY_CARD))

# ---- nothing below needs changing -------------------------------------------------------------

# A toolkit by nvcc's own word: its path may be a link or a wrapper, and headers may be missing.
NVCC := $(NVCC)
CUDA := $(if $(NVCC),$(shell $(NVCC) -dryrun -x cu -c /dev/null 2>&1 | sed -n 's/"//g; s/^.*\(INCLUDES\|LIBRARIES\)=//p'))
CUDA_INCLUDE := $(addprefix -isystem ,$(realpath $(patsubst -I%,%,$(filter -I%,$(CUDA)))))
CUDA_LIBS := $(addprefix -L,$(realpath $(filter-out %/stubs,$(patsubst -L%,%,$(filter -L%,$(CUDA)))))) -lcudart_static -ldl -lrt
ifneq ($(NVCC),)
CUDA_LACKS := $(shell echo 'int main(void) { return cudaFree(0); }' | \
  $(CC) $(CUDA_INCLUDE) -include cuda_runtime_api.h -x c - $(CUDA_LIBS) -lpthread -o /dev/null 2>&1 | head -1)
ifneq ($(CUDA_LACKS),)
$(info ferry: no kernels for a real card: $(NVCC) has no usable runtime: $(CUDA_LACKS))
override NVCC :=
endif
endif
export NVCC # tests call make as well

VERSION = 0.1.0
WARN    = -Wall -Wextra -Wshadow -Wconversion $(if $(filter true,$(CI)),-Werror)
CFLAGS += -std=gnu11 $(OPT) $(WARN) $(SAN) -MMD -MP -DFERRY_VERSION='"$(VERSION)"'
# Kernels are CUDA, read as C++ by g++ for the simulated card; no C++ runtime is linked.
CXXFLAGS += -std=gnu++17 $(OPT) -Wall -Wextra $(if $(filter true,$(CI)),-Werror) $(SAN) -MMD -MP -fno-exceptions -fno-rtti -fwrapv
CORE_LIBS = -lopenblas -lzip -lm -lpthread -ldl
# Lines alone (-g1) are what sanitizers print; relocations (-pie) would add half to what a hundred tests take on the disk.
# gold, where it is, links a hundred programs of 30 MB in half of the time, if it need not hash them as well.
ASAN = B=$(B)/asan OPT='-O1 -g1' SAN='-fsanitize=address,undefined -fno-omit-frame-pointer -fno-pie -no-pie $(GOLD)' NVCC=
GOLD = $(if $(shell command -v ld.gold),-fuse-ld=gold -Wl$(comma)--build-id=none -Wl$(comma)-O0 -Wl$(comma)--no-threads)
TSAN = B=$(B)/tsan OPT='-O1 -g1' SAN=-fsanitize=thread NVCC=
CLANG = B=$(B)/clang CC=clang CXX=clang++ CI=true NVCC=
HAVE := $(shell CC="$(CC)" .ci/have cjson civetweb cmark)
# The editor of the page: CodeMirror 5, as the distribution has it; embedded, with its licence (www/licences.txt).
CODEMIRROR ?= $(firstword $(wildcard /usr/share/javascript/codemirror /usr/share/nodejs/codemirror))
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc) --no-print-directory
endif
comma = ,

# libferry.a: tensors, events, devices and the kernels of the simulated card. No web in it.
LIB = $(patsubst %.c,$(B)/%.o,$(filter-out $(DOOR),$(wildcard lib/*/*.c)))
INSIDE = -Ilib $(patsubst %/,-I%,$(wildcard lib/*/)) # users get lib/ alone: the public headers
VIEWER = $(patsubst %/,-I%,$(wildcard viewer/*/))
SIM = $(patsubst %,$(B)/%.o,$(wildcard kernels/*.cu kernels/*.cc))

# libferry-cuda.so: the real card's back end, its kernels and the CUDA runtime. Nothing is linked with it: a program
# loads it when a card may answer (lib/devices/cuda_library.h), beside itself, or from where it is installed.
DOOR = lib/devices/cuda.c lib/devices/cuda_entry.c
REAL ?= $(if $(NVCC),$(B)/libferry-cuda.so)
REAL_PARTS = $(patsubst lib/devices/%.c,%.o,$(DOOR)) $(patsubst kernels/%.cu,%.nv.o,$(wildcard kernels/*.cu))
BESIDE = -Wl,-rpath,'$$ORIGIN:$$ORIGIN/..:$$ORIGIN/../lib:$$ORIGIN/../../lib'

$(B)/lib/%.o $(B)/cuda/%.o: CFLAGS += -DFERRY_INSIDE
$(B)/viewer/%.o: INSIDE += $(VIEWER)
$(B)/kernels/%.o: CXXFLAGS += -DFERRY_INSIDE

# Loops over elements: vectorised, and with the same results on every machine.
# cpu_reduce.c is large: at -O3 it alone would take half a minute, at -O2 a quarter, and what is vectorised at -O1 is
# as fast within 5 % on the average.
FAST = $(if $(SAN),,$(if $(filter-out clang%,$(CC)),$(if $(filter %cpu_reduce.o,$@),-O1 -g1 -ftree-vectorize -fvect-cost-model=dynamic,-O3),-O3))
$(B)/lib/cpu/cpu_%.o $(B)/checks/%.o: CFLAGS += $(FAST) -fno-trapping-math -fno-math-errno -ffp-contract=off

# What a learner's program is linked with, for compile.c, which chooses the linker. Its null pointers crash as they do
# anywhere.
LEARNER_SAN = $(if $(findstring undefined,$(SAN)),-fno-sanitize=null)
$(B)/viewer/compile/compile.o: CFLAGS += -DFERRY_CORE_LIBS='"$(strip $(filter-out $(GOLD),$(SAN)) $(LEARNER_SAN) $(CORE_LIBS))"'

# libferry-view.a: the server and the page. Without civetweb, a word in their place.
WEB = $(addprefix server/,server http front client frame_reader socket threads gate page_stream assets) embed/view
ifneq ($(filter civetweb,$(HAVE)),)
VIEW_NAMES = $(WEB) embed/browser trace/event_arena trace/event_json trace/feed trace/json_scan trace/trace files/memory files/id_map
VIEW_LIBS  = -lcivetweb -lcjson -ldl
VIEW_HOOK  = -Wl,-u,fy_viewer
else
VIEW_NAMES = server/assets embed/no_server embed/browser trace/event_arena trace/event_json trace/feed trace/json_scan trace/trace files/memory files/id_map
VIEW_LIBS  = -lcjson
endif
VIEW    = $(patsubst %,$(B)/viewer/%.o,$(VIEW_NAMES)) $(if $(filter $(WEB),$(VIEW_NAMES)),$(B)/viewer/cost.o)
LINK_VIEW = -L$(B) $(BESIDE) $(VIEW_HOOK) -lferry-view -lferry $(VIEW_LIBS) $(CORE_LIBS)

# Findings and what-if for the page, whose names no program's may clash with: one object that exports two functions.
COST    = $(B)/viewer/server/run_cost.o $(patsubst %.c,$(B)/%.o,$(wildcard viewer/analyze/*.c viewer/whatif/*.c))
# `ferry`: all that, the lesson runner and the grader.
COMMAND = $(filter-out $(VIEW) $(patsubst %,$(B)/viewer/%.o,$(WEB) server/run_cost embed/no_server lessons/lesson_program),\
            $(patsubst %.c,$(B)/%.o,$(wildcard viewer/*/*.c)))
JUDGED  = $(wildcard lessons/*/check.c)
CHECKS  = $(B)/checks/table.o $(JUDGED:lessons/%/check.c=$(B)/checks/%.o)
HEADERS = $(wildcard lib/ferry.h lib/ferry_*.h)
# What a check.c of a teacher's own lesson includes, and what of ferry it may call.
GRADER  = viewer/grade/grade.h viewer/trace/trace.h viewer/trace/event_arena.h \
  $(addprefix lib/,trace/event_reader.h trace/event.h trace/schema.h trace/log.h base/text.h)
GRADER_COPIES = $(addprefix $(B)/grader/,$(notdir $(GRADER)))
CALLED_BY_CHECKS = $(patsubst %,$(B)/viewer/grade/%.o,grade checks claims limits event_query) $(B)/lib/trace/event_reader.o
MANUAL  = $(patsubst lib/%,$(B)/include/%,$(HEADERS)) # what learners' programs see of lib/
DEMOS   = $(patsubst lessons/%/demo.c,$(B)/lessons/%,$(wildcard lessons/*/demo.c))
SOLVED  = $(patsubst lessons/%/solution.c,$(B)/solutions/%,$(wildcard lessons/*/solution.c))
SHOWN   = $(patsubst lessons/%.c,$(B)/%,$(wildcard lessons/experiments/*.c))
TESTS   = $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/*_test.c))
PLAIN   = $(addprefix $(B)/tests/,$(shell grep -xE '[a-z_]+_test' tests/plain.txt)) # what differs without ASan
BENCHES = $(patsubst tests/%.c,$(B)/%,$(filter-out %/bench.c,$(wildcard tests/bench/*.c)))

ifeq ($(filter cjson cmark,$(HAVE)),cjson cmark)
all: $(B)/libferry.a $(B)/libferry-view.a $(B)/ferry $(MANUAL) $(GRADER_COPIES) $(DEMOS) $(B)/ferry.pc $(B)/ferry-core.pc $(REAL) ## build everything that users get
else
all: $(B)/libferry.a $(REAL)
	@echo 'ferry: built the library alone: $(filter-out $(HAVE),cjson cmark) is missing (.ci/deps says how to install it)'
endif
ifeq ($(CODEMIRROR),)
	@echo 'ferry: built with a plain text field as the editor: CodeMirror is missing (.ci/deps says how to install it)'
endif
ifeq ($(filter civetweb,$(HAVE)),)
	@echo 'ferry: built without the browser view: civetweb is missing (.ci/deps says how to install it)'
endif

ifndef V
.SILENT:
endif
$(B)/libferry.a: $(LIB) $(SIM)
$(B)/libferry-view.a: $(VIEW)
$(B)/viewer/cost.o: $(COST) Makefile
	echo '  ld   $@'
	ld -r $(COST) -o $@ && objcopy -G fy_run_findings -G fy_run_whatif $@
# For pkg-config: as installed, and as built (PKG_CONFIG_PATH=build).
MAKE_PC = sed -e 's|@VERSION@|$(VERSION)|; s|@VIEW_HOOK@|$(VIEW_HOOK)|; s|@VIEW_LIBS@|$(VIEW_LIBS)|' \
  -e 's|@CORE_LIBS@|$(CORE_LIBS)|; s|@PREFIX@|$(PREFIX)|'
# As built, they say where they lie themselves: a checkout may be moved or copied.
HEADERS_FROM_B = $(if $(filter /%,$(B)),$(CURDIR),$${pcfiledir}/$(shell realpath -m --relative-to=$(B) .))/lib
$(B)/%.pc: lib/%.pc.in Makefile
	mkdir -p $(@D)
	$(MAKE_PC) -e '/^prefix=/d; s|^libdir=.*|libdir=$${pcfiledir}|; s|^includedir=.*|includedir=$(HEADERS_FROM_B)|' $< >$@
$(B)/include/%.h: lib/%.h
	mkdir -p $(@D) && cp $< $@
define COPY_HEADER
$(B)/grader/$(notdir $1): $1
	mkdir -p $$(@D) && cp $$< $$@
endef
$(foreach h,$(GRADER),$(eval $(call COPY_HEADER,$h)))
$(B)/%.a:
	echo '  ar   $@'
	rm -f $@ && ar rcs $@ $^
$(B)/%.o: %.c
	mkdir -p $(@D) && echo '  cc   $<'
	$(CC) $(CFLAGS) $(INSIDE) -c $< -o $@
# lesson_checks, the table of what is in lessons/: lesson_check_03 of 03-round-trip.
CHECK_NAMES = $(foreach c,$(JUDGED:lessons/%/check.c=%),lesson_check_$(firstword $(subst -, ,$c)))
ifneq ($(CHECK_NAMES),$(shell cat $(B)/checks/table.list 2>/dev/null))
.PHONY: $(B)/checks/table.c
endif
$(B)/checks/table.c:
	mkdir -p $(@D)
	printf '#include "grade.h"\n' >$@
	printf 'extern const lesson_check %s;\n' $(CHECK_NAMES) >>$@
	printf 'const lesson_check *lesson_checks[] = {\n' >>$@
	printf '    &%s,\n' $(CHECK_NAMES) >>$@
	printf '    NULL};\n' >>$@
	echo '$(CHECK_NAMES)' >$(@D)/table.list
$(B)/checks/table.o: $(B)/checks/table.c
	echo '  cc   $<'
	$(CC) $(CFLAGS) $(INSIDE) $(VIEWER) -c $< -o $@
$(B)/checks/%.o: lessons/%/check.c
	mkdir -p $(@D) && echo '  cc   $<'
	$(CC) $(CFLAGS) $(INSIDE) $(VIEWER) -c $< -o $@
# -O1: of a simulated kernel, emulating threads and blocks takes most of the time; -O2 only compiles longer. With
# sanitizers -O1 would compile three times as long as -O0.
$(B)/%.cu.o: %.cu
	mkdir -p $(@D) && echo '  c++  $<'
	$(CXX) $(CXXFLAGS) $(if $(SAN),-O0,-O1) -fno-math-errno -g1 $(INSIDE) -x c++ -c $< -o $@
$(B)/%.cc.o: %.cc
	mkdir -p $(@D) && echo '  c++  $<'
	$(CXX) $(CXXFLAGS) -U_FORTIFY_SOURCE $(INSIDE) -c $< -o $@
# The kernels for the race checker (kernels/racecheck.cc), which is in the library and takes the place of libtsan.
FOR_RACECHECK = $(CXX) $(CXXFLAGS) -O1 -g1 -fno-math-errno -fsanitize=thread -DFERRY_INSIDE -DFERRY_RACECHECK $(INSIDE) -x c++
$(B)/racecheck/%.o: kernels/%.cu
	mkdir -p $(@D) && echo '  c++  $< (for the race checker)'
	$(FOR_RACECHECK) -c $< -o $@
# The kernels for a card, and what carries them. In every/: for many cards, as small as can be (gpu-check). In compiled/:
# only to see that they compile, in a tenth of the time.
NV = $(NVCC) -DFERRY_INSIDE -O2 -std=c++17 -Xfatbin -compress-all -Xcompiler -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-threadsafe-statics,-fno-rtti $(INSIDE)
EVERY_CARD = -gencode arch=compute_75,code=[sm_75,sm_80,sm_86,sm_89,sm_90,sm_100,sm_120] \
  -gencode arch=compute_90,code=compute_90 -DFY_EVERY_CARD --compress-mode=size
$(B)/every/libferry-cuda.so: STRIPPED = -s
$(B)/cuda/%.nv.o: kernels/%.cu
	mkdir -p $(@D) && echo '  nvcc $<'
	$(NV) $(GPU_CODE) -MMD -MP -c $< -o $@
$(B)/every/%.nv.o: kernels/%.cu
	mkdir -p $(@D) && echo '  nvcc $< (for every card)'
	$(NV) $(EVERY_CARD) -MMD -MP -c $< -o $@
$(B)/compiled/%.ptx: kernels/%.cu
	mkdir -p $(@D) && echo '  nvcc $< (not optimized)'
	$(NV) -Xcicc -O0 -arch=compute_75 -MMD -MP -ptx $< -o $@
$(B)/cuda/%.o: lib/devices/%.c
	mkdir -p $(@D) && echo '  cc   $< (for the real card)'
	$(CC) $(CFLAGS) -fPIC -fvisibility=hidden $(CUDA_INCLUDE) $(INSIDE) -c $< -o $@
$(B)/libferry-cuda.so: $(addprefix $(B)/cuda/,$(REAL_PARTS))
$(B)/every/libferry-cuda.so: $(patsubst %,$(B)/every/%,$(filter %.nv.o,$(REAL_PARTS))) $(patsubst %,$(B)/cuda/%,$(filter-out %.nv.o,$(REAL_PARTS)))
$(B)/libferry-cuda.so $(B)/every/libferry-cuda.so:
	echo '  ld   $@'
	$(CC) -shared $(STRIPPED) -Wl,-z,defs,--exclude-libs,ALL $^ $(CUDA_LIBS) -lm -lpthread -o $@
# The page, as bytes in the library: a table of what lies in www/, and what is made for it: its modules as one script, the
# editor's library, of parts in this order, and the names that it completes. It hangs on the files and on the list of
# them: the folder's own time changes whenever an editor saves there, and a file that is gone is newer than nothing.
MADE = $(addprefix $(B)/www/library/,codemirror.js codemirror.css names.js)
MODULES = $(sort $(wildcard www/*.js www/*/*.js))
PAGE = $(sort $(filter %.html %.css %.svg %.json %.png %.txt,$(wildcard www/* www/*/*))) $(B)/www/main.js $(filter-out %/names.js,$(MADE))
PAGE_WAS := $(shell cat $(B)/viewer/server/page.list 2>/dev/null)
ifneq ($(PAGE) $(MODULES) $(CODEMIRROR),$(PAGE_WAS))
.PHONY: $(B)/viewer/server/assets.S $(B)/www/main.js $(MADE)
endif
EDITOR_JS = lib/codemirror mode/clike/clike addon/edit/matchbrackets addon/edit/closebrackets addon/comment/comment \
  addon/dialog/dialog addon/search/searchcursor addon/search/search addon/hint/show-hint
EDITOR_CSS = lib/codemirror addon/dialog/dialog addon/hint/show-hint
$(B)/www/library/codemirror.js: $(if $(CODEMIRROR),$(EDITOR_JS:%=$(CODEMIRROR)/%.js))
$(B)/www/library/codemirror.css: $(if $(CODEMIRROR),$(EDITOR_CSS:%=$(CODEMIRROR)/%.css))
$(B)/www/library/codemirror.js $(B)/www/library/codemirror.css: # empty without the library
	mkdir -p $(@D) && cat /dev/null $^ >$@
$(B)/www/library/names.js: viewer/server/names.awk $(HEADERS)
	mkdir -p $(@D) && awk -f $^ >$@.new && mv $@.new $@
$(B)/www/main.js: viewer/server/bundle.awk $(MODULES) $(B)/www/library/names.js
	awk -v roots='www $(B)/www' -f $< main.js >$@.new && mv $@.new $@
$(B)/viewer/server/assets.S: viewer/server/assets.sh $(PAGE)
	mkdir -p $(@D)
	viewer/server/assets.sh $(PAGE) > $@.new && mv $@.new $@ && echo '$(PAGE) $(MODULES) $(CODEMIRROR)' >$(B)/viewer/server/page.list
$(B)/viewer/server/assets.o: $(B)/viewer/server/assets.S
	echo '  as   www' && $(CC) -c $< -o $@

# The names alone that checks call: any other could take the place of a library's.
$(B)/grader.list: $(CALLED_BY_CHECKS) Makefile
	{ echo '{ fy_session_linked;'; nm -g --defined-only $(CALLED_BY_CHECKS) | sed -n 's/.* [TDR] \([a-z][a-z_0-9]*\)$$/\1;/p'; echo '};'; } >$@.new && mv $@.new $@
$(B)/ferry: $(COMMAND) $(CHECKS) $(B)/grader.list $(B)/libferry-view.a $(B)/libferry.a
	echo '  ld   $@'
	$(CC) $(SAN) $(COMMAND) $(CHECKS) -Wl,--dynamic-list=$(B)/grader.list $(LINK_VIEW) -lcmark -o $@
$(B)/viewer/lessons/new_lesson.o: $(wildcard viewer/lessons/template/*)

# The examples of all lessons are one program, linked once, which runs the one that it is called by: build/lessons/ID is
# a link to it. It carries their sources, their inputs and the viewer. So are the solutions.
PARTS_OF = $(patsubst lessons/%/$1.c,$(B)/programs/$1/%.o,$(wildcard lessons/*/$1.c))
MAIN_NAME = lesson_main_$(firstword $(subst -, ,$1))
FACT = $(shell sed -n 's/^ *"$2": *"\(.*\)",*$$/\1/p' lessons/$1/lesson.json)
define MAKE_PART
mkdir -p $(@D) && echo '  cc   $<'
$(CC) $(CFLAGS) $(INSIDE) -c $< -o $@
objcopy --redefine-sym main=$(call MAIN_NAME,$*) $@
endef
$(B)/programs/demo/%.o: lessons/%/demo.c
	$(MAKE_PART)
$(B)/programs/solution/%.o: private CFLAGS += -Wno-unused-variable # as for a learner: a result may be there only to be watched
$(B)/programs/solution/%.o: lessons/%/solution.c
	$(MAKE_PART)
LESSON_IDS = $(patsubst lessons/%/demo.c,%,$(wildcard lessons/*/demo.c))
LESSON_ROW = LESSON($(call MAIN_NAME,$1), "$1", "lessons/$1/$*.c", "$(call FACT,$1,given)", "$(call FACT,$1,card)")
$(B)/programs/%/table.h: $(wildcard lessons/*/lesson.json) Makefile
	mkdir -p $(@D)
	printf '%s\n' $(foreach id,$(LESSON_IDS),'$(call LESSON_ROW,$(id))') >$@
$(B)/programs/demos: $(call PARTS_OF,demo) $(B)/programs/demo/table.h
$(B)/programs/solutions: $(call PARTS_OF,solution) $(B)/programs/solution/table.h
$(B)/programs/demos $(B)/programs/solutions: $(B)/programs/%s: viewer/lessons/lesson_program.c $(B)/libferry.a $(B)/libferry-view.a
	echo '  ld   $@'
	$(CC) $(CFLAGS) -I$(B)/programs/$* $(INSIDE) $< $(filter %.o,$^) $(LINK_VIEW) -o $@
$(DEMOS): $(B)/lessons/%: $(B)/programs/demos
	mkdir -p $(@D) && ln -sf ../programs/demos $@
$(SOLVED): $(B)/solutions/%: $(B)/programs/solutions
	mkdir -p $(@D) && ln -sf ../programs/solutions $@

# Experiments, linked as a user links a program.
$(B)/experiments/%: lessons/experiments/%.c $(B)/libferry.a $(B)/libferry-view.a
	mkdir -p $(@D) && echo '  cc   $<'
	$(CC) $(CFLAGS) -Ilib $< $(LINK_VIEW) -o $@

# Random programs, a program of its own: fuzz_test runs it.
FUZZER = $(patsubst %.c,$(B)/%.o,$(wildcard tests/fuzzer/*.c))
$(B)/tests/fuzz_test: $(B)/tests/fuzz
$(B)/tests/fuzz: $(FUZZER) $(B)/libferry.a
	echo '  ld   $@'
	rm -f $@.d # of an older build, where one file made it
	$(CC) $(SAN) $(FUZZER) -L$(B) $(BESIDE) -lferry $(CORE_LIBS) -o $@
# libFuzzer's targets: the library alone, built for it.
FUZZ = B=$(B)/fuzz CC=clang CXX=clang++ OPT='-O1 -g' NVCC= SAN='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize=function -fno-sanitize-recover=undefined'
$(B)/files/%: tests/%.c $(B)/libferry.a
	mkdir -p $(@D) && echo '  cc   $<'
	$(CC) $(CFLAGS) -MF $@.d -fsanitize=fuzzer $(INSIDE) $< -L$(B) -lferry $(CORE_LIBS) -o $@
# What tests share: an archive, of which each takes what it calls.
SUPPORT = $(patsubst %.c,$(B)/%.o,$(wildcard tests/support/*.c tests/fake_cuda/*.c))
$(SUPPORT): private CFLAGS += -D_GNU_SOURCE $(VIEWER) -Itests
# lib/devices/cuda.c against a fake of the CUDA runtime, where there is a toolkit and where there is none.
$(B)/tests/support/cuda_on_fake.o $(patsubst %,$(B)/tests/%_test,cuda_fake cuda_stream finished lazy_card): private CFLAGS += -Itests/fake_cuda
$(B)/tests/support.a: $(SUPPORT)
# What `ferry` is made of, likewise: a program with all of it would be 30 MB under ASan.
$(B)/tests/command.a: $(filter-out $(B)/viewer/command/ferry.o,$(COMMAND)) $(CHECKS)
# With sanitizers a test's own code is as soon run as optimized; what it tests is optimized.
$(B)/tests/%: tests/%.c $(B)/tests/support.a $(B)/tests/command.a $(B)/ferry $(B)/libferry-view.a $(B)/libferry.a
	mkdir -p $(@D) && echo '  cc   $<'
	$(CC) $(CFLAGS) $(if $(SAN),-O0) $(INSIDE) $(VIEWER) -Itests -Itests/support $< $(B)/tests/support.a $(B)/tests/command.a $(LINK_VIEW) -lcmark -lcmocka -o $@
# Memory that runs out: these fail when the test says so.
SCARCE = malloc calloc realloc reallocarray aligned_alloc strdup strndup asprintf realpath getcwd opendir fopen open_memstream
$(B)/tests/scarce_test: private LINK_VIEW += $(addprefix -Wl$(comma)--wrap=,$(SCARCE))
# Counts who opens and reads a log, and how.
$(B)/tests/one_reading_test: private LINK_VIEW += $(addprefix -Wl$(comma)--wrap=,fy_log_open fy_log_read fy_event_next)
# Runs programs that PyTorch ran, and compares.
ORACLE = $(patsubst %,$(B)/tests/%.o,oracle oracle_case oracle_ops oracle_training oracle_compare)
$(B)/tests/oracle.o: private CFLAGS += -DORACLE_REFUSED='"$(CURDIR)/tests/oracle/refused.txt"'
$(B)/tests/oracle: $(ORACLE) $(B)/libferry.a
	echo '  ld   $@'
	$(CC) $(SAN) $(ORACLE) -L$(B) $(BESIDE) -lferry -lcjson $(CORE_LIBS) -o $@
# Three programs that run every kernel under the race checker; its kernels come before the library's own.
WATCHED = $(patsubst kernels/%.cu,$(B)/racecheck/%.o,$(wildcard kernels/*.cu))
WATCHING = $(addprefix $(B)/racecheck/,oracle ops rest)
$(B)/racecheck/oracle: $(ORACLE)
$(B)/racecheck/ops: tests/gpu/ops.c
$(B)/racecheck/rest: tests/racecheck.c
$(WATCHING): $(WATCHED) $(B)/libferry.a
	echo '  ld   $@'
	$(CC) $(CFLAGS) $(INSIDE) $(filter %.c %.o,$^) -L$(B) -lferry -lcjson $(CORE_LIBS) -o $@
kernel-races: $(WATCHING) ## run every kernel under a race checker; no card is needed
	tests/kernel_races $(WATCHING)
# Runs scenarios for the caching allocator, without a card.
$(B)/tests/allocator: $(B)/tests/allocator.o $(B)/libferry.a
	echo '  ld   $@'
	$(CC) $(SAN) $< -L$(B) -lferry -lcjson $(CORE_LIBS) -o $@
$(B)/bench/%: tests/bench/%.c $(B)/tests/bench/bench.o $(B)/libferry.a
	mkdir -p $(@D) && echo '  cc   $<'
	$(CC) $(CFLAGS) $(INSIDE) $< $(B)/tests/bench/bench.o -L$(B) -lferry $(CORE_LIBS) -o $@

# What goes to a machine with a card (tests/gpu/README.md): one program of many names, its library with code for many
# cards, and what they need.
CASES = $(patsubst lessons/%.c,%,$(wildcard lessons/*/solution.c lessons/0[1-3]-*/wrong_*.c)) ops streams speed
MAIN_OF = case_$(subst -,_,$(subst /,_,$1))
CASE_OBJECTS = $(patsubst %,$(B)/cases/%.o,$(CASES) oracle) $(filter-out %/oracle.o,$(ORACLE))
CARRIED ?= $(if $(NVCC),$(addprefix $(B)/every/,libferry-cuda.so measure))
MAKE_CASE = mkdir -p $(@D) && echo '  cc   $<' && \
  $(CC) $(CFLAGS) $(INSIDE) -c $< -o $@ && objcopy --redefine-sym main=$(call MAIN_OF,$*) $@
$(B)/cases/%.o: private CFLAGS += -Wno-unused-variable
$(B)/cases/%.o: lessons/%.c
	$(MAKE_CASE)
$(B)/cases/%.o: tests/gpu/%.c
	$(MAKE_CASE)
$(B)/cases/oracle.o: $(B)/tests/oracle.o
	mkdir -p $(@D) && objcopy --redefine-sym main=case_oracle $< $@
$(B)/cases/check: tests/gpu/check.c $(CASE_OBJECTS) $(B)/libferry.a tests/standin/program.list
	echo '  cc   $<'
	$(CC) $(CFLAGS) -DCASES='$(foreach c,$(CASES),CASE("$c", $(call MAIN_OF,$c)))' $(INSIDE) $< $(CASE_OBJECTS) \
	  -s -L$(B) -Wl,-rpath,'$$ORIGIN/../lib' -Wl,--dynamic-list=tests/standin/program.list -lferry -lcjson $(CORE_LIBS) -o $@
$(B)/every/measure: $(B)/every/measure_kernels.nv.o $(B)/every/measure.o
$(B)/every/measure_kernels.nv.o: tests/gpu/measure_kernels.cu
	mkdir -p $(@D) && echo '  nvcc $< (for every card)'
	$(NV) $(EVERY_CARD) -MMD -MP -c $< -o $@
$(B)/every/measure.o: tests/gpu/measure.c
	mkdir -p $(@D) && echo '  cc   $<'
	$(CC) $(CFLAGS) $(CUDA_INCLUDE) -c $< -o $@
$(B)/every/measure:
	echo '  ld   $@'
	$(CC) -s $^ $(CUDA_LIBS) -lm -lpthread -o $@

# The same without a card: the real card's back end on a runtime that needs none (tests/standin). Its kernels are those
# of the program that loads it; those in fused/ are its own, with multiply-adds fused as nvcc does.
STANDIN = $(patsubst %,$(B)/standin/%.o,cuda cuda_entry standin kernels)
FUSED = $(patsubst kernels/%,$(B)/standin/fused/%.o,$(wildcard kernels/*.cu kernels/*.cc)) $(B)/standin/thread_pool.o
ON_STANDIN = $(CFLAGS) -fPIC -fvisibility=hidden -DFERRY_INSIDE $(INSIDE) -Itests/standin -Itests/fake_cuda -Itests/gpu
$(B)/standin/%.o: lib/devices/%.c
	mkdir -p $(@D) && echo '  cc   $< (for the stand-in)'
	$(CC) $(ON_STANDIN) -include fake_cuda.h -c $< -o $@
$(B)/standin/%.o: lib/base/%.c
	mkdir -p $(@D) && echo '  cc   $< (for the stand-in)'
	$(CC) $(ON_STANDIN) -c $< -o $@
$(B)/standin/%.o: tests/standin/%.c
	mkdir -p $(@D) && echo '  cc   $<'
	$(CC) $(ON_STANDIN) -c $< -o $@
$(B)/standin/%.o: tests/gpu/%.c
	mkdir -p $(@D) && echo '  cc   $< (for the stand-in)'
	$(CC) $(ON_STANDIN) -include fake_cuda.h -c $< -o $@
$(B)/standin/fused/%.o: kernels/%
	mkdir -p $(@D) && echo '  c++  $< (multiply-adds fused)'
	$(CXX) $(CXXFLAGS) -O1 -g0 -DFERRY_INSIDE -U_FORTIFY_SOURCE -fPIC -fvisibility=hidden -fno-math-errno -mfma -ffp-contract=fast $(INSIDE) -x c++ -c $< -o $@
$(B)/standin/libferry-cuda.so: $(STANDIN)
$(B)/standin/fused/libferry-cuda.so: $(STANDIN) $(FUSED)
$(B)/standin/libferry-cuda.so $(B)/standin/fused/libferry-cuda.so:
	echo '  ld   $@'
	$(CC) -shared $^ -lm -lpthread -o $@
gpu-rehearsal: $(B)/cases/check $(B)/standin/libferry-cuda.so $(B)/standin/measure ## rehearse what that folder does, without a card
	tests/gpu/pack $(B)/rehearsal $^
	SPEED_SIZE=12 MEASURE_SIZE=24 $(B)/rehearsal/run
$(B)/standin/measure: $(patsubst %,$(B)/standin/%.o,measure measure_kernels standin)
	echo '  ld   $@'
	$(CC) $^ -lpthread -ldl -o $@
real-compiles: $(if $(NVCC),$(patsubst kernels/%.cu,$(B)/compiled/%.ptx,$(wildcard kernels/*.cu)) $(patsubst %,$(B)/cuda/%,$(filter-out %.nv.o,$(REAL_PARTS))))
gpu-check: $(B)/cases/check $(CARRIED) ## build a folder that compares a real card with the simulated one, and measures it
	tests/gpu/pack $(B)/gpu $^

tests: all $(TESTS) $(B)/tests/oracle $(B)/tests/allocator $(SOLVED) $(SHOWN) # what tests/run runs

# The real card's kernels take longer than all the rest: here they are built where a card may answer, else by `all`.
run: ## install what is missing, build, and open the lessons in the browser
	.ci/deps run
	$(MAKE) all $(if $(DRIVER),,NVCC=)
	$(B)/ferry serve
experiments: all $(SHOWN) ## build lessons/experiments: programs to run and to watch
lesson: all ## run one lesson on the terminal: make lesson LESSON=02-to-returns
	$(B)/lessons/$(LESSON)
# Where no card can answer, a test only compiles its kernels (gpu_check_test).
TESTED_REAL = $(if $(DRIVER),$(REAL))
test-prepare: # installs and builds what `make test` runs
	.ci/deps test
	$(MAKE) tests TESTS='$(PLAIN)' REAL=$(TESTED_REAL)
	$(MAKE) $(ASAN) tests
test: test-prepare ## run all tests, the C tests under ASan and UBSan; about 10 minutes on two cores
	REAL=$(TESTED_REAL) tests/run plain:$(B) sh:$(B) page:$(B) c:$(B)/asan
test-long: ## the same, also with clang, TSan and valgrind, in fresh Debian roots, and the sabotages
	.ci/deps long
	$(MAKE) tests
	$(MAKE) $(ASAN) tests
	$(MAKE) $(CLANG) tests
	$(MAKE) $(TSAN) tests
	$(MAKE) fuzz-files
	$(MAKE) gpu-check # compiling for every card takes longer than a suite may
	LONG=1 tests/run c:$(B) sh:$(B) page:$(B) c:$(B)/asan c:$(B)/clang c:$(B)/tsan valgrind:$(B) roots:$(B) sabotage:$(B)
asan: ## build and run the C tests under ASan and UBSan
	$(MAKE) $(ASAN) tests
	tests/run c:$(B)/asan
clang: ## build with clang, warnings being errors, and run the C tests
	$(MAKE) $(CLANG) tests
	tests/run c:$(B)/clang
tsan: ## build and run the C tests under TSan
	$(MAKE) $(TSAN) tests
	tests/run c:$(B)/tsan
fuzz-files: ## fuzz the readers of NumPy files and device strings with libFuzzer; RUNS=100000 for more
	$(MAKE) $(FUZZ) $(B)/fuzz/files/fuzz_npy $(B)/fuzz/files/fuzz_device
	$(B)/fuzz/files/fuzz_npy -runs=$(RUNS) -seed=1 -max_len=600 -dict=tests/fuzz_npy.dict -verbosity=0
	$(B)/fuzz/files/fuzz_device -runs=$(RUNS) -seed=1 -max_len=24 -only_ascii=1 -verbosity=0
fuzz-selftest: tests ## check that fuzzing finds five planted bugs
	tests/sabotage/run $(B) $(basename $(notdir $(wildcard tests/sabotage/fuzz-*.sab)))
valgrind: tests ## run the C tests that tests/valgrind.txt names under valgrind
	tests/run valgrind:$(B)
prove-lessons: ## prove every lesson: starter, solution, wrong answers, texts; LESSON=ID: one of them
	.ci/deps test
	$(MAKE) all $(patsubst %,$(B)/tests/%_test,lessons lesson_examples lesson_words)
	LONG=1 tests/run c:$(B):lessons_test c:$(B):lesson_examples_test c:$(B):lesson_words_test
sabotage: ## break Ferry by one changed line, in many ways; a test must notice each
	.ci/deps test
	$(MAKE) tests
	tests/run sabotage:$(B)
bench: all $(BENCHES) ## measure costs and speed, each beside a reference measured in the same run
	tests/bench/run $(B)
bench-peers: all $(BENCHES) ## the same, also beside PyTorch; installs Debian's libtorch-dev and LTTng
	.ci/deps peers
	PEERS=1 tests/bench/run $(B)
bench-page: all ## the page in Chromium: a long run, its frames, a live stream, an endless loop
	.ci/deps test
	B=$(B) node tests/bench/page.mjs
docs: $(B)/tests/format_test ## write the table of events in lib/README.md anew
	FERRY_DOCS=1 $(B)/tests/format_test >/dev/null
golden: tests ## regenerate the golden logs, after an intended change
	B=$(B) tests/golden_test.sh remake
deps: ## install what tests need
	.ci/deps long
# Tables that read better as they were laid out by hand.
UNFORMATTED = $(wildcard lib/ferry*.h) lib/trace/schema.h lib/trace/event.h lib/trace/format.c lib/trace/log_format.h lib/session/narrate.c \
  lib/base/op.h lib/cpu/cpu_elementwise.c tests/format_test.c tests/op_table_test.c
FORMATTED = $(filter-out $(UNFORMATTED) build/% kernels/% tests/mistakes/%,$(wildcard */*.[ch] */*/*.[ch]))
fmt: ## format the C files
	clang-format -i $(FORMATTED)
fmt-check:
	clang-format --dry-run --Werror $(FORMATTED)
TO = $(DESTDIR)$(PREFIX)
install: all ## install to PREFIX (default /usr/local), under DESTDIR if given
	install -d $(TO)/bin $(TO)/lib/pkgconfig $(TO)/include/ferry-grade $(TO)/libexec/ferry $(TO)/share/ferry
	install -m 755 $(B)/ferry $(TO)/bin
	install -m 755 $(B)/programs/demos $(TO)/libexec/ferry
	for id in $(LESSON_IDS); do ln -sf demos $(TO)/libexec/ferry/$$id; done
	install -m 644 $(B)/libferry.a $(B)/libferry-view.a $(REAL) $(TO)/lib
	install -m 644 $(HEADERS) $(TO)/include
	install -m 644 $(GRADER) $(TO)/include/ferry-grade
	cp -r lessons $(TO)/share/ferry
	install -d $(TO)/share/doc/ferry
	install -m 644 LICENSE README.md CHANGELOG.md $(TO)/share/doc/ferry
	for pc in ferry ferry-core; do $(MAKE_PC) lib/$$pc.pc.in >$(TO)/lib/pkgconfig/$$pc.pc || exit 1; done
gradescope: ## build an autograder for Gradescope, build/gradescope.zip: make gradescope LESSONS="01 02 03" [SECRET=FILE]
	rm -rf $(B)/gradescope
	$(MAKE) install PREFIX=/ferry DESTDIR=$(B)/gradescope REAL=
	lessons/class/gradescope/pack $(B)/gradescope $(B)/gradescope.zip "$(LESSONS)" $(if $(SECRET),"$(SECRET)")
uninstall: ## remove what make install installed
	rm -rf $(TO)/libexec/ferry $(TO)/share/ferry $(TO)/share/doc/ferry $(TO)/include/ferry-grade
	rm -f $(TO)/bin/ferry $(addprefix $(TO)/lib/,libferry.a libferry-view.a libferry-cuda.so) $(TO)/lib/pkgconfig/ferry.pc \
	  $(TO)/lib/pkgconfig/ferry-core.pc $(patsubst lib/%,$(TO)/include/%,$(HEADERS))
for-racecheck: # how kernels are compiled for it
	echo $(FOR_RACECHECK)
core-libs: # what a program links beside libferry.a
	echo $(CORE_LIBS) -Wl,-rpath,$(abspath $(B))
clean: ## delete the build folder
	rm -rf $(B)
help: ## print this list
	sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

.PHONY: all tests prove-lessons run experiments lesson test-prepare test test-long asan clang tsan valgrind sabotage fuzz-files fuzz-selftest bench bench-page bench-peers golden docs deps \
  fmt install gradescope uninstall for-racecheck core-libs clean help fmt-check gpu-check gpu-rehearsal kernel-races real-compiles
.PRECIOUS: $(B)/%.o $(B)/%.S # kept, though a rule makes them on the way; .SECONDARY would hide that a header is gone
# What an older build depended on may have moved since: it is then out of date, and not an error (-MP says so of headers).
viewer/%.c tests/%.c: ;
$(B)/tests/%.d $(B)/bench/%.d $(B)/files/%.d: ; # made by no rule: that for programs would take them for such
-include $(shell find $(B) -name '*.d' 2>/dev/null)
