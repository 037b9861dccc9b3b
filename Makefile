# Ferry. `make run` shows the first lesson, `make test` tests everything, `make help` lists the rest.

CC  ?= gcc
CXX ?= g++
B   ?= build
OPT ?= -O2 -g
SAN ?=
PREFIX ?= /usr/local
NVCC ?= $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)

# ---- nothing below needs changing -------------------------------------------------------------

VERSION = 0.1.0
WARN    = -Wall -Wextra -Wshadow -Wconversion
CFLAGS += -std=gnu11 $(OPT) $(WARN) $(SAN) -MMD -MP -DFERRY_VERSION='"$(VERSION)"'
# Kernels are CUDA, read as C++ by g++ for the simulated card; no C++ runtime is linked.
CXXFLAGS += -std=gnu++17 $(OPT) -Wall -Wextra $(SAN) -MMD -MP -fno-exceptions -fno-rtti
CORE_LIBS = -lopenblas -lm -lpthread
VIEW_LIBS = -lcivetweb -lcjson

# libferry.a: tensors, events, devices and the kernels of the simulated card. No web in it.
LIB = $(patsubst %.c,$(B)/%.o,$(wildcard lib/*.c))
SIM = $(patsubst %,$(B)/%.o,$(wildcard kernels/*.cu kernels/*.cc))
ifneq ($(NVCC),)
CUDA_HOME = $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
REAL = $(patsubst kernels/%.cu,$(B)/cuda/%.o,$(wildcard kernels/*.cu))
CORE_LIBS += -L$(CUDA_HOME)/lib64 -lcudart_static -ldl -lrt
$(B)/lib/cuda.o: CFLAGS += -isystem $(CUDA_HOME)/include
else
$(B)/lib/cuda.o: CFLAGS += -DFERRY_NO_NVCC
endif

# libferry-view.a: the server and the page. `ferry`: that, the lesson runner and the grader.
VIEW_NAMES = server gate stream feed view assets browser trace validate
VIEW    = $(patsubst %,$(B)/viewer/%.o,$(VIEW_NAMES))
COMMAND = $(filter-out $(VIEW) $(B)/viewer/lesson_program.o,$(patsubst %.c,$(B)/%.o,$(wildcard viewer/*.c)))
CHECKS  = $(patsubst %.c,$(B)/%.o,$(wildcard lessons/*/check.c))
LESSONS = $(patsubst lessons/%/demo.c,$(B)/lessons/%,$(wildcard lessons/*/demo.c))
TESTS   = $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/*_test.c))

all: $(B)/libferry.a $(B)/libferry-view.a $(B)/ferry $(LESSONS)

$(B)/libferry.a: $(LIB) $(SIM) $(REAL)
$(B)/libferry-view.a: $(VIEW)
$(B)/%.a:
	rm -f $@ && ar rcs $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Ilib -c $< -o $@
$(B)/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -Ilib -x c++ -c $< -o $@
$(B)/%.cc.o: %.cc
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -U_FORTIFY_SOURCE -Ilib -c $< -o $@
$(B)/cuda/%.o: kernels/%.cu
	@mkdir -p $(@D)
	$(NVCC) -O2 -arch=sm_75 -Xcompiler -fno-exceptions,-fno-threadsafe-statics,-fno-rtti -Ilib -c $< -o $@
# The page, as bytes in the library: assets.S names the files of www/.
$(B)/viewer/assets.o: viewer/assets.S $(wildcard www/*)
	@mkdir -p $(@D)
	$(CC) -c $< -o $@

$(B)/ferry: $(COMMAND) $(CHECKS) $(B)/libferry-view.a $(B)/libferry.a
	$(CC) $(SAN) $(COMMAND) $(CHECKS) -L$(B) -lferry-view -lferry $(VIEW_LIBS) $(CORE_LIBS) -o $@

# A lesson executable carries its source, its inputs and the viewer.
$(B)/lessons/%: lessons/%/demo.c lessons/%/lesson.json viewer/lesson_program.c $(B)/libferry.a $(B)/libferry-view.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -DLESSON_SOURCE='"$<"' \
	  -DLESSON_GIVEN='"$(shell sed -n 's/^ *"given": *"\(.*\)",*$$/\1/p' lessons/$*/lesson.json)"' \
	  -Ilib $< viewer/lesson_program.c -L$(B) -Wl,-u,fy_viewer -lferry-view -lferry $(VIEW_LIBS) $(CORE_LIBS) -o $@

$(B)/tests/%: tests/%.c $(B)/ferry $(B)/libferry-view.a $(B)/libferry.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Ilib -Iviewer -Itests $< $(filter-out $(B)/viewer/ferry.o,$(COMMAND)) $(CHECKS) \
	  -L$(B) -lferry-view -lferry $(VIEW_LIBS) $(CORE_LIBS) -lcmocka -o $@

tests: $(TESTS)

clean:
	rm -rf build

.PHONY: all tests clean
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
